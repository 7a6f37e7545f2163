import Glibc
import Pintle
import PintleAttacks
import PintlePolicyFile
import PintleTestKit
import Testing

/// Clients that keep their own host names and come through the proxy of the rehearsal.
@Suite("Rehearsal: proxy")
struct RehearseProxyTests {
    private static let proxied = RehearseTests.rehearse + ["--json", "--proxy", "--host", "api.example.com"]

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Returns the results of the SARIF file.
    private func findings() throws -> [JSONValue] {
        let runs = try #require(try JSONDocument(try directory.read("r.sarif")).root["runs"]?.elements.map(Array.init))
        return try #require(runs.first?["results"]?.elements.map(Array.init))
    }

    /// Returns the results by host and id.
    private func results(_ run: ToolRun) throws -> [String: JSONValue] {
        var results: [String: JSONValue] = [:]
        for result in try #require(try run.json().elements) {
            let host = result["host"]?.string ?? ""
            results["\(host) \(try #require(result["id"]?.string))"] = result
        }
        return results
    }

    @Test("A client that does not pin lets the same attacks through as without a proxy, over each protocol")
    func validatingClient() throws {
        let socks = [
            "sh", "-c", "exec curl -sS -m 12 --cacert \"$1\" --socks5-hostname \"127.0.0.1:$2\" \"$3\"", "sh", "{ca}",
            "{proxy-port}", "{url}",
        ]
        for client in [
            RehearseTests.curl + ["{url}"], socks, RehearseTests.curl + ["-x", "{proxy}", "https://API.example.com/"],
        ] {
            let run = ToolRun(arguments: Self.proxied + RehearseTests.quickGroups + ["--"] + client)
            #expect(run.code == 1, "\(run.errors)")
            let outcomes = try RehearseTests.outcomes(run)
            #expect(
                RehearseTests.ids(outcomes, "let-through") == RehearseTests.interceptions.union(RehearseTests.moves))
            #expect(RehearseTests.ids(outcomes, "accepted") == RehearseTests.changes.union(["control"]))
            #expect(RehearseTests.ids(outcomes, "inconclusive").isEmpty)
        }
    }

    @Test("A client with both pins lets nothing through, and each result names its host and connection")
    func pinningClient() throws {
        let client = RehearseTests.curl + ["--pinnedpubkey", "{pins}", "-L", "--proto-redir", "=https", "{url}"]
        let run = ToolRun(arguments: Self.proxied + RehearseTests.quickGroups + ["--"] + client)
        #expect(run.code == 0, "\(run.output)")
        let results = try results(run)
        #expect(results["api.example.com expired"]?["outcome"]?.string == "blocked")
        #expect(results["api.example.com expired"]?["connection"]?.integer == 1)
        // The second connection went to the host of the redirect.
        #expect(results["api.example.com redirect-to-unpinned-host"]?["connection"]?.integer == 2)
        #expect(results["api.example.com redirect-to-unpinned-host"]?["outcome"]?.string == "blocked")
    }

    @Test("Through a proxy, an interceptor gets the certificate of a client that compares pins after the handshake")
    func identity() throws {
        let client = RehearseTests.curl + ["--cert", "{identity}", "--pinnedpubkey", "{pins}", "{url}"]
        let run = ToolRun(arguments: Self.proxied + ["--only", RehearseTests.asking, "--"] + client)
        #expect(run.code == 1, "\(run.errors)")
        let results = try results(run)
        #expect(results["api.example.com control"]?["clientCertificate"]?.boolean == true)
        let attack = results["api.example.com \(RehearseTests.asking)"]
        #expect(attack?["outcome"]?.string == "let-through" && attack?["requestBytes"]?.integer == 0)
        #expect(attack?["remark"]?.string == "it showed its certificate")
        let device = ToolRun(
            "rehearse", "--proxy", "--host", "api.example.com", "--serve", "--only", RehearseTests.asking)
        #expect(device.code == 2 && device.errors.contains("a device has no certificate of this rehearsal"))
    }

    @Test("A redirect to plain HTTP stays with the proxy, as a URL and as a tunnel to port 80")
    func plainRedirect() throws {
        for tunnels in [[], ["--proxytunnel"]] {
            let run = ToolRun(
                arguments: Self.proxied + ["--only", "redirect-to-http", "--"] + RehearseTests.curl + tunnels + [
                    "-L", "{url}",
                ])
            let result = try results(run)["api.example.com redirect-to-http"]
            #expect(result?["outcome"]?.string == "let-through")
            #expect(result?["remark"]?.string == "sent in the clear")
        }
    }

    @Test("Of two hosts each is attacked in turn, while the other has the right server")
    func twoHosts() throws {
        let script = """
            for host in api.example.com cdn.example.com:8443; do
                curl -sS -m 12 --cacert "$1" --pinnedpubkey "$2" "https://$host/" || code=$?
            done
            exit ${code:-0}
            """
        let run = ToolRun(
            arguments: Self.proxied + [
                "--host", "cdn.example.com:8443", "--only", "trusted-interceptor,renewed-same-key",
                "--", "sh", "-c", script, "sh", "{ca}", "{pins}",
            ])
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        let results = try results(run)
        for host in ["api.example.com", "cdn.example.com:8443"] {
            #expect(results["\(host) control"]?["outcome"]?.string == "accepted")
            #expect(results["\(host) trusted-interceptor"]?["outcome"]?.string == "blocked")
            #expect(results["\(host) renewed-same-key"]?["outcome"]?.string == "accepted")
        }
        // Every count is one of attacks on all hosts.
        let left = 2 * (try run.json().elements?.first { _ in true }?["notChosen"]?.count ?? 0)
        let (file, findings) = (directory.path(of: "r.xml"), directory.path(of: "r.sarif"))
        let text = ToolRun(
            arguments: Self.proxied.filter { $0 != "--json" } + [
                "--host", "cdn.example.com:8443", "--only", "trusted-interceptor,renewed-same-key", "--junit", file,
                "--sarif", findings, "--", "sh", "-c", script, "sh", "{ca}", "{pins}",
            ])
        #expect(left > 2 && text.output.contains("\n4 attacks in "), "\(text.output)")
        #expect(text.output.contains(": 4 as they must be, \(left) not chosen\n"), "\(text.output)")
        #expect(text.output.contains("without --only and --group for \(left) more attacks\n"), "\(text.output)")
        let xml = String(decoding: try directory.read("r.xml"), as: UTF8.self)
        #expect(xml.split(separator: "not chosen by --only or --group").count == left + 1)
        let sarif = String(decoding: try directory.read("r.sarif"), as: UTF8.self)
        #expect(sarif.contains("\(left) attacks not chosen by --only or --group"))
    }

    @Test("A named host that the client never asks for is not tested, which changes the exit code")
    func misspeltHost() throws {
        let client = RehearseTests.curl + ["--pinnedpubkey", "{pins}", "{url}"]
        let options = ["--host", "cdn.exmaple.com", "--only", "trusted-interceptor", "--"] + client
        let run = ToolRun(arguments: Self.proxied + options)
        #expect(run.code == 1)
        let results = try results(run)
        #expect(results["api.example.com trusted-interceptor"]?["outcome"]?.string == "blocked")
        #expect(results["cdn.exmaple.com control"]?["outcome"]?.string == "not-run")
        #expect(
            results["cdn.exmaple.com trusted-interceptor"]?["remark"]?.string == "the client did not ask for this host")
        let (file, page) = (directory.path(of: "r.xml"), directory.path(of: "r.sarif"))
        let text = ToolRun(
            arguments: Array(Self.proxied.filter { $0 != "--json" }) + ["--junit", file, "--sarif", page] + options)
        #expect(text.code == 1)
        #expect(text.output.contains("is cdn.exmaple.com spelt right? the client did not ask for it"))
        // A job that reads only the files must not pass.
        let xml = String(decoding: try directory.read("r.xml"), as: UTF8.self)
        #expect(xml.contains(" failures=\"0\" errors=\"1\" skipped="), "\(xml)")
        let findings = try self.findings()
        #expect(findings.map { $0["ruleId"]?.string } == ["unasked-host"])
        #expect(findings.first?["level"]?.string == "warning")
        #expect(findings.first?["properties"]?["host"]?.string == "cdn.exmaple.com")
    }

    @Test("A client that sends a named host plain HTTP is a finding, and the attacks on that host are not run")
    func plainHTTP() throws {
        func client(_ scheme: String) -> [String] {
            ["--only", "expired", "--"] + RehearseTests.curl + ["\(scheme)://api.example.com/"]
        }
        let run = ToolRun(arguments: Self.proxied + client("http"))
        #expect(run.code == 1, "\(run.errors)")
        let results = try results(run)
        let control = results["api.example.com control"]
        #expect(control?["outcome"]?.string == "let-through" && control?["isAsItMustBe"]?.boolean == false)
        #expect(control?["remark"]?.string == "sent in the clear" && (control?["requestBytes"]?.integer ?? 0) > 0)
        let attack = results["api.example.com expired"]
        #expect(attack?["outcome"]?.string == "not-run")
        #expect(attack?["remark"]?.string == "the client sends this host plain HTTP")
        let text = ToolRun(arguments: Self.proxied.filter { $0 != "--json" } + client("http"))
        #expect(text.code == 1)
        #expect(text.output.hasPrefix("control   LET THROUGH: sent in the clear, "), "\(text.output)")
        #expect(text.output.contains(": 0 as they must be, 1 host IN THE CLEAR, 38 not chosen\n"))
        let words = text.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("every attack on api.example.com: the client sends this host plain HTTP"))
        #expect(words.contains("next: 1. api.example.com gets plain HTTP, which anyone on the way can read and change"))
        // The same client over TLS.
        let twin = ToolRun(arguments: Self.proxied + client("https"))
        #expect(twin.code == 0)
        #expect(try self.results(twin)["api.example.com control"]?["outcome"]?.string == "accepted")
    }

    @Test("Of two hosts, the one that gets plain HTTP fails in JUnit and SARIF, and the other is attacked")
    func plainHTTPAndTLS() throws {
        let client =
            RehearseTests.curl + ["--pinnedpubkey", "{pins}", "https://api.example.com/", "http://cdn.example.com/"]
        let run = ToolRun(
            arguments: Self.proxied + [
                "--host", "cdn.example.com", "--only", "trusted-interceptor", "--junit", directory.path(of: "r.xml"),
                "--sarif", directory.path(of: "r.sarif"), "--",
            ] + client)
        #expect(run.code == 1)
        let results = try results(run)
        #expect(results["api.example.com trusted-interceptor"]?["outcome"]?.string == "blocked")
        #expect(results["cdn.example.com control"]?["outcome"]?.string == "let-through")
        #expect(results["cdn.example.com trusted-interceptor"]?["outcome"]?.string == "not-run")
        let xml = String(decoding: try directory.read("r.xml"), as: UTF8.self)
        #expect(xml.contains(" failures=\"1\" errors=\"0\" skipped="), "\(xml)")
        #expect(xml.contains("was LET THROUGH: sent in the clear; anyone on the way can read and change it"))
        let findings = try findings()
        #expect(findings.map { $0["ruleId"]?.string } == ["plain-http"] && findings[0]["level"]?.string == "error")
        #expect(findings.first?["properties"]?["host"]?.string == "cdn.example.com")
    }

    @Test(
        "A request without TLS to a named host was let through, whatever its port and scheme",
        arguments: [
            "http://api.example.com/?a=b", "http://api.example.com:8080/",
            "--request-target https://api.example.com/ http://api.example.com:81/",
        ])
    func clearRequest(_ fallback: String) throws {
        let script = "curl -sS -m 12 --cacert \"$1\" https://api.example.com/ || exec curl -sS -m 12 \(fallback)"
        let run = ToolRun(
            arguments: Self.proxied + ["--only", "expired", "--", "sh", "-c", script, "sh", "{ca}"])
        #expect(run.code == 1)
        let result = try results(run)["api.example.com expired"]
        #expect(result?["outcome"]?.string == "let-through")
        #expect(result?["remark"]?.string == "sent in the clear")
        #expect(!run.output.contains("not a named host"))
    }

    @Test(
        "The time limit of a reachable proxy ends with the request for a tunnel, so that it does not end a client that waits"
    )
    func patientClient() throws {
        let server = try LoopbackTCPServer.http(listeningAt: nil, timeLimit: nil) { _ in
            usleep(600_000)
            return HTTPResponse(status: 200, reason: "OK")
        }
        defer { server.close() }
        let proxy = try LoopbackProxy(
            .any, listeningAt: "127.0.0.1", timeLimit: 0.3, route: { [port = server.port] _, _ in .port(port) },
            refusal: nil)
        defer { proxy.close() }
        let tunnel = try runProcess([
            "curl", "-sS", "-m", "20", "--proxytunnel", "-x", "http://127.0.0.1:\(proxy.port)", "-w", "%{http_code}",
            "http://host.test/",
        ])
        #expect(tunnel.output == "200", "\(tunnel.errorOutput)")
        let idle = try runProcess(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$0; cat <&3", "\(proxy.port)"])
        #expect(!idle.timedOut)
    }

    @Test("The many names of an attack are not refused because of the constraints of the roots")
    func boundNames() throws {
        let client = RehearseTests.curl + ["-v", "{url}"]
        let run = ToolRun(
            arguments: Array(Self.proxied.filter { $0 != "--json" }) + ["-v", "--only", "name-constraint-bomb", "--"]
                + client)
        #expect(!run.output.contains("permitted subtree"), "\(run.output)")
        #expect(run.output.contains("name-constraint-bomb"))
    }

    @Test("A client that never asks the proxy for a named host proves nothing")
    func unusedProxy() throws {
        let ignoring = ToolRun(
            arguments: Self.proxied + ["--"] + RehearseTests.curl + ["--noproxy", "*", "https://localhost:1/"])
        #expect(ignoring.code == 2)
        #expect(try ignoring.json()["error"]?["code"]?.string == "proxy-not-used")
        #expect(ignoring.errors.contains("it did not use the proxy"))
        let elsewhere = ToolRun(arguments: Self.proxied + ["--"] + RehearseTests.curl + ["https://other.example/"])
        #expect(elsewhere.code == 2)
        #expect(elsewhere.errors.contains("it asked for other.example:443: name these with --host"))
    }

    @Test("A client that ignores the proxy in one run is inconclusive there, and not blocked")
    func sometimesUnusedProxy() throws {
        let script = """
            [ -e "$1" ] || { touch "$1" && exec curl -sS -m 12 --cacert "$2" https://api.example.com/; }
            exec curl -sS -m 12 --noproxy '*' https://localhost:1/
            """
        let run = ToolRun(
            arguments: Self.proxied + [
                "--only", "expired", "--", "sh", "-c", script, "sh", directory.path(of: "was-run"), "{ca}",
            ])
        #expect(run.code == 1)
        let result = try results(run)["api.example.com expired"]
        #expect(result?["outcome"]?.string == "inconclusive")
        #expect(result?["remark"]?.string == "it did not use the proxy")
    }

    @Test("Other hosts are answered 403 and listed, and change no exit code")
    func otherHosts() throws {
        let script = """
            curl -s -m 12 -o /dev/null -w '%{http_connect}' https://tracker.example/ >"$3"
            exec curl -sS -m 12 --cacert "$1" --pinnedpubkey "$2" https://api.example.com/
            """
        let client = ["sh", "-c", script, "sh", "{ca}", "{pins}", directory.path(of: "status")]
        let run = ToolRun(arguments: Self.proxied + ["--only", "expired,trusted-interceptor", "--"] + client)
        #expect(run.code == 0)
        #expect(try directory.read("status") == Array("403".utf8))
        let other = try results(run)["tracker.example:443 other-host"]
        #expect(other?["outcome"]?.string == "not-run")
        #expect(other?["remark"]?.string == "not a named host: 4 connections, answered 403")
        let text = ToolRun(
            arguments: Array(Self.proxied.filter { $0 != "--json" }) + ["--only", "expired", "--"] + client)
        #expect(text.output.contains("\n  not a named host: tracker.example:443, 2 connections, answered 403\n"))
        let words = text.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains("tracker.example:443 was asked for and not judged; --host tracker.example judges it"),
            "\(text.output)")
    }

    @Test(
        "A host that was asked for and not judged is a step, a note in SARIF and skipped in JUnit; a named host is not")
    func unjudgedHosts() throws {
        let script = """
            curl -s -m 12 https://tracker.example:8443/ 'https://[::1]/' http://plain.example/
            exec curl -sS -m 12 --cacert "$1" --pinnedpubkey "$2" https://api.example.com/
            """
        let run = ToolRun(
            arguments: Self.proxied.filter { $0 != "--json" } + [
                "--only", "expired", "--sarif", directory.path(of: "r.sarif"), "--junit", directory.path(of: "r.xml"),
                "--", "sh", "-c", script, "sh", "{ca}", "{pins}",
            ])
        #expect(run.code == 0, "\(run.output)")
        let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for step in [
            "tracker.example:8443 was asked for and not judged; --host tracker.example:8443 judges it",
            "[::1]:443 was asked for and not judged; --survey judges every host",
            "plain.example:80 was asked for and not judged; --host plain.example judges it",
        ] { #expect(words.contains(step), "\(run.output)") }
        #expect(!run.output.contains("next: nothing") && !words.contains("api.example.com was asked for"))
        let notes = try findings()
        #expect(notes.map { $0["level"]?.string } == ["note", "note", "note"])
        #expect(notes.first?["ruleId"]?.string == "other-host")
        #expect(
            notes.compactMap { $0["properties"]?["host"]?.string } == [
                "[::1]:443", "plain.example:80", "tracker.example:8443",
            ])
        let xml = String(decoding: try directory.read("r.xml"), as: UTF8.self)
        #expect(xml.contains(" failures=\"0\" errors=\"0\" skipped="), "\(xml)")
        #expect(xml.contains("<testcase classname=\"pintle.rehearse.tracker.example:8443\" name=\"other-host\""))
    }

    @Test(
        "The roots live 24 hours and are constrained to the named hosts, and no device has them if none can reach the proxy"
    )
    func roots() throws {
        let file = directory.path(of: "ca.pem")
        let run = ToolRun(
            arguments: Array(Self.proxied.filter { $0 != "--json" }) + [
                "--host", "192.0.2.7", "--only", "expired", "--", "sh", "-c",
                "cp \"$1\" \"$2\"; exec curl -sS -m 12 --cacert \"$1\" https://api.example.com/", "sh", "{ca}", file,
            ])
        // The client asks for one of the two.
        #expect(run.code == 1)
        let text = try runProcess([
            "openssl", "storeutl", "-noout", "-text", "-certs", file,
        ]).output
        #expect(text.split(separator: "X509v3 Name Constraints: critical").count == 3)
        #expect(text.contains("DNS:api.example.com") && text.contains("IP:192.0.2.7/255.255.255.255"))
        let later = try runProcess(["openssl", "x509", "-in", file, "-noout", "-checkend", "86400"])
        let sooner = try runProcess(["openssl", "x509", "-in", file, "-noout", "-checkend", "82800"])
        #expect(later.status == 1 && sooner.status == 0)
        #expect(!run.output.contains("every device"))
    }

    @Test("Options that do not fit together are refused before anything runs")
    func usage() {
        let client = ["--", "curl", "{url}"]
        for (options, message) in [
            (["--proxy"], "add --host NAME"),
            (["--proxy", "--host", "a.test", "--host", "a.test:8443"], "a.test twice"),
            (["--proxy", "--host", "[::1]"], "names and IPv4 addresses"), (["--proxy", "--host", "a b"], "a b"),
            (["--host", "a.test", "--host", "b.test"], "several --host go with --proxy"),
            (["--resolve-by", "hosts"], "--resolve-by goes with --host"),
            (["--host", "a.test", "--resolve-by", "dns"], "client or hosts"),
            (["--listen", "127.0.0.1"], "--listen goes with --serve or --proxy"),
            (["--proxy", "--host", "a.test", "--listen", "0.0.0.0:1"], "--listen takes one address"),
            (["--parallel", "0"], "1 to 64"), (["--parallel", "65"], "1 to 64"),
        ] {
            let run = ToolRun(arguments: ["rehearse"] + options + client)
            #expect(run.code == 2)
            #expect(run.errors.contains(message), "\(options): \(run.errors)")
        }
    }

    @Test("Another listen address is warned about, and the client finds the proxy there")
    func listenAddress() throws {
        let run = ToolRun(
            arguments: Self.proxied + ["--listen", "127.0.0.2", "--only", "expired", "--"] + RehearseTests.curl + [
                "{url}"
            ])
        #expect(run.code == 0)
        #expect(run.errors.contains("warning: everyone who reaches 127.0.0.2 reaches this proxy"))
    }
}
