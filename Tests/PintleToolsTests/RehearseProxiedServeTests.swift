import Glibc
import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleConsole
@testable import PintleText

/// A proxy for a device. It runs in a separate process.
@Suite(
    "Rehearsal: proxy for a device",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct RehearseProxiedServeTests {
    private final class ProxyProcess {
        let directory: TemporaryDirectory
        let child: ChildProcess

        init(_ options: [String], ignoringHangUps ignores: Bool = false) throws {
            directory = try TemporaryDirectory()
            child = try ChildProcess(
                ["env", ignores ? "--ignore-signal=HUP" : "--default-signal=HUP"]
                    + [try #require(SpawnedTool.path), "rehearse", "--proxy", "--serve"] + options,
                outputFile: directory.path(of: "log"))
            #expect(wait { log.contains(": the right server first, then ") && log.hasSuffix("\n\n") }, "\(log)")
        }

        var log: String { (try? directory.read("log")).map { String(decoding: $0, as: UTF8.self) } ?? "" }

        func wait(_ condition: () -> Bool) -> Bool {
            for _ in 0..<6_000 {
                if condition() { return true }
                usleep(10_000)
            }
            return false
        }

        /// Returns the second word of the line with this label.
        func value(_ label: String) -> String {
            let line = log.split(separator: "\n").first { $0.hasPrefix("  \(label) ") }
            return line?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        }

        func trust() throws -> String {
            try directory.write(
                try runProcess(["curl", "-sS", "-m", "20", value("trust")], timeout: 40).stdout, to: "ca.pem")
        }

        func curl(_ ca: String, _ url: String, _ options: String...) throws -> ProcessResult {
            try runProcess(
                ["curl", "-sS", "-m", "20", "-x", "http://" + value("proxy"), "--cacert", ca] + options + [url],
                timeout: 40)
        }

        func end() -> Int32? {
            kill(child.processIdentifier, SIGTERM)
            #expect(wait { child.status != nil })
            return child.status
        }
    }

    @Test("Each connection of a host meets the next attack after the right server, and the report names it")
    func sequence() throws {
        let served = try ProxyProcess([
            "--host", "api.example.com", "--host", "cdn.example.com", "--only",
            "expired,trusted-interceptor,retry-after-401",
        ])
        let ca = try served.trust()
        let url = "https://api.example.com/"
        #expect(try served.curl(ca, "https://tracker.example/").status == 56)
        // Until the right server has a request, it stays.
        #expect(try served.curl("/etc/hostname", url).status == 77)
        #expect(try served.curl(ca, url).output == "ok\n")
        #expect(served.wait { served.log.contains("control                       handshake finished, ") })
        // In the order of the catalogue: connections 3, 4 and 5 to 6.
        #expect(try served.curl(ca, url).status == 60)
        #expect(try served.curl(ca, url).output == "ok\n")
        for _ in 0..<2 { #expect(try served.curl(ca, url, "-w", "%{http_code}").output == "401") }
        // All attacks are over, so the app works again.
        #expect(try served.curl(ca, url).output == "ok\n")
        #expect(served.end() == 1)
        let log = served.log
        #expect(log.contains("trusted-interceptor           refused   LET THROUGH"), "\(log)")
        #expect(log.contains("connection 3") && log.contains("connection 4") && log.contains("connection 5"))
        #expect(log.contains("every attack on cdn.example.com"))
        #expect(log.contains("not a named host: tracker.example:443, 1 connection, answered 403"))
        #expect(log.contains("\nremove \"Rehearsal Root "))
    }

    @Test(
        "Over HTTP/2 the response before another attack comes with GOAWAY, and the last right server keeps the connection"
    )
    func http2() throws {
        let served = try ProxyProcess([
            "--host", "api.example.com", "--only", "trusted-interceptor,rotated-to-unknown-key",
        ])
        let ca = try served.trust()
        let proxy = try #require(served.value("proxy").split(separator: ":").last.flatMap { UInt16($0) })
        // The client ends none of its connections, as an app that keeps them in a pool.
        let visit = ["connect", "request", "read"]
        let client = SlowHTTP2Client.command(
            visit + visit + visit + visit + ["request", "read"], port: 443, anchors: ca, host: "api.example.com",
            proxy: proxy)
        let run = try runProcess(client, timeout: 120)
        #expect(
            run.output == String(repeating: "answered goaway 1\n", count: 3) + "answered\nanswered\n",
            "\(run.output) \(run.errorOutput)")
        #expect(served.wait { served.log.split(separator: "\n").count { $0.contains(" over HTTP/2") } == 5 })
        #expect(served.end() == 1)
        for (id, number) in [("rotated-to-unknown-key", 3), ("trusted-interceptor", 2)] {
            let line = TextLayout.padded("  " + id, to: 32)
            #expect(served.log.contains("\n\(line)refused   LET THROUGH"), "\(served.log)")
            #expect(served.log.contains("connection \(number)"))
        }
    }

    @Test("A device that never uses the proxy, or refuses the right server, proves nothing")
    func unused() throws {
        let unused = try ProxyProcess(["--host", "api.example.com"])
        #expect(unused.end() == 2)
        #expect(unused.log.contains("it did not use the proxy for a named host"))
        let refusing = try ProxyProcess(["--host", "api.example.com"])
        let untrusted = try runProcess(
            ["curl", "-sS", "-m", "20", "-x", "http://" + refusing.value("proxy"), "https://api.example.com/"],
            timeout: 40)
        #expect(untrusted.status == 60)
        #expect(refusing.wait { refusing.log.contains("  control                       refused: alert unknown_ca") })
        #expect(refusing.end() == 2)
        #expect(refusing.log.contains("no request came to the right server"))
    }

    @Test("The attack on the pin of a second host is left out, because a device has none")
    func leftOut() throws {
        let served = try ProxyProcess(["--host", "api.example.com", "--only", "coalesced-connection,expired"])
        #expect(served.log.contains("api.example.com: the right server first, then 1 attack\n"), "\(served.log)")
        #expect(served.end() == 2)
        let none = ToolRun(
            "rehearse", "--proxy", "--serve", "--host", "api.example.com", "--only", "coalesced-connection")
        #expect(none.code == 2 && none.errors.contains("a device has no pin for the second host"), "\(none.errors)")
    }

    @Test(
        "SIGHUP ends the tool, unless it was started with that signal ignored, as by nohup", arguments: [true, false])
    func hangUp(isIgnored: Bool) throws {
        let served = try ProxyProcess(["--host", "api.example.com"], ignoringHangUps: isIgnored)
        kill(served.child.processIdentifier, SIGHUP)
        if isIgnored {
            usleep(500_000)
            #expect(served.child.status == nil)
            #expect(served.end() == 2)
        } else {
            #expect(served.wait { served.child.status == 2 })
        }
    }

    @Test("Bytes without TLS to the right server do not begin the attacks")
    func clearControl() throws {
        let served = try ProxyProcess(["--host", "api.example.com", "--only", "expired"])
        let (ca, url) = (try served.trust(), "https://api.example.com/")
        // Plain HTTP in a tunnel to the port of HTTPS.
        _ = try served.curl(ca, "http://api.example.com:443/", "-p")
        #expect(served.wait { served.log.contains("control in the clear") || served.log.contains("in the clear") })
        #expect(try served.curl(ca, url).output == "ok\n")
        #expect(served.wait { served.log.contains("control                       handshake finished, ") })
        #expect(try served.curl(ca, url).status == 60)
        #expect(served.end() == 0, "\(served.log)")
    }

    @Test("A device that sends a named host only plain HTTP is a finding, and not a device that did not ask")
    func plainHTTP() throws {
        let served = try ProxyProcess(["--host", "api.example.com", "--only", "expired"])
        let ca = try served.trust()
        #expect(try served.curl(ca, "http://api.example.com/", "-f").status == 22)
        #expect(served.wait { served.log.contains("control                       in the clear, ") })
        #expect(served.end() == 1, "\(served.log)")
        let words = served.log.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("every attack on api.example.com: the client sends this host plain HTTP"), "\(words)")
        #expect(words.contains("next: 1. api.example.com gets plain HTTP") && !words.contains("did not ask"))
    }

    @Test("A client that still waits at the end has no verdict, as without the proxy")
    func heldAtEnd() throws {
        let served = try ProxyProcess(["--host", "api.example.com", "--only", "stacked-encodings"])
        let (ca, url) = (try served.trust(), "https://api.example.com/")
        #expect(try served.curl(ca, url).output == "ok\n")
        #expect(served.wait { served.log.contains("control                       handshake finished, ") })
        let client = try ChildProcess(
            ["curl", "-sSN", "-m", "120", "-x", "http://" + served.value("proxy"), "--cacert", ca]
                + ["-o", served.directory.path(of: "endless"), url])
        #expect(served.wait { ((try? served.directory.read("endless").count) ?? 0) > 0 })
        #expect(served.end() == 1, "\(served.log)")
        #expect(served.log.contains("a client was still waiting"), "\(served.log)")
        #expect(served.wait { client.status != nil })
    }

    @Test("A host whose right server was refused has no verdict, beside one with verdicts")
    func refusedHost() throws {
        let served = try ProxyProcess([
            "--host", "api.example.com", "--host", "cdn.example.com", "--only", "trusted-interceptor",
        ])
        let ca = try served.trust()
        #expect(try served.curl(ca, "https://api.example.com/").output == "ok\n")
        #expect(served.wait { served.log.contains("control                       handshake finished, ") })
        #expect(try served.curl("/etc/hostname", "https://api.example.com/").status == 77)
        let bundle = "/etc/ssl/certs/ca-certificates.crt"
        #expect(try served.curl(bundle, "https://cdn.example.com/").status == 60)
        #expect(served.wait { served.log.contains("control                       refused: alert unknown_ca") })
        #expect(served.end() == 1, "\(served.log)")
        #expect(served.log.contains("it sent the right server no request"), "\(served.log)")
    }

    @Test("The target of a redirect belongs to its attack, also if the next attack has begun")
    func overlappingAttacks() throws {
        let served = try ProxyProcess([
            "--host", "api.example.com", "--only", "redirect-to-unpinned-host,redirect-to-http",
        ])
        let (ca, url) = (try served.trust(), "https://api.example.com/")
        #expect(try served.curl(ca, url).output == "ok\n")
        #expect(served.wait { served.log.contains("control                       handshake finished, ") })
        let first = try served.curl(ca, url, "-w", "%{redirect_url}").output
        let second = try served.curl(ca, url, "-w", "%{redirect_url}").output
        #expect(first.hasPrefix("https://") && second.hasPrefix("http://"), "\(first) \(second)")
        #expect(try served.curl(ca, first).output == "ok\n")
        #expect(served.end() == 1)
        #expect(served.log.contains("redirect-to-unpinned-host     refused   LET THROUGH"), "\(served.log)")
    }
}
