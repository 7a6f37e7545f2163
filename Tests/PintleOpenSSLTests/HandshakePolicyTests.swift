import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

@Suite("The policy before the handshake")
struct HandshakePolicyTests {
    @Test("A host that the policy does not allow is not connected to")
    func notAllowed() throws {
        let root = try CertificateAuthority.root()
        let server = try LoopbackTLSServer(
            TLSServerConfiguration(.init(root.issue(hosts: [Validation.host, "other.example.test"]))))
        let policy = try PinningPolicy(
            hosts: [
                PinnedHost(
                    Validation.host, pins: [Validation.pin(root.certificate)], backup: .noneAccepted,
                    anchors: .only([try Certificate(der: root.certificate.der)]))
            ],
            unpinnedHosts: .reject)
        let machine = try ServerEndpoint(host: "127.0.0.1", port: server.port)
        func decision(_ host: String) throws -> TrustDecision {
            try TLSClient().connect(to: HandshakeTarget(host: host, connectTo: machine), checking: policy)
                .evaluation.decision
        }
        #expect(try decision("other.example.test").summary == "host-not-allowed")
        #expect(try decision(Validation.host).summary == "pin-matched")
        #expect(server.waitUntilClosed())
        #expect(server.serverNames == [Validation.host])
    }

    @Test(
        "An address that the system maps to this machine is refused before the connection",
        arguments: [("0.0.0.0", "127.0.0.1"), ("::ffff:127.0.0.1", "127.0.0.1"), ("::", "::1")])
    func alias(_ alias: String, _ address: String) throws {
        let root = try CertificateAuthority.root()
        let server = try LoopbackTLSServer(root.issue(hosts: ["127.0.0.1", "::1", alias]))
        let rules = try ["127.0.0.1", "::1"].map { host in
            try PinnedHost(
                host, pins: [Validation.pin(root.certificate)], backup: .noneAccepted,
                anchors: .only([Certificate(der: root.certificate.der)]))
        }
        let machine = try ServerEndpoint(host: "127.0.0.1", port: server.port)
        let client = try TLSClient()
        let validator = PathValidator(
            system: SystemAnchors(replacedBy: [try Certificate(der: root.certificate.der)]))
        for hosts in [PinningPolicy.UnpinnedHosts.systemTrust, .reject, .askUser] {
            let policy = try PinningPolicy(hosts: rules, unpinnedHosts: hosts)
            for connectTo in [nil, machine] {
                let target = try HandshakeTarget(host: alias, port: server.port, connectTo: connectTo)
                let error = #expect(throws: HandshakeError.self) {
                    try client.connect(to: target, checking: policy, validator: validator)
                }
                #expect(error?.code == .invalidHost)
                #expect(error?.isBeforeCertificate == true)
            }
        }
        #expect(server.connectionCount == 0)
        let twin = try HandshakeTarget(host: address, port: server.port, connectTo: machine)
        let connection = try client.connect(
            to: twin, checking: PinningPolicy(hosts: rules), validator: validator)
        #expect(connection.evaluation.decision.summary == "pin-matched")
    }

    @Test("A proxy without remote DNS receives no name, not even for an address with a scope")
    func scopedAddress() throws {
        let name = try ServerEndpoint(host: "printer.example.test", port: 443)
        let octets: [UInt8] = [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1]
        for scope in [0, 1] {
            let address = SocketAddress(ipv6: octets, scope: UInt32(scope))
            #expect(address.numericHost?.contains("%") == (scope != 0))
            #expect(try ProxyTunnel.address(of: name, at: [address]) == [4] + octets)
        }
        let error = #expect(throws: HandshakeError.self) { try ProxyTunnel.address(of: name, at: []) }
        #expect(error?.code == .nameNotResolved)
    }
}

extension SocketAddress {
    fileprivate init(ipv6 octets: [UInt8], scope: UInt32) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_scope_id = scope
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: octets) }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in6.self) }
        self.init(storage, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
    }
}
