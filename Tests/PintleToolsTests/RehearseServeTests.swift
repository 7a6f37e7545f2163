import Glibc
import Pintle
import PintleTestPeers
import Testing

@testable import PintlePolicyFile
@testable import PintleTestKit

/// Servers for clients that the user starts. They run in a separate process.
@Suite(
    "Rehearsal: servers for a device",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct RehearseServeTests {
    /// A running `pintle rehearse --serve`.
    private final class ServeProcess {
        let directory: TemporaryDirectory
        let child: ChildProcess
        /// The URLs by the id of the attack, and that of the page.
        private(set) var addresses: [String: String] = [:]

        init(_ options: [String] = []) throws {
            directory = try TemporaryDirectory()
            let tool = try #require(SpawnedTool.path)
            child = try ChildProcess(
                [
                    tool, "rehearse", "--serve", "--junit", directory.path(of: "r.xml"), "--html",
                    directory.path(of: "r.html"), "--sarif", directory.path(of: "r.sarif"),
                ] + options, outputFile: directory.path(of: "log"))
            #expect(wait { log.contains("\n\n  control ") && log.hasSuffix("/\n\n") }, "\(log)")
            for line in log.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let id = words.first, let url = words.first(where: { $0.hasPrefix("http") }) else { continue }
                addresses[String(id)] = String(url)
            }
        }

        var log: String { (try? directory.read("log")).map { String(decoding: $0, as: UTF8.self) } ?? "" }

        /// Waits up to a minute, because the machine may be busy.
        func wait(_ condition: () -> Bool) -> Bool {
            for _ in 0..<6_000 {
                if condition() { return true }
                usleep(10_000)
            }
            return false
        }

        func curl(_ options: [String], _ id: String) throws -> ProcessResult {
            try runProcess(["curl", "-sS", "-m", "20"] + options + [try #require(addresses[id])], timeout: 40)
        }

        /// Ends the process like Ctrl-C. It sends SIGTERM, because background jobs of a shell ignore SIGINT.
        func end() -> Int32? {
            kill(child.processIdentifier, SIGTERM)
            #expect(wait { child.status != nil })
            return child.status
        }
    }

    private func pins(_ served: ServeProcess) throws -> String {
        let pins = served.log.split(separator: "\n").filter { $0.hasPrefix("  pin ") || $0.hasPrefix("  backup ") }
        return pins.compactMap {
            $0.split(separator: " ").last?.replacing("sha256/", with: "sha256//", maxReplacements: 1)
        }
        .joined(separator: ";")
    }

    @Test("The line of a connection says refused only for an alert about the certificate")
    func otherAlert() throws {
        let served = try ServeProcess()
        // The client cancels the handshake with alert 90, or refuses the certificate with alert 42.
        let client = """
            import re, socket, ssl, sys
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
            stream = socket.create_connection(("127.0.0.1", int(re.search(r":(\\d+)/", sys.argv[1])[1])))
            try: tls.do_handshake()
            except ssl.SSLWantReadError: stream.sendall(outgoing.read())
            stream.recv(65536)
            stream.sendall(bytes([21, 3, 3, 0, 2, 2, int(sys.argv[2])]))
            while stream.recv(4096): pass
            """
        for alert in ["90", "42"] {
            _ = try runProcess(
                ["python3", "-c", client, try #require(served.addresses["expired"]), alert], timeout: 40)
        }
        #expect(
            served.wait {
                served.log.contains("\n  expired                       no handshake: alert user_canceled (90)\n")
                    && served.log.contains("\n  expired                       refused: alert bad_certificate (42)\n")
            }, "\(served.log)")
        #expect(served.end() == 2)
    }

    @Test("A client without pins appears when it connects, and in the report at the end")
    func withoutPins() throws {
        let served = try ServeProcess()
        #expect(served.addresses.count >= 34)
        #expect(served.addresses["control"]?.hasPrefix("https://localhost:") == true)
        #expect(served.addresses[RehearseTests.asking] == nil)
        let page = try served.curl([], "page").output
        #expect(page.contains("<a href=\"\(try #require(served.addresses["expired"]))\""))
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        #expect(try served.curl(["--cacert", ca], "control").output == "ok\n")
        #expect(try served.curl(["--cacert", ca], "expired").status == 60)
        #expect(try served.curl(["--cacert", ca], "trusted-interceptor").status == 0)
        #expect(try served.curl(["--cacert", ca, "-L"], "redirect-to-http").status == 0)
        #expect(
            served.wait {
                served.log.contains("\n  expired                       refused: alert certificate_expired (45)\n")
                    && served.log.contains("\n  trusted-interceptor           handshake finished, ")
                    && served.log.contains("\n  redirect-to-http              in the clear, ")
            }, "\(served.log)")
        #expect(try served.curl([], "page").output.contains("<td class=\"bad\">LET THROUGH</td>"))
        #expect(served.end() == 1)
        #expect(served.log.contains("3 attacks in ") && served.log.contains(": 1 as they must be, 2 LET THROUGH, "))
        #expect(served.log.contains("next: ") && served.log.contains("judged 3 of all "))
        #expect(served.log.contains("\n  not run: untrusted-ca, "))
        let junit = String(decoding: try served.directory.read("r.xml"), as: UTF8.self)
        #expect(junit.contains("failures=\"2\" errors=\"0\""))
        #expect(String(decoding: try served.directory.read("r.html"), as: UTF8.self).contains("2 LET THROUGH"))
        let sarif = try JSONDocument(try served.directory.read("r.sarif")).root
        let results = sarif["runs"]?.elements.map { Array($0) }?.first?["results"]?.elements.map { Array($0) } ?? []
        #expect(results.compactMap { $0["ruleId"]?.string } == ["trusted-interceptor", "redirect-to-http"])
    }

    @Test("The same client with pins sends requests only to the right servers")
    func pinned() throws {
        let served = try ServeProcess(["--only", "trusted-interceptor,renewed-same-key,rotated-to-backup-key"])
        #expect(served.addresses["expired"] == nil)
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        let options = ["--cacert", ca, "--pinnedpubkey", try pins(served)]
        for id in ["control", "renewed-same-key", "rotated-to-backup-key"] {
            #expect(try served.curl(options, id).output == "ok\n")
        }
        // curl sends no alert about pins, so a second connection decides.
        for count in 1...2 {
            #expect(try served.curl(options, "trusted-interceptor").status == 90)
            let line = "\n  trusted-interceptor           handshake finished, 0 request"
            #expect(served.wait { served.log.split(separator: line, omittingEmptySubsequences: false).count > count })
        }
        #expect(served.end() == 0, "\(served.log)")
        #expect(served.log.contains("3 attacks in ") && served.log.contains(": 3 as they must be, "))
    }

    @Test("A device that met one of several attacks is not fine: the page says so, and --strict fails")
    func unmet() throws {
        for options in [[], ["--strict"]] {
            let served = try ServeProcess(["--only", "expired,untrusted-ca"] + options)
            let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
            #expect(try served.curl(["--cacert", ca], "control").status == 0)
            #expect(try served.curl(["--cacert", ca], "expired").status == 60)
            #expect(served.wait { served.log.contains("\n  expired                       refused: alert ") })
            #expect(served.end() == (options.isEmpty ? 0 : 1), "\(served.log)")
            #expect(served.log.contains(": 1 as they must be, 1 not met, "), "\(served.log)")
            let page = String(decoding: try served.directory.read("r.html"), as: UTF8.self)
            #expect(page.contains("Judged 1 of all 2 attacks"))
        }
    }

    @Test("The page shows each address as text, the control first, and a label for each pin")
    func page() throws {
        let served = try ServeProcess(["--only", "expired"])
        let page = try served.curl([], "page").output
        let control = try #require(served.addresses["control"])
        let expired = try #require(served.addresses["expired"])
        let first = try #require(page.firstRange(of: ">\(control)<"))
        let second = try #require(page.firstRange(of: ">\(expired)<"))
        #expect(first.lowerBound < second.lowerBound)
        for label in ["pin", "backup", "other pin"] { #expect(page.contains(">\(label)<"), "\(page)") }
        #expect(served.end() == 2)
    }

    @Test("60 idle connections do not keep a client from the servers")
    func idleConnections() throws {
        let served = try ServeProcess(["--only", "expired"])
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        let control = try #require(served.addresses["control"])
        let port = try #require(control.split(separator: ":").last?.dropLast())
        let script = "for n in $(seq 60); do exec {fd}<>/dev/tcp/127.0.0.1/\(port); done; echo open; read line"
        let output = served.directory.path(of: "idle")
        let idle = try ChildProcess(["bash", "-c", "\(script)", "bash"], outputFile: output)
        #expect(served.wait { (try? served.directory.read("idle"))?.isEmpty == false || idle.status != nil })
        #expect(try served.curl(["--cacert", ca], "control").output == "ok\n")
        idle.terminate()
        #expect(try served.curl(["--cacert", ca], "expired").status == 60)
        #expect(served.end() == 0, "\(served.log)")
    }

    @Test("The servers offer HTTP/2 unless --http leaves it out", arguments: ["both", "1.1"])
    func versions(http: String) throws {
        let served = try ServeProcess(["--only", "expired,refused-stream-moves-request", "--http", http])
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        for id in ["control", "refused-stream-moves-request"] {
            #expect(try served.curl(["--cacert", ca], id).output == "ok\n")
        }
        #expect(try served.curl(["--cacert", ca], "expired").status == 60)
        let ends = served.wait { served.log.split(separator: "\n").count { $0.contains("handshake finished, ") } >= 2 }
        #expect(ends && served.wait { served.log.contains("  refused: alert certificate_expired") })
        #expect(served.log.contains("request bytes over HTTP/2\n") == (http == "both"))
        #expect(served.end() == (http == "both" ? 1 : 0))
        #expect(served.log.contains("not run: refused-stream-moves-request: this client speaks") == (http != "both"))
        #expect(served.log.contains("2 attacks in ") == (http == "both"), "\(served.log)")
    }

    @Test("Each request on a kept HTTP/2 connection appears while it is open, and counts once")
    func keptConnection() throws {
        let served = try ServeProcess(["--only", "trusted-interceptor"])
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        #expect(try served.curl(["--cacert", ca], "control").status == 0)
        let url = try #require(served.addresses["trusted-interceptor"])
        let port = try #require(UInt16(url.split(separator: ":").last?.dropLast() ?? ""))
        let steps = ["connect", "request", "glance", "request", "glance", "wait"]
        let client = try ChildProcess(SlowHTTP2Client.command(steps, port: port, anchors: ca))
        func count() -> Int {
            served.log.split(separator: "\n").count {
                $0.hasPrefix("  trusted-interceptor           handshake finished")
            }
        }
        #expect(served.wait { count() == 2 }, "\(served.log)")
        #expect(client.status == nil)
        #expect(try served.curl([], "page").output.contains("<td class=\"bad\">LET THROUGH</td>"))
        #expect(served.end() == 1)
        #expect(count() == 2 && served.log.contains("1 LET THROUGH"), "\(served.log)")
        client.terminate()
    }

    @Test("A run without a request to the right server proves nothing")
    func noRequest() throws {
        let served = try ServeProcess(["--only", "expired"])
        #expect(served.end() == 2)
        #expect(served.log.contains("proves nothing: no request came to the right server"))
    }

    @Test("A client that only connects, or finishes the handshake and sends nothing, has not refused a server")
    func undecided() throws {
        let served = try ServeProcess(["--only", "trusted-interceptor,expired,retry-after-401"])
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        #expect(try served.curl(["--cacert", ca], "control").status == 0)
        let script = """
            import re, socket, ssl, sys
            ca, *ports = [sys.argv[1]] + [int(re.search(r":(\\d+)/", url).group(1)) for url in sys.argv[2:]]
            context = ssl.create_default_context(cafile=ca)
            def connect(port):
                return context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
            socket.create_connection(("127.0.0.1", ports[0])).close()
            connect(ports[1]).close()
            # Both were shown the right certificate.
            streams = [connect(ports[2]), connect(ports[2])]
            for stream in streams:
                stream.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
                stream.recv(100)
            """
        let urls = try ["expired", "trusted-interceptor", "retry-after-401"].map {
            try #require(served.addresses[$0])
        }
        let run = try runProcess(["python3", "-c", script, ca] + urls)
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(
            served.wait { served.log.split(separator: "\n").count { $0.hasPrefix("  retry-after-401 ") } == 3 },
            "\(served.log)")
        #expect(served.end() == 1)
        #expect(served.log.contains("it ended before it was shown a certificate"), "\(served.log)")
        #expect(served.log.contains("it ended without an alert about the certificate"))
        #expect(served.log.contains(": 1 as they must be, 2 inconclusive"))
    }

    @Test("A server that only asks the client to end has no verdict while a client waits")
    func endings() throws {
        let served = try ServeProcess(["--group", "hold"])
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        #expect(try served.curl(["--cacert", ca], "control").status == 0)
        #expect(try served.curl(["--cacert", ca], "name-constraint-bomb").status == 60)
        #expect(try served.curl(["--cacert", ca, "--compressed"], "stacked-encodings").status == 61)
        #expect(served.wait { served.log.contains("\n  stacked-encodings             handshake finished, ") })
        #expect(served.end() == 0, "\(served.log)")
        #expect(
            served.log.contains("2 attacks in ") && served.log.contains(": 2 as they must be, 2 not met, "),
            "\(served.log)")

        let held = try ServeProcess(["--only", "stacked-encodings"])
        let roots = try held.directory.write(try held.curl([], "trust").stdout, to: "ca.pem")
        #expect(try held.curl(["--cacert", roots], "control").status == 0)
        let output = held.directory.path(of: "endless")
        let client = try ChildProcess(
            ["curl", "-sS", "-N", "-m", "120", "--cacert", roots, "-o", output]
                + [try #require(held.addresses["stacked-encodings"])])
        #expect(held.wait { ((try? held.directory.read("endless").count) ?? 0) > 0 })
        #expect(held.end() == 1, "\(held.log)")
        #expect(held.log.contains("a client was still waiting"), "\(held.log)")
        #expect(held.wait { client.status != nil })
    }

    @Test("A request in the clear to the right server does not take away the verdicts of the others")
    func clearControl() throws {
        let served = try ServeProcess(["--only", "trusted-interceptor"])
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        let control = try #require(served.addresses["control"])
        #expect(try served.curl(["--cacert", ca], "control").status == 0)
        _ = try runProcess(["curl", "-sS", "-m", "20", control.replacing("https://", with: "http://")], timeout: 40)
        #expect(try served.curl(["--cacert", ca], "trusted-interceptor").status == 0)
        #expect(served.wait { served.log.contains("trusted-interceptor           handshake finished, ") })
        #expect(served.end() == 1)
        #expect(served.log.contains("1 LET THROUGH"), "\(served.log)")
    }

    @Test("The certificates are for the address of --listen, and a warning says who can reach it")
    func otherAddress() throws {
        let served = try ServeProcess(["--listen", "127.0.0.2", "--only", "expired"])
        #expect(served.log.contains("warning: everyone who reaches 127.0.0.2 reaches these servers"))
        #expect(served.addresses["control"]?.hasPrefix("https://127.0.0.2:") == true)
        let ca = try served.directory.write(try served.curl([], "trust").stdout, to: "ca.pem")
        #expect(try served.curl(["--cacert", ca], "control").output == "ok\n")
        // The servers listen only on 127.0.0.2. Another server may listen on 127.0.0.1.
        let elsewhere = try served.curl(["--cacert", ca, "--connect-to", "::127.0.0.1:"], "control")
        #expect(elsewhere.status != 0)
        #expect(try served.curl(["--cacert", ca], "expired").status == 60)
        #expect(served.end() == 0)
    }

    @Test(
        "SIGTERM ends a rehearsal, its current client and the child processes of that client, also if it comes twice",
        arguments: [1, 2])
    func interrupted(times: Int) throws {
        let directory = try TemporaryDirectory()
        let file = directory.path(of: "pids")
        let child = try ChildProcess(
            [
                try #require(SpawnedTool.path), "rehearse", "--timeout", "600", "--", "sh", "-c",
                "sleep 600 & echo $! > \(file).new; mv \(file).new \(file); wait", "{url}",
            ], environment: ["TMPDIR": directory.path], outputFile: directory.path(of: "log"))
        var process: Int32?
        for _ in 0..<6_000 where process == nil {
            process = (try? directory.read("pids")).flatMap { Int32(String(decoding: $0, as: UTF8.self).dropLast()) }
            usleep(10_000)
        }
        for _ in 0..<times { kill(child.processIdentifier, SIGTERM) }
        for _ in 0..<6_000 where child.status == nil { usleep(10_000) }
        #expect(child.status == 2)
        #expect(!RunningProcess.runs(try #require(process)))
        let left = try runProcess(["ls", "-A", directory.path])
        #expect(Set(left.output.split(separator: "\n")) == ["log", "pids"])
    }

    @Test("SIGTERM prints the results that an unfinished attack held back")
    func heldBack() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path(of: "accepted")
        // The client does not end where curl fails: at the first attack.
        let script = "curl -sS -m 20 --cacert \"$1\" \"$2\" || exec sleep 600; echo x >> \(file)"
        let child = try ChildProcess(
            [
                try #require(SpawnedTool.path), "rehearse", "--timeout", "600", "--parallel", "2", "--only",
                "expired,trusted-interceptor,ten-year-leaf", "--", "sh", "-c", script, "sh", "{ca}", "{url}",
            ], outputFile: directory.path(of: "log"))
        // The last attack begins when the result of the one before is there.
        for _ in 0..<6_000 where ((try? directory.read("accepted").count) ?? 0) < 6 { usleep(10_000) }
        kill(child.processIdentifier, SIGTERM)
        for _ in 0..<6_000 where child.status == nil { usleep(10_000) }
        let log = String(decoding: try directory.read("log"), as: UTF8.self)
        #expect(log.contains("\n  trusted-interceptor           refused   LET THROUGH"), "\(log)")
        #expect(!log.contains("\n  expired ") && child.status == 2, "\(log)")
    }

    @Test("A rehearsal whose output has no reader any more ends its client and leaves no file")
    func lostReader() throws {
        let directory = try TemporaryDirectory()
        let tool = try #require(SpawnedTool.path)
        // The reader leaves after the two lines about the right server. The client of the later attack, on an expired
        // certificate, waits. Then the other one ends, so that the tool prints a line.
        let file = try directory.write(
            """
            curl -sS --cacert "$2" "$1" 2>"$3/error.$$" && exit
            if grep -q expired "$3/error.$$"; then echo $$ >"$3/new"; mv "$3/new" "$3/pid"; exec sleep 600; fi
            until [ -e "$3/pid" ] && [ -e "$3/gone" ]; do sleep 0.05; done
            exit 60
            """, to: "client")
        let script = """
            "$1" rehearse -v --parallel 2 --only untrusted-ca,expired --timeout 600 -- sh "$2" {url} {ca} "$3" |
                { head -n 2 >"$3/line"; exec <&-; touch "$3/gone"; }
            echo "${PIPESTATUS[0]}"
            """
        let run = try runProcess(
            ["bash", "-c", script, "bash", tool, file, directory.path], environment: ["TMPDIR": directory.path],
            timeout: 120)
        #expect(run.output == "141\n", "\(run.output) \(run.errorOutput)")
        let process = Int32(String(decoding: try directory.read("pid"), as: UTF8.self).dropLast())
        #expect(!RunningProcess.runs(try #require(process)))
        let left = try runProcess(["ls", "-A", directory.path]).output.split(separator: "\n")
        #expect(Set(left.filter { !$0.hasPrefix("error.") }) == ["client", "gone", "line", "pid"], "\(left)")
    }
}
