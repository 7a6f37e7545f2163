import Pintle
import PintleOpenSSL
import PintleTLSClient
import PintleTestKit
import PintleTestPeers
import Testing

@Suite("The verdict inside the handshake")
struct HandshakeVerdictTests {
    private static let versions: [(option: String, version: TLSVersion)] = [
        ("-tls1_2", .v1_2), ("-tls1_3", .v1_3),
    ]

    @Test(
        "A server's certificate with any kind of key reaches the verdict unchanged",
        arguments: [KeyType.rsa2048, .p256, .p384, .ed25519, .rsaPSS(bits: 2_048)], versions.map(\.version))
    func accepted(keyType: KeyType, version: TLSVersion) throws {
        let intermediate = try CertificateAuthority.root().intermediate()
        let identity = try intermediate.issue(keyType: keyType)
        let server = try SServer(identity, ["-alpn", "http/1.1", version == .v1_2 ? "-tls1_2" : "-tls1_3"])
        var presented: [[[UInt8]]] = []
        let connection = try TLSClient().connect(to: HandshakeTarget(host: "localhost", port: server.port)) { chain in
            presented.append(chain.certificates)
            return .accept
        }
        let isAsSent = presented == [identity.chain]
        #expect(isAsSent)
        #expect(connection.protocolVersion == version)
        #expect(connection.tls.cipherSuite.hasPrefix("TLS_"))
        #expect(connection.applicationProtocol == "http/1.1")
        #expect(connection.peerAddress == "127.0.0.1")
        try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        #expect(String(decoding: try connection.readAll(), as: UTF8.self).hasPrefix("HTTP/1.0 200"))
    }

    @Test(
        "A refusal sends the server the alert of the verdict", arguments: TLSAlert.allCases,
        versions.map(\.version))
    func rejected(alert: TLSAlert, version: TLSVersion) throws {
        let server = try SServer(.selfSigned(), [version == .v1_2 ? "-tls1_2" : "-tls1_3"])
        let error = expectFailure(.rejectedByVerifier) {
            try TLSClient().connect(to: HandshakeTarget(host: "localhost", port: server.port)) { _ in .reject(alert) }
        }
        #expect(error?.isBeforeCertificate == false)
        #expect(error?.alert == alert.name)
        let mark = "SSL alert number \(alert.rawValue)\n"
        #expect(try server.output(with: mark).contains(mark))
    }

