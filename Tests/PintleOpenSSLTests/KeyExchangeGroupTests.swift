import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

@Suite("Groups of the key exchange")
struct KeyExchangeGroupTests {
    private let root: PintleTestKit.CertificateAuthority
    private let identity: Identity

    init() throws {
        root = try CertificateAuthority.root()
        identity = try root.issue(hosts: ["localhost"], keyType: .rsa2048)
    }

    private func group(port: UInt16) throws -> KeyExchangeGroup? {
        let policy = try PinningPolicy(
            hosts: [
                PinnedHost(
                    "localhost", pins: [Validation.pin(root.certificate)], backup: .noneAccepted,
                    anchors: .only([Certificate(der: root.certificate.der)]))
            ])
        let target = try HandshakeTarget(
            host: "localhost", connectTo: ServerEndpoint(host: "127.0.0.1", port: port))
        guard case .trusted(let connection, _) = try TLSClient().connect(to: target, checking: policy) else {
            Issue.record("the server was refused")
            return nil
        }
        return connection.tls.group
    }

    @Test(
        "A connection names the group of its key exchange, in both versions of TLS",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13],
        [("X25519", "x25519"), ("P-256", "secp256r1"), ("P-384", "secp384r1")])
    func named(_ version: LoopbackTLSServer.Version, _ group: (choice: String, name: String)) throws {
        let server = try LoopbackTLSServer(identity) {
            $0.versions = version...version
            $0.groups = group.choice
        }
        let negotiated = try #require(try self.group(port: server.port))
        #expect(negotiated.name == group.name)
        #expect(!negotiated.isHybrid)
    }

    @Test("A key exchange with RSA has no group, and one with a curve has one")
    func withoutGroup() throws {
        for (cipher, group) in [("AES128-GCM-SHA256", nil), ("ECDHE-RSA-AES128-GCM-SHA256", "secp256r1")] {
            let server = try SServer(identity, ["-tls1_2", "-cipher", cipher, "-groups", "P-256"])
            #expect(try self.group(port: server.port)?.name == group)
        }
    }

    @Test("A server that knows hybrid groups negotiates one, and a server with X25519 only does not")
    func hybrid() throws {
        let server = try LoopbackTLSServer(identity)
        #expect(try group(port: server.port)?.isHybrid == TLSClient.offersHybridGroup)
        let classical = try LoopbackTLSServer(identity) { $0.groups = "X25519" }
        #expect(try group(port: classical.port) == KeyExchangeGroup("x25519"))
    }

    @Test("The client offers a hybrid group from OpenSSL 3.5 on, and not before")
    func offer() {
        let numbers = openSSLVersion.split(separator: ".").compactMap { Int($0) }
        #expect(TLSClient.offersHybridGroup == !numbers.lexicographicallyPrecedes([3, 5]))
    }

    @Test("Only the groups of ML-KEM with a classical group are hybrid")
    func names() {
        for name in ["X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"] {
            #expect(KeyExchangeGroup(name).isHybrid)
        }
        for name in ["x25519", "secp256r1", "MLKEM768", "X25519Kyber768Draft00", "", "x25519mlkem768"] {
            #expect(!KeyExchangeGroup(name).isHybrid)
        }
    }

    @Test("Groups are read from a ClientHello, and a part of one is read without a trap")
    func clientHello() {
        let groups: [UInt8] = [0, 10, 0, 6, 0, 4, 0x11, 0xEC, 0, 29]
        let extensions: [UInt8] = [0, 23, 0, 0] + groups
        let hello =
            [UInt8](repeating: 0, count: 43) + [1, 7] + [0, 2, 0x13, 1] + [1, 0] + [0, UInt8(extensions.count)]
            + extensions
        #expect(TLSClient.supportedGroups(ofClientHello: hello) == [4_588, 29])
        #expect(TLSClient.supportedGroups(ofClientHello: hello.dropLast(groups.count) + []) == [])
        for count in hello.indices { _ = TLSClient.supportedGroups(ofClientHello: Array(hello.prefix(count))) }
        #expect(TLSClient.supportedGroups(ofClientHello: Array(repeating: 0xFF, count: 2_000)) == [])
    }
}
