import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// The calls of another TLS library's callback: it passes the presented chain, and real paths are validated.
@Suite("Evaluator on real paths")
struct ServerTrustEvaluatorTests {
    private let root: CertificateAuthority
    private let identity: Identity
    private let stranger: Identity

    init() throws {
        root = try .root()
        identity = try root.intermediate().issue(hosts: [Validation.host])
        stranger = try root.intermediate(name: "Other").issue(hosts: [Validation.host])
    }

    private func evaluator(_ pinned: Identity) throws -> ServerTrustEvaluator {
        let policy = try PinningPolicy {
            try PinnedHost(
                Validation.host, pins: [Validation.pin(pinned.certificate)], backup: .noneAccepted,
                anchors: .only([try Certificate(der: root.certificate.der)]))
        }
        return ServerTrustEvaluator(policy: policy)
    }

    private func summary(_ evaluator: ServerTrustEvaluator, _ presented: [[UInt8]], at instant: Date = Date()) throws
        -> String
    {
        let server = ServerEndpoint(host: try ServerName(Validation.host))
        return evaluator.evaluate(server, presented: presented, at: instant).decision.summary
    }

    @Test("Path, name, date and pin are judged, and pins are not compared with certificates outside of the path")
    func judges() throws {
        let evaluator = try evaluator(identity)
        #expect(try summary(evaluator, identity.chain) == "pin-matched")
        #expect(try summary(evaluator, stranger.chain) == "pin-mismatch")
        // The genuine certificate after a foreign chain.
        #expect(try summary(evaluator, stranger.chain + [identity.certificate.der]) == "pin-mismatch")
        #expect(try summary(evaluator, identity.chain, at: Date() + 400 * 86_400) == "invalid-path expired")
        #expect(try summary(evaluator, [identity.certificate.der]) == "invalid-path untrusted-root")
        #expect(try summary(evaluator, []) == "invalid-path empty-chain")
        #expect(try summary(evaluator, [[1, 2, 3]]) == "invalid-path malformed-certificate")
        let foreign = try CertificateAuthority.root().issue(hosts: [Validation.host])
        #expect(try summary(try self.evaluator(foreign), foreign.chain) == "invalid-path untrusted-root")
    }

    @Test("The pinner gives the same verdicts")
    func pinner() throws {
        let anchors = TrustAnchors.only([try Certificate(der: root.certificate.der)])
        let pin = try Validation.pin(identity.certificate).description
        let pinner = try PublicKeyPinner(pins: [pin], backup: .noneAccepted, anchors: anchors)
        func summary(_ presented: [[UInt8]], host: String = Validation.host) throws -> String {
            try pinner.validate(presented, host: host, at: Date()).summary
        }
        #expect(try summary(identity.chain) == "pin-matched")
        #expect(try summary(stranger.chain + [identity.certificate.der]) == "pin-mismatch")
        #expect(try summary(identity.chain, host: "other.example.test") == "invalid-path name-mismatch")
        let system = try PublicKeyPinner(pins: [pin], backup: .noneAccepted)
        #expect(
            try system.validate(identity.chain, host: Validation.host, at: Date()).summary
                == "invalid-path untrusted-root")
    }

    #if DEBUG
    @Test("A debug anchor permits a developer's proxy only for valid names and dates")
    func debugAnchors() throws {
        let proxy = try CertificateAuthority.root(name: "Proxy")
        let shown = try proxy.issue(hosts: [Validation.host])
        let evaluator = try evaluator(identity)
        let debugged = ServerTrustEvaluator(
            policy: evaluator.policy.trusting(debugAnchors: [try Certificate(der: proxy.certificate.der)]))
        #expect(try summary(evaluator, shown.chain) == "invalid-path untrusted-root")
        #expect(try summary(debugged, shown.chain) == "host-not-pinned")
        #expect(try summary(debugged, stranger.chain) == "pin-mismatch")
        #expect(try summary(debugged, identity.chain) == "pin-matched")
        #expect(try summary(debugged, shown.chain, at: Date() + 400 * 86_400) == "invalid-path expired")
        let other = try proxy.issue(hosts: ["other.example.test"])
        #expect(try summary(debugged, other.chain) == "invalid-path name-mismatch")
    }
    #endif
}