    @Test(
        "A refused server receives the alert and no byte of the request",
        arguments: [true, false])
    func requestBytes(isAccepted: Bool) throws {
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(.selfSigned())))
        let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        do {
            let connection = try TLSClient().connect(to: HandshakeTarget(host: "localhost", port: server.port)) { _ in
                isAccepted ? .accept : .reject(.unknownCA)
            }
            try connection.write(request)
            _ = try connection.readAll()
        } catch {
            #expect((error as? HandshakeError)?.code == .rejectedByVerifier)
        }
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == (isAccepted ? request.count : 0))
        #expect(server.completedHandshakeCount == (isAccepted ? 1 : 0))
        #expect(server.alertsReceived.filter(\.isFatal).map(\.name) == (isAccepted ? [] : ["unknown_ca"]))
    }

    @Test("A client can be used on many threads, and each connection has its own verdict")
    func manyThreads() async throws {
        let one = try Identity.selfSigned()
        let other = try Identity.selfSigned()
        let servers = [try SServer(one), try SServer(other)]
        let ports = servers.map(\.port)
        let leaves = [one.certificate.der, other.certificate.der]
        let client = try TLSClient()
        let verdicts = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<24 {
                group.addTask {
                    let expected = index % 4 < 2
                    let connection = try? client.connect(
                        to: HandshakeTarget(host: "127.0.0.1", port: ports[index % 2])
                    ) { chain in
                        chain.certificates == [leaves[expected ? index % 2 : 1 - index % 2]]
                            ? .accept : .reject(.certificateUnknown)
                    }
                    return (connection != nil) == expected
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts == Array(repeating: true, count: 24))
        withExtendedLifetime(servers) {}
    }

    @Test("A second connection is judged again, because no session is resumed", arguments: versions.map(\.version))
    func noResumption(version: TLSVersion) throws {
        let server = try SServer(.selfSigned(), [version == .v1_2 ? "-tls1_2" : "-tls1_3"])
        let client = try TLSClient()
        let target = try HandshakeTarget(host: "localhost", port: server.port)
        let first = try client.connect(to: target) { _ in .accept }
        try first.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        let page = String(decoding: try first.readAll(), as: UTF8.self)
        first.close()
        // The client does not offer tickets, so a TLS 1.2 server sends none.
        if version == .v1_2 { #expect(!page.contains("TLS session ticket")) }
        _ = expectFailure(.rejectedByVerifier) { try client.connect(to: target) { _ in .reject(.unknownCA) } }
    }

    @Test("SNI carries a name but not an address", arguments: [("localhost", true), ("127.0.0.1", false)])
    func serverNameIndication(host: String, isSent: Bool) throws {
        let (byDefault, byName) = (try Identity.selfSigned(), try Identity.selfSigned())
        let server = try SServer(byDefault, forName: "localhost", byName)
        let expected = isSent ? byName : byDefault
        #expect(try shows(expected, HandshakeTarget(host: host, port: server.port)))
    }

    @Test("With connectTo, SNI and the verdict keep the requested name")
    func connectTo() throws {
        let (byDefault, byName) = (try Identity.selfSigned(), try Identity.selfSigned())
        let server = try SServer(byDefault, forName: "www.example.com", byName)
        let address = try ServerEndpoint(host: "127.0.0.1", port: server.port)
        #expect(try shows(byName, HandshakeTarget(host: "www.example.com", connectTo: address)))
        #expect(try shows(byDefault, HandshakeTarget(host: "example.com", connectTo: address)))
    }

    @Test("A connection over IPv6 works")
    func ipv6() throws {
        let server = try SServer(.selfSigned(), host: "[::1]", ["-6"])
        let connection = try TLSClient().connect(to: HandshakeTarget(host: "::1", port: server.port)) { _ in .accept }
        #expect(connection.peerAddress == "::1")
    }

    @Test("Application data is on the wire only after an accepting verdict", arguments: [true, false])
    func recordsOnTheWire(isAccepted: Bool) throws {
        // With TLS 1.2, because its alerts are recognizable on the wire.
        let server = try SServer(.selfSigned(), ["-tls1_2"])
        let port = server.port
        let wire = Wire()
        let relay = try ScriptedPeer { $0.relay(to: port, watchedBy: wire) }
        do {
            let connection = try TLSClient().connect(to: HandshakeTarget(host: "localhost", port: relay.port)) { _ in
                isAccepted ? .accept : .reject(.certificateUnknown)
            }
            try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
            _ = try connection.readAll()
        } catch {
            #expect((error as? HandshakeError)?.code == .rejectedByVerifier)
        }
        let (handshake, changeCipher, alert, data): (UInt8, UInt8, UInt8, UInt8) = (22, 20, 21, 23)
        let types = wire.recordTypes(endingWith: alert)
        #expect(
            types == (isAccepted ? [handshake, handshake, changeCipher, handshake, data, alert] : [handshake, alert]))
        withExtendedLifetime(server) {}
    }

    private func shows(_ identity: Identity, _ target: HandshakeTarget) throws -> Bool {
        var isShown = false
        _ = try TLSClient().connect(to: target) { chain in
            isShown = chain.certificates.first == identity.certificate.der
            return .accept
        }
        return isShown
    }
}

extension TLSConnection {
    /// Reads until close_notify.
    func readAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while case let bytes = try read(), !bytes.isEmpty { all += bytes }
        return all
    }
}

/// Runs a connection that must fail, and returns its error.
func expectFailure(
    _ code: HandshakeError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> TLSConnection
) -> HandshakeError? {
    do {
        _ = try body()
        Issue.record("a connection was handed out", sourceLocation: sourceLocation)
        return nil
    } catch {
        let error = error as? HandshakeError
        #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
        return error
    }
}
