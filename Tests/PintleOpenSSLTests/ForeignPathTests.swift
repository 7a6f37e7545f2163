import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTLSClient
import PintleTestKit
import Testing

/// An interceptor with a certificate from an authority that this machine trusts.
///
///     interceptor's leaf <- interceptor's root (trusted)      genuine leaf, also sent: pinned, but not on the path
@Suite("Pinned certificates outside of the path")
struct ForeignPathTests {
    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority
    private let genuine: Identity
    private let interceptor: Identity
    private let interceptorRoot: CertificateAuthority
    private static let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)

    init() throws {
        root = try .root(name: "Genuine Root")
        intermediate = try root.intermediate()
        genuine = try intermediate.issue(hosts: [Validation.host])
        interceptorRoot = try .root(name: "Interceptor")
        interceptor = try interceptorRoot.issue(hosts: [Validation.host])
    }

    @Test(
        "A pinned certificate that is sent outside of the path does not count", arguments: [0, 1], [false, true])
    func appended(above depth: Int, isLast: Bool) throws {
        let pinned = genuine.chain[depth]
        let sent = isLast ? interceptor.chainWithRoot + [pinned] : [interceptor.certificate.der, pinned]
        let pin = Pin(.publicKey(try Certificate(der: pinned).publicKeyPin))
        #expect(try judge(sent, interceptor.key, pins: [pin]) == "pin-mismatch")
        // Counter-check: the same server and extra certificate, with the interceptor's own key pinned.
        let own = try Validation.pin(interceptor.certificate)
        #expect(try judge(sent, interceptor.key, pins: [own]) == "pin-matched")
    }

    @Test("The genuine server is trusted even if it sends extra certificates")
    func genuineServer() throws {
        let pin = try Validation.pin(genuine.certificate)
        #expect(try judge(genuine.chain, genuine.key, pins: [pin]) == "pin-matched")
        #expect(try judge(genuine.chain + [interceptor.certificate.der], genuine.key, pins: [pin]) == "pin-matched")
        let strange = try Validation.pin(interceptor.certificate)
        #expect(
            try judge(genuine.chain + [interceptor.certificate.der], genuine.key, pins: [strange]) == "pin-mismatch")
    }

    /// Returns the reason of a real handshake. A refused server reads no byte, and a trusted one reads the request.
    private func judge(_ chain: [[UInt8]], _ key: PrivateKey, pins: [Pin]) throws -> String {
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(chain: chain, key: key)))
        let anchors = try [root, interceptorRoot].map { try Certificate(der: $0.certificate.der) }
        let policy = try PinningPolicy(hosts: [
            PinnedHost(Validation.host, pins: pins, backup: .noneAccepted, anchors: .only(anchors))
        ])
        let target = try HandshakeTarget(
            host: Validation.host, connectTo: ServerEndpoint(host: try ServerName("127.0.0.1"), port: server.port))
        let outcome = try TLSClient().connect(to: target, checking: policy)
        if case .trusted(let connection, _) = outcome {
            try connection.write(Self.request)
            _ = try connection.readAll()
            connection.close()
        }
        #expect(server.waitUntilClosed())
        let isTrusted = outcome.evaluation.decision.isTrusted
        #expect(server.requestByteCount == (isTrusted ? Self.request.count : 0))
        #expect(server.completedHandshakeCount == (isTrusted ? 1 : 0))
        #expect(server.alertsReceived.filter(\.isFatal).map(\.name) == (isTrusted ? [] : ["certificate_unknown"]))
        return outcome.evaluation.decision.reason
    }

    @Test("The rule is that of the requested host, whatever names the certificate has")
    func ruleByHost() throws {
        let (pinned, free) = ("pinned.example.test", "free.example.test")
        let policy = try PinningPolicy(hosts: [
            PinnedHost(pinned, pins: [try Validation.pin(genuine.certificate)], backup: .noneAccepted)
        ])
        let validator = PathValidator(
            system: SystemAnchors(replacedBy: [try Certificate(der: interceptorRoot.certificate.der)]))
        func reason(_ host: String, names: [String], commonName: String) throws -> String {
            let leaf = try interceptorRoot.issue(hosts: names) { $0.subject = .commonName(commonName) }
            return policy.evaluate(
                ServerEndpoint(host: try ServerName(host)), presented: leaf.chain, at: .now,
                validate: validator.validate
            ).decision.summary
        }
        for (names, commonName) in [([pinned, free], pinned), ([free, pinned], free), (["*.example.test"], free)] {
            #expect(try reason(pinned, names: names, commonName: commonName) == "pin-mismatch")
            #expect(try reason(free, names: names, commonName: commonName) == "host-not-pinned")
        }
        #expect(try reason(pinned, names: [free], commonName: pinned) == "invalid-path name-mismatch")
        #expect(try reason(free, names: [pinned], commonName: free) == "invalid-path name-mismatch")
    }
}
