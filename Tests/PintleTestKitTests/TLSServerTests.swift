import Glibc
import PintleSystem
import Testing

@testable import PintleTestKit

@Suite("Loopback TLS server")
struct TLSServerTests {
    let directory: TemporaryDirectory
    let root: CertificateAuthority
    let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root()
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    func curl(_ server: LoopbackTLSServer, host: String = "localhost", _ options: [String] = []) throws -> ProcessResult
    {
        try runProcess(
            ["curl", "-sS", "--max-time", "20", "--noproxy", "*", "--resolve", "\(host):\(server.port):127.0.0.1"]
                + ["--cacert", anchors] + options + [server.url(host: host)])
    }

    func sClient(_ server: LoopbackTLSServer, _ options: [String], input: String = "") throws -> ProcessResult {
        try runProcess(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-CAfile", anchors]
                + ["-verify_return_error", "-quiet", "-no_ign_eof"] + options,
            input: Array(input.utf8))
    }

    @Test("curl gets a response over TLS 1.2 and 1.3", arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func answer(_ version: LoopbackTLSServer.Version) throws {
        let server = try LoopbackTLSServer(root.intermediate().issue()) { $0.versions = version...version }
        let result = try curl(server)
        #expect(result.output == "ok\n", "\(result.errorOutput)")
        #expect(server.connections.first?.version == version)
        #expect(server.completedHandshakeCount == 1)
        #expect(server.serverNames == ["localhost"])
        #expect(server.requests.map(\.method) == ["GET"])
        #expect(server.requestByteCount > 0)
    }

    @Test("A client that does not trust the chain sends an alert and no request byte")
    func refusal() throws {
        let server = try LoopbackTLSServer(CertificateAuthority.root().issue())
        // Not curl: version 8 ends the handshake before it compares the chain.
        #expect(try sClient(server, ["-verify_hostname", "localhost"]).status != 0)
        #expect(server.waitUntilClosed())
        #expect(server.completedHandshakeCount == 0)
        #expect(server.requestByteCount == 0)
        #expect(server.alertsReceived.map(\.name) == ["unknown_ca"])
        #expect(server.connections.first?.handshakeFailure != nil)
    }

    @Test("The server counts every request byte")
    func byteCount() throws {
        let server = try LoopbackTLSServer(root.issue())
        let request = "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n"
        let body = String(repeating: "x", count: 100_000)
        let directory = try TemporaryDirectory()
        let file = try directory.write(body, to: "body")
        _ = try curl(server, ["-H", "Expect:", "--data-binary", "@\(file)"])
        #expect(server.requests.first?.body == Array(body.utf8))
        let before = server.requestByteCount
        _ = try sClient(server, ["-ign_eof"], input: request + body)
        #expect(server.requestByteCount - before == request.utf8.count + body.utf8.count)
    }

    @Test(
        "A server makes a handshake with every kind of key",
        arguments: [
            .rsa2048, .rsaPSS(bits: 2_048), .p256, .p384, .p521, .ed25519, .ed448, .rsa(bits: 2_048, exponent: 3),
        ] as [KeyType])
    func keyTypes(_ type: KeyType) throws {
        let server = try LoopbackTLSServer(root.issue(keyType: type))
        let result = try curl(server)
        #expect(result.output == "ok\n", "\(result.errorOutput)")
    }

    @Test("The server accepts weak keys and old TLS versions")
    func weak() throws {
        let identity = try CertificateAuthority.root(keyType: .rsa(bits: 1_024)).issue(keyType: .rsa(bits: 1_024)) {
            $0.signatureAlgorithm = .rsaPKCS1(.sha1)
        }
        for (version, option) in [
            (LoopbackTLSServer.Version.tls10, "-tls1"), (.tls11, "-tls1_1"), (.tls12, "-tls1_2"),
        ] {
            let server = try LoopbackTLSServer(identity) { $0.versions = .tls10...version }
            _ = try runProcess(
                ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", option, "-cipher", "ALL:@SECLEVEL=0"])
            #expect(server.waitUntilClosed())
            #expect(server.connections.first?.version == version)
        }
    }

    @Test("The server sends the chain unchanged: wrong order, foreign certificates, a hundred of them")
    func chains() throws {
        var authority = try root.intermediate()
        let wrongOrder = try authority.issue()
        let foreign = try CertificateAuthority.root().certificate.der
        for depth in 0..<100 { authority = try authority.intermediate(name: "\(depth)") }
        let long = try authority.issue()
        let shuffled = [wrongOrder.chain[0], foreign, wrongOrder.chain[1]]
        for (chain, key) in [(shuffled, wrongOrder.key), (long.chain, long.key)] {
            let server = try LoopbackTLSServer(TLSServerConfiguration(.init(chain: chain, key: key)))
            let result = try runProcess(
                ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-showcerts"])
            let shown = result.output.split(separator: "-----BEGIN CERTIFICATE-----").count - 1
            // With -showcerts, s_client prints the leaf only once.
            #expect(shown == chain.count)
        }
    }

    @Test("The server sends garbage as a certificate, first or last, and curl refuses it with an alert")
    func garbage() throws {
        let identity = try root.issue()
        let garbage = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        for chain in [[garbage], [identity.chain[0], garbage], [identity.chain[0], []], []] {
            let server = try LoopbackTLSServer(TLSServerConfiguration(.init(chain: chain, key: identity.key)))
            #expect(try curl(server).status != 0)
            #expect(server.waitUntilClosed())
            #expect(server.completedHandshakeCount == 0)
            #expect(server.connections.first?.alertsReceived.isEmpty == false, "\(server.connections)")
        }
    }

    @Test("A handshake with a genuine certificate fails without its key and succeeds with it")
    func stolenCertificate() throws {
        let genuine = try root.issue()
        let stolen = TLSServerConfiguration.Credential(chain: genuine.chain, key: try PrivateKey())
        let server = try LoopbackTLSServer(TLSServerConfiguration(stolen))
        #expect(try curl(server).status != 0)
        #expect(server.waitUntilClosed())
        #expect(server.completedHandshakeCount == 0)
        try server.replaceCredential(.init(genuine))
        #expect(try curl(server).output == "ok\n")
        #expect(server.connections.last?.version == .tls13)
    }

    @Test("SNI selects a credential; an unknown name gets the default one")
    func serverNames() throws {
        let standard = try root.issue(hosts: ["a.test"])
        let other = try root.issue(hosts: ["b.test"])
        let server = try LoopbackTLSServer(standard) { $0.credentialsByServerName["b.test"] = .init(other) }
        #expect(try curl(server, host: "a.test").output == "ok\n")
        #expect(try curl(server, host: "b.test").output == "ok\n")
        #expect(try curl(server, host: "c.test").status == 60)
        #expect(server.serverNames == ["a.test", "b.test", "c.test"])
    }

    @Test("ALPN selects the server's most preferred protocol that the client offers")
    func applicationProtocols() throws {
        let server = try LoopbackTLSServer(root.issue()) { $0.applicationProtocols = ["x", "http/1.1", "h2"] }
        _ = try sClient(server, ["-alpn", "h2,http/1.1"])
        _ = try sClient(server, ["-alpn", "nothing"])
        #expect(server.waitUntilClosed(connections: 2))
        #expect(server.connections.map(\.applicationProtocol) == ["http/1.1", nil])
    }

    @Test("Sessions are resumed only if the configuration allows it", arguments: [true, false])
    func resumption(_ isAllowed: Bool) throws {
        let server = try LoopbackTLSServer(root.issue()) {
            $0.versions = .tls12 ... .tls12
            $0.allowsResumption = isAllowed
        }
        _ = try sClient(server, ["-reconnect"])
        #expect(server.waitUntilClosed(connections: 6))
        #expect(server.connections.count { $0.isResumed } == (isAllowed ? 5 : 0))
    }

    @Test(
        "A long stall makes a client time out; a short stall does not",
        arguments: [true, false])
    func stall(_ isBeforeHello: Bool) throws {
        for (seconds, passes) in [(0.2, true), (60.0, false)] {
            let server = try LoopbackTLSServer(root.issue()) {
                $0.stall = isBeforeHello ? .beforeServerHello(seconds: seconds) : .midHandshake(seconds: seconds)
            }
            let result = try curl(server, passes ? [] : ["--max-time", "1"])
            #expect(result.status == (passes ? 0 : 28))
            #expect(server.waitUntilClosed())
        }
    }

    @Test("A server can listen on ::1")
    func ipv6() throws {
        let server = try LoopbackTLSServer(root.issue()) { $0.ipv6 = true }
        let result = try runProcess(["curl", "-sS", "--cacert", anchors, server.url(host: "::1")])
        #expect(result.output == "ok\n", "\(result.errorOutput)")
    }

    @Test("A stream closure reads and writes decrypted bytes")
    func stream() throws {
        var configuration = TLSServerConfiguration(.init(try root.issue()))
        configuration.serve { stream in
            guard let line = try? stream.read(upTo: 100) else { return }
            try? stream.write(line.reversed())
        }
        let server = try LoopbackTLSServer(configuration)
        #expect(try sClient(server, ["-ign_eof"], input: "abc").output == "cba")
    }

    @Test("Closing ends open connections and frees the port")
    func close() throws {
        let server = try LoopbackTLSServer(root.issue()) { $0.stall = .beforeServerHello(seconds: 3_600) }
        let client = try ChildProcess(["curl", "-s", "--cacert", anchors, server.url()])
        #expect(server.wait { $0.count == 1 })
        let start = ContinuousClock.now
        server.close()
        server.close()
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(server.connections.first?.isClosed == true)
        #expect(try curl(server).status == 7)
        client.terminate()
    }

    @Test("Idle connections block others no longer than the time limit")
    func idle() throws {
        let script = """
            import socket, ssl, sys
            port, patience = int(sys.argv[1]), float(sys.argv[2])
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
            stream = socket.create_connection(("127.0.0.1", port))
            stream.settimeout(patience)
            context = ssl.create_default_context(cafile=sys.argv[3])
            context.wrap_socket(stream, server_hostname="localhost")
            """
        func status(limit: Double?, patience: String) throws -> Int32 {
            let server = try LoopbackTLSServer(root.issue()) {
                $0.maximumConnections = 4
                $0.timeLimit = limit
            }
            return try runProcess(["python3", "-c", script, "\(server.port)", patience, anchors]).status
        }
        #expect(try status(limit: 0.5, patience: "60") == 0)
        #expect(try status(limit: nil, patience: "2") == 1)
    }

    @Test("Many clients at once are all served, four at a time")
    func crowd() throws {
        let server = try LoopbackTLSServer(root.issue()) { $0.maximumConnections = 4 }
        let urls = (0..<40).flatMap { _ in [server.url(), "-o", "/dev/null"] }
        let result = try runProcess(
            ["curl", "-sS", "--cacert", anchors, "-Z", "--parallel-max", "20", "-H", "Connection: close"] + urls)
        #expect(result.status == 0, "\(result.errorOutput)")
        #expect(server.requests.count == 40)
    }

    @Test("A write has one time limit, however slowly its reader reads", arguments: [true, false])
    func slowReader(isSlow: Bool) throws {
        let (ours, theirs) = try #require(StreamSocket.pair())
        let (near, far) = (FileDescriptor(ours), FileDescriptor(theirs))
        var size: CInt = 4_096
        setsockopt(near.number, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        let stop = try Pipe()
        let reader = ThreadGroup()
        let started = reader.start { [far] in
            var buffer = [UInt8](repeating: 0, count: 1_024)
            while true {
                usleep(isSlow ? 50_000 : 100)
                let count = recv(far.number, &buffer, buffer.count, 0)
                if count == 0 || count < 0 && errno != EAGAIN { break }
            }
        }
        #expect(started)
        // With the limit this write may take 2.5 seconds. The slow reader needs longer.
        let connection = TCPConnection(near, stop: stop.readEnd, timeLimit: 0.5)
        let bytes = [UInt8](repeating: 0, count: 131_072)
        do throws(StreamError) {
            try connection.write(bytes)
            #expect(!isSlow)
        } catch {
            #expect(isSlow && error.reason == StreamError.tooSlow.reason)
        }
        #expect(connection.hasRunOutOfTime.writing == isSlow)
        connection.shutdownWriting()
        reader.joinAll()
    }

    @Test("A stall lasts longer than the time limit, which holds before it")
    func stallWithLimit() throws {
        let server = try LoopbackTLSServer(root.issue()) {
            $0.stall = .midHandshake(seconds: 3_600)
            $0.timeLimit = 0.5
        }
        let client = try ChildProcess(["curl", "-s", "--cacert", anchors, server.url()])
        #expect(server.wait { $0.count == 1 })
        let idle = try SocketAddress.loopback(port: server.port).connected()
        #expect(server.wait(seconds: 60) { $0.count == 2 && $0[1].isClosed })
        #expect(server.connections.first?.isClosed == false)
        client.terminate()
        withExtendedLifetime(idle) {}
    }
}
