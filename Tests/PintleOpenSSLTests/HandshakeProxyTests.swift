import Pintle
import PintleOpenSSL
import PintleTLSClient
import PintleTestKit
import PintleTestPeers
import Testing

@Suite("Handshakes through a proxy")
struct HandshakeProxyTests {
    private let credentials = ProxyCredentials(user: "me", password: "p:w d")

    /// Connects to `www.example.test`, which only the proxy can resolve.
    private func connect(
        via proxy: ProxyConfiguration, host: String = "www.example.test", port: UInt16 = 443,
        timeout: Duration = .seconds(10)
    ) throws -> TLSConnection {
        try TLSClient(.init(connectTimeout: timeout, handshakeTimeout: .seconds(10)))
            .connect(to: HandshakeTarget(host: host, port: port), via: proxy) { _ in .accept }
    }

    private func expectPage(_ connection: TLSConnection) throws {
        try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        #expect(String(decoding: try connection.readAll(), as: UTF8.self).hasPrefix("HTTP/1.0 200"))
    }

    private func endpoint(_ peer: ScriptedPeer) throws -> ServerEndpoint {
        try ServerEndpoint(host: "127.0.0.1", port: peer.port)
    }

    // MARK: CONNECT

    @Test("CONNECT contains host and port, and TLS runs inside the tunnel")
    func connectMethod() throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            let head = "CONNECT www.example.test:443 HTTP/1.1\r\nHost: www.example.test:443\r\n\r\n"
            guard peer.readHead() == head else { return }
            peer.write("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
            peer.relay(to: port)
        }
        try expectPage(try connect(via: .http(endpoint(proxy))))
        withExtendedLifetime(server) {}
    }

    @Test("An IPv6 address has brackets in CONNECT")
    func connectToIPv6() throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            guard peer.readHead().hasPrefix("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n") else { return }
            peer.write("HTTP/1.1 200 OK\r\n\r\n")
            peer.relay(to: port)
        }
        try expectPage(try connect(via: .http(endpoint(proxy)), host: "2001:db8::1"))
        withExtendedLifetime(server) {}
    }

    @Test("Credentials are sent as Basic, and a 407 is an authentication error")
    func basicAuthentication() throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            // printf 'me:p:w d' | base64
            guard peer.readHead().contains("\r\nProxy-Authorization: Basic bWU6cDp3IGQ=\r\n") else {
                peer.write("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")
                return
            }
            peer.write("HTTP/1.1 200 OK\r\n\r\n")
            peer.relay(to: port)
        }
        let endpoint = try endpoint(proxy)
        try expectPage(try connect(via: .http(endpoint, credentials)))
        let missing = expectFailure(.proxyAuthenticationRequired) { try connect(via: .http(endpoint)) }
        #expect(missing?.message.contains("wants") == true)
        let wrong = ProxyCredentials(user: "me", password: "secret")
        let refused = expectFailure(.proxyAuthenticationRequired) { try connect(via: .http(endpoint, wrong)) }
        #expect(refused?.message.contains("did not accept") == true)
        #expect(refused?.description.contains("secret") == false)
        #expect(refused?.isBeforeCertificate == true)
        withExtendedLifetime(server) {}
    }

    @Test("The error contains the proxy's own text for its refusal")
    func refusal() throws {
        let proxy = try ScriptedPeer { peer in
            _ = peer.readHead()
            peer.write("HTTP/1.1 403 Not \u{1B}for you\r\n\r\n")
        }
        let error = expectFailure(.proxyRefused) { try connect(via: .http(endpoint(proxy))) }
        #expect(
            error?.message.hasSuffix("refused to connect to www.example.test:443: HTTP/1.1 403 Not ?for you") == true)
    }

    @Test("An endless, slow, foreign or too long answer is refused and never reaches TLS")
    func badAnswers() throws {
        let endless = try ScriptedPeer { peer in
            _ = peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\n")
            while peer.write(Array("X-Filler: 0123456789\r\n".utf8)) {}
        }
        let error = expectFailure(.proxyProtocol) { try connect(via: .http(endpoint(endless))) }
        #expect(error?.message.contains("16 KiB") == true)

        let slow = try ScriptedPeer { peer in
            for byte in "HTTP/1.1 200 OK\r\n\r\n".utf8 {
                guard peer.write([byte]) else { return }
                FakeTLS.pause(milliseconds: 100)
            }
        }
        let timeout = expectFailure(.proxyTimeout) {
            try connect(via: .http(endpoint(slow)), timeout: .milliseconds(300))
        }
        #expect(timeout?.hint?.contains("--connect-timeout") == true)

        let answers = [
            "SSH-2.0-x\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nand more", "", "HTTP/2 200 OK\r\n\r\n",
        ]
        for answer in answers {
            let foreign = try ScriptedPeer { peer in
                _ = peer.readHead()
                peer.write(answer)
            }
            let error = expectFailure(.proxyProtocol) { try connect(via: .http(endpoint(foreign))) }
            #expect(error?.isBeforeCertificate == true)
        }
    }

    @Test("The error for an unreachable proxy names the proxy")
    func unreachableProxy() throws {
        let proxy = try ServerEndpoint(host: "127.0.0.1", port: unusedPort())
        let error = expectFailure(.connectionRefused) { try connect(via: .http(proxy)) }
        #expect(error?.message.hasPrefix("cannot reach the proxy 127.0.0.1:") == true)
        #expect(error?.hint?.contains("HTTPS_PROXY") == true)
    }

    // MARK: SOCKS

    @Test("SOCKS 5 with remote DNS sends the name")
    func socks5() throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            guard peer.read(exactly: 3) == [5, 1, 0] else { return }
            peer.write([5, 0])
            let request: [UInt8] = [5, 1, 0, 3, 16] + Array("www.example.test".utf8) + [1, 187]
            guard peer.read(exactly: request.count) == request else { return }
            peer.write([5, 0, 0, 3, 4] + Array("host".utf8) + [0, 80])
            peer.relay(to: port)
        }
        try expectPage(try connect(via: .socks5(endpoint(proxy))))
        withExtendedLifetime(server) {}
    }

    @Test("SOCKS 5 without remote DNS sends an address", arguments: ["localhost", "127.0.0.1"])
    func socks5LocalDNS(host: String) throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            guard peer.read(exactly: 3) == [5, 1, 0] else { return }
            peer.write([5, 0])
            let head = peer.read(exactly: 4)
            guard head == [5, 1, 0, 1] || head == [5, 1, 0, 4] else { return }
            _ = peer.read(exactly: head[3] == 1 ? 6 : 18)
            peer.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            peer.relay(to: port)
        }
        try expectPage(try connect(via: .socks5(endpoint(proxy), remoteDNS: false), host: host))
        withExtendedLifetime(server) {}
    }

    @Test("SOCKS 5 sends credentials if the proxy requires them, and a rejection is an error")
    func socks5Authentication() throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            let methods = peer.read(exactly: 2)
            guard methods.count == 2, peer.read(exactly: Int(methods[1])).contains(2) else {
                peer.write([5, 0xFF])
                return
            }
            peer.write([5, 2])
            let login: [UInt8] = [1, 2] + Array("me".utf8) + [5] + Array("p:w d".utf8)
            let isRight = peer.read(exactly: login.count) == login
            peer.write([1, isRight ? 0 : 1])
            guard isRight else { return }
            _ = peer.read(exactly: 5 + 16 + 2)
            peer.write([5, 0, 0, 4] + Array(repeating: 0, count: 18))
            peer.relay(to: port)
        }
        let endpoint = try endpoint(proxy)
        try expectPage(try connect(via: .socks5(endpoint, credentials)))
        _ = expectFailure(.proxyAuthenticationRequired) { try connect(via: .socks5(endpoint)) }
        let wrong = ProxyCredentials(user: "me", password: "wrong")
        _ = expectFailure(.proxyAuthenticationRequired) { try connect(via: .socks5(endpoint, wrong)) }
        withExtendedLifetime(server) {}
    }

    @Test(
        "The error for a SOCKS 5 refusal explains the code",
        arguments: [(UInt8(2), "not allowed by its rules"), (99, "SOCKS 5 code 99")])
    func socks5Refusal(code: UInt8, words: String) throws {
        let proxy = try ScriptedPeer { peer in
            _ = peer.read(exactly: 3)
            peer.write([5, 0])
            _ = peer.read(exactly: 5 + 16 + 2)
            peer.write([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        let error = expectFailure(.proxyRefused) { try connect(via: .socks5(endpoint(proxy))) }
        #expect(error?.message.hasSuffix(words) == true)
    }

    @Test("A server that does not speak SOCKS is a proxy-protocol error")
    func notSOCKS() throws {
        let proxy = try ScriptedPeer { peer in
            _ = peer.read(exactly: 3)
            peer.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        _ = expectFailure(.proxyProtocol) { try connect(via: .socks5(endpoint(proxy))) }
        _ = expectFailure(.proxyProtocol) { try connect(via: .socks4a(endpoint(proxy))) }
    }

    @Test("SOCKS 4a sends the name and the user, and a rejection is an error")
    func socks4a() throws {
        let server = try SServer(.selfSigned())
        let port = server.port
        let proxy = try ScriptedPeer { peer in
            let request: [UInt8] = [4, 1, 1, 187, 0, 0, 0, 1] + Array("me\0www.example.test\0".utf8)
            guard peer.read(exactly: request.count) == request else {
                peer.write([0, 91, 0, 0, 0, 0, 0, 0])
                return
            }
            peer.write([0, 90, 0, 0, 0, 0, 0, 0])
            peer.relay(to: port)
        }
        let endpoint = try endpoint(proxy)
        try expectPage(try connect(via: .socks4a(endpoint, user: "me")))
        _ = expectFailure(.proxyRefused) { try connect(via: .socks4a(endpoint, user: "no")) }
        _ = expectFailure(.proxyUnsupported) { try connect(via: .socks4a(endpoint), host: "::1") }
        withExtendedLifetime(server) {}
    }
}
