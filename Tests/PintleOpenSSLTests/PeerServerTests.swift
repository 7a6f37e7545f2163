import Pintle
import PintleOpenSSL
import PintleTLSClient
import PintleTestKit
import PintleTestPeers
import Testing

/// Real servers that a policy judges inside the handshake.
@Suite("Real servers")
struct PeerServerTests {
    enum Peer: String, CaseIterable, CustomTestStringConvertible {
        case nginx, openssl

        var testDescription: String { rawValue }
    }

    static let keys: [KeyType] = [.rsa2048, .p256, .p384, .ed25519, .rsaPSS(bits: 2_048)]

    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority

    init() throws {
        root = try .root()
        intermediate = try root.intermediate()
    }

    @Test(
        "The pinned key is trusted and another is refused, with every kind of key",
        arguments: Peer.allCases, keys)
    func everyKey(peer: Peer, key: KeyType) throws {
        let identity = try intermediate.issue(hosts: [Validation.host], keyType: key)
        #expect(try judge(peer, identity) == .v1_3)
    }

    @Test("The verdict is the same in both versions of TLS", arguments: Peer.allCases, [TLSVersion.v1_2, .v1_3])
    func versions(peer: Peer, version: TLSVersion) throws {
        let identity = try intermediate.issue(hosts: [Validation.host])
        #expect(try judge(peer, identity, version) == version)
    }

    /// Connects with the right pin and with a wrong one. Returns the negotiated version.
    private func judge(_ peer: Peer, _ identity: Identity, _ version: TLSVersion? = nil) throws -> TLSVersion? {
        let nginx = peer == .nginx ? try NginxServer(identity, protocols: version?.nginxName ?? "TLSv1.2 TLSv1.3") : nil
        let openssl = peer == .openssl ? try SServer(identity, version.map { [$0.opensslOption] } ?? []) : nil
        let port = try #require(nginx?.port ?? openssl?.port)

        let right = try connect(port, pins: [try Validation.pin(identity.certificate)])
        #expect(right.evaluation.decision.summary == "pin-matched")
        guard case .trusted(let connection, let evaluation) = right else { return nil }
        #expect(evaluation.path?.certificates == identity.chainWithRoot)
        try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        #expect(try connection.read(max: 64).starts(with: Array("HTTP/1.".utf8)))
        connection.close()

        let stranger = try Pin(.publicKey(PublicKeyPin(subjectPublicKeyInfo: PrivateKey().spkiDER)))
        let wrong = try connect(port, pins: [stranger])
        #expect(wrong.evaluation.decision.summary == "pin-mismatch")
        if let nginx { #expect(nginx.requests().count == 1) }
        if let openssl { #expect(try openssl.output(with: "alert").contains("alert certificate unknown")) }
        return connection.protocolVersion
    }

    private func connect(_ port: UInt16, pins: [Pin]) throws -> CheckedConnection {
        let policy = try PinningPolicy(hosts: [
            PinnedHost(
                Validation.host, pins: pins, backup: .noneAccepted,
                anchors: .only([try Certificate(der: root.certificate.der)]))
        ])
        return try TLSClient().connect(
            to: try HandshakeTarget(
                host: Validation.host, connectTo: ServerEndpoint(host: try ServerName("127.0.0.1"), port: port)),
            checking: policy)
    }
}

extension TLSVersion {
    fileprivate var nginxName: String { self == .v1_2 ? "TLSv1.2" : "TLSv1.3" }
    fileprivate var opensslOption: String { self == .v1_2 ? "-tls1_2" : "-tls1_3" }
}
