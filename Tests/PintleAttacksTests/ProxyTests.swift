import Glibc
import Testing

@testable import PintleAttacks
@testable import PintleTestKit

/// The proxy of a rehearsal connects clients to the servers of attacks and to nothing else.
@Suite("Attacks: proxies")
struct ProxyTests {
    private func curl(_ options: String...) throws -> ProcessResult {
        try runProcess(["curl", "-sS", "-m", "20", "--noproxy", ""] + options)
    }

    @Test("Nothing is forwarded, whatever a client asks for and however it asks")
    func forwardsNothing() throws {
        let bystander = try LoopbackTCPServer.http()
        let server = try LoopbackTCPServer.http()
        let proxy = try Proxy([
            Proxy.Route(host: "api.example.com", port: 80, server: server.port)
        ])
        let address = "127.0.0.1:\(proxy.port)"
        let port = bystander.port
        for target in ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)", "api.example.com:\(port)"] {
            let url = "http://\(target)/"
            #expect(try curl("-o", "/dev/null", "-w", "%{http_code}", "-x", "http://\(address)", url).output == "403")
            #expect(
                try curl("-o", "/dev/null", "-w", "%{http_connect}", "-p", "-x", "http://\(address)", url).output
                    == "403")
            #expect(try curl("-x", "socks5h://\(address)", url).status == 97)
            // Only version 5 is served. The client is not kept waiting.
            #expect(try curl("-x", "socks4a://\(address)", url).status == 97)
        }
        #expect(
            try curl("-o", "/dev/null", "-w", "%{http_code}", "-x", "http://\(address)", "ftp://other.example/").output
                == "403")
        #expect(proxy.unlistedHosts.map(\.authority).contains("other.example:21"))
        for line in ["post http://lower.example/ HTTP/1.1", "\\nGET http://space.example/a b HTTP/1.1", "CONNECT none"]
        {
            let script = "exec 3<>/dev/tcp/127.0.0.1/\(proxy.port); printf '\(line)\\r\\n\\r\\n' >&3; cat <&3"
            _ = try runProcess(["bash", "-c", script], timeout: 20)
        }
        let seen = proxy.unlistedHosts.map(\.authority)
        #expect(Set(["lower.example:80", "space.example:80", "unreadable requests"]).isSubset(of: seen), "\(seen)")
        #expect(bystander.connectionCount == 0)
        #expect(proxy.unlistedHosts.map(\.authority).contains("127.0.0.1:\(port)"))
        #expect(proxy.unlistedHosts.first { $0.authority == "api.example.com:\(port)" }?.count == 2)
        // The third one was a request without TLS to a named host.
        #expect(proxy.clearByteCount(of: "API.example.com.") > 0 && proxy.clearByteCount(of: "other.example") == 0)
        // The twin: the named host and port, over each protocol.
        for options in [
            ["-x", "http://\(address)"], ["-p", "-x", "http://\(address)"], ["-x", "socks5h://\(address)"],
        ] {
            let run = try runProcess(
                ["curl", "-sS", "-m", "20", "--noproxy", ""] + options + ["http://API.example.com./"])
            #expect(run.output == "ok\n", "\(run.errorOutput)")
        }
        #expect(server.connectionCount == 3)
    }

    @Test("Input that is neither protocol ends the connection and leaves the proxy working")
    func malformed() throws {
        let server = try LoopbackTCPServer.http()
        let proxy = try Proxy([Proxy.Route(host: "a.test", port: 80, server: server.port)])
        for bytes: [UInt8] in [
            [], [5], [5, 0], [5, 1, 9], [4, 1, 0, 80], [0x16, 3, 1, 2, 0, 1], Array("GET / HTTP/1.1\r\n\r\n".utf8),
            Array("GET http:// HTTP/1.1\r\n\r\n".utf8), Array("GET http://a.test:99999/ HTTP/1.1\r\n\r\n".utf8),
            Array("CONNECT a.test HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 65, count: 100_000),
        ] {
            let socket = try SocketAddress.loopback(port: proxy.port).connected()
            _ = send(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            shutdown(socket.number, Int32(SHUT_WR))
            var buffer = [UInt8](repeating: 0, count: 512)
            while recv(socket.number, &buffer, buffer.count, 0) > 0 {}
        }
        #expect(proxy.waitUntilIdle(seconds: 20))
        #expect(server.connectionCount == 0)
        #expect(try curl("-x", "http://127.0.0.1:\(proxy.port)", "http://a.test/").output == "ok\n")
    }

    @Test("Names that are refused fill no memory")
    func manyUnnamedHosts() throws {
        let proxy = try Proxy([])
        for number in 0..<110 {
            let request = Array("CONNECT h\(number).test:443 HTTP/1.1\r\n\r\n".utf8)
            let socket = try SocketAddress.loopback(port: proxy.port).connected()
            _ = send(socket.number, request, request.count, Int32(MSG_NOSIGNAL))
            var buffer = [UInt8](repeating: 0, count: 512)
            while recv(socket.number, &buffer, buffer.count, 0) > 0 {}
        }
        #expect(proxy.unlistedHosts.count == 101)
        #expect(proxy.unlistedHosts.last == .init(authority: "other hosts", count: 10))
    }

    /// Opens a tunnel to a server, and returns it when the proxy has answered.
    private func tunnel(_ proxy: Proxy) throws -> FileDescriptor {
        let socket = try SocketAddress.loopback(port: proxy.port).connected()
        let request = Array("CONNECT a.test:443 HTTP/1.1\r\n\r\n".utf8)
        _ = send(socket.number, request, request.count, Int32(MSG_NOSIGNAL))
        var buffer = [UInt8](repeating: 0, count: 512)
        #expect(recv(socket.number, &buffer, buffer.count, 0) > 0)
        return socket
    }

    @Test("A client that keeps its side open keeps no tunnel whose server has ended", arguments: [true, false])
    func endedServer(ends: Bool) throws {
        let server = try LoopbackTCPServer { connection in
            if !ends { _ = try? connection.read(upTo: 1) }
        }
        let proxy = try Proxy([Proxy.Route(host: "a.test", port: 443, server: server.port)])
        let client = try tunnel(proxy)
        #expect(proxy.waitUntilIdle(seconds: ends ? 20 : 2) == ends)
        withExtendedLifetime(client) {}
    }

    @Test("A proxy ends while it connects to a server that accepts no connection")
    func fullQueue() throws {
        let (listener, port) = try SocketAddress.loopback(port: 0).listening(backlog: 0)
        let stop = try Pipe()
        let threads = ThreadGroup()
        let started = threads.start { [stop] in
            usleep(500_000)
            stop.writeEnd.close()
        }
        #expect(started)
        // The system completes some connections without the server, and lets the others wait.
        var connected: [FileDescriptor] = []
        var code: CInt?
        do throws(SystemCallError) {
            for _ in 0..<100 {
                connected.append(try SocketAddress.loopback(port: port).connected(stop: stop.readEnd))
            }
        } catch {
            code = error.code
        }
        #expect(code == ECANCELED && !connected.isEmpty)
        withExtendedLifetime(listener) {}
        threads.joinAll()
    }

    @Test("Connecting to a closed port is an error of the system")
    func closedPort() throws {
        let port = try LoopbackTCPServer.http().port
        let stop = try Pipe()
        var code: CInt?
        do throws(SystemCallError) {
            _ = try SocketAddress.loopback(port: port).connected(stop: stop.readEnd)
        } catch {
            code = error.code
        }
        #expect(code == ECONNREFUSED)
    }
}

/// A proxy without attacks.
@Suite("Loopback proxies")
struct LoopbackProxyTests {
    private func curl(_ arguments: [String]) throws -> ProcessResult {
        try runProcess(["curl", "-sS", "--max-time", "20"] + arguments)
    }

    @Test(
        "Both kinds of proxy connect any name to loopback and count the relayed bytes",
        arguments: [(LoopbackProxy.Kind.httpConnect, "http"), (.socks5, "socks5h")])
    func proxies(_ kind: LoopbackProxy.Kind, _ scheme: String) throws {
        let root = try CertificateAuthority.root()
        let directory = try TemporaryDirectory()
        let anchors = try directory.write(root.certificate.pem, to: "root.pem")
        let server = try LoopbackTLSServer(root.issue(hosts: ["site.test"]))
        let serverPort = server.port
        let proxy = try LoopbackProxy(kind) { host, _ in host == "site.test" ? serverPort : nil }
        let options = ["--cacert", anchors, "-x", "\(scheme)://127.0.0.1:\(proxy.port)"]
        #expect(try curl(options + ["https://site.test/"]).output == "ok\n")
        #expect(try curl(options + ["https://other.test/"]).status != 0)
        let first = try #require(proxy.connections.first)
        #expect(first.host == "site.test" && first.port == 443 && first.isOpen)
        #expect(first.bytesToServer > 100 && first.bytesToClient > 500)
        #expect(proxy.connections.last?.isOpen == false)
    }

    @Test(
        "A proxy with credentials accepts only clients that have them",
        arguments: [(LoopbackProxy.Kind.httpConnect, "http"), (.socks5, "socks5h")])
    func proxyCredentials(_ kind: LoopbackProxy.Kind, _ scheme: String) throws {
        let server = try LoopbackTCPServer.http()
        let proxy = try LoopbackProxy(kind, credentials: .init(user: "u", password: "p"))
        let url = "http://127.0.0.1:\(server.port)/"
        let options = ["--noproxy", "", "-p", "-x"]
        #expect(try curl(options + ["\(scheme)://u:p@127.0.0.1:\(proxy.port)", url]).output == "ok\n")
        #expect(try curl(options + ["\(scheme)://u:q@127.0.0.1:\(proxy.port)", url]).status != 0)
        #expect(try curl(options + ["\(scheme)://127.0.0.1:\(proxy.port)", url]).status != 0)
        #expect(proxy.connections.map(\.isUnauthorized) == [false, true, true])
        #expect(server.connectionCount == 1)
    }
}
