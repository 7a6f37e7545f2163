import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL

@Suite("Evaluators are prepared before the first connection")
struct EvaluatorPreparationTests {
    private let root: CertificateAuthority
    private let identity: Identity
    private let server: ServerEndpoint

    init() throws {
        root = try .root()
        identity = try root.intermediate().issue(hosts: [Validation.host])
        server = ServerEndpoint(host: try ServerName(Validation.host))
    }

    private func policy(
        _ anchors: TrustAnchors, unpinned: PinningPolicy.UnpinnedHosts = .reject
    ) throws -> PinningPolicy {
        let pin = try Validation.pin(identity.certificate)
        return try PinningPolicy(
            hosts: [
                PinnedHost(Validation.host, pins: [pin], backup: .noneAccepted, anchors: anchors),
                PinnedHost("other.example.test", pins: [pin], backup: .noneAccepted, anchors: anchors),
            ], unpinnedHosts: unpinned)
    }

    @Test("prepare makes the stores that the policy's verdicts need, and no others")
    func stores() throws {
        let own = TrustAnchors.only([try Certificate(der: root.certificate.der)])
        for (policy, count) in [
            (try policy(own), 1), (try policy(.system), 1), (try policy(own, unpinned: .systemTrust), 2),
        ] {
            let system = SystemAnchors(replacedBy: [try Certificate(der: root.certificate.der)])
            let evaluator = ServerTrustEvaluator(source: policy, validator: PathValidator(system: system))
            #expect(system.readyStores == 0)
            evaluator.prepare()
            #expect(system.readyStores == count)
            evaluator.prepare()
            let verdict = evaluator.evaluate(server, presented: identity.chain, at: Date())
            #expect(verdict.decision.summary == "pin-matched")
            #expect(system.readyStores == count)
        }
    }

    @Test("prepare follows the policy's source")
    func change() throws {
        let live = LivePolicy(try policy(.system))
        let system = SystemAnchors(replacedBy: [])
        let evaluator = ServerTrustEvaluator(source: live, validator: PathValidator(system: system))
        evaluator.prepare()
        #expect(
            evaluator.evaluate(server, presented: identity.chain, at: Date()).decision.summary
                == "invalid-path untrusted-root")
        live.replace(with: try policy(.only([try Certificate(der: root.certificate.der)])))
        evaluator.prepare()
        #expect(system.readyStores == 2)
        let evaluation = evaluator.evaluate(server, presented: identity.chain, at: Date())
        #expect(evaluation.decision.summary == "pin-matched")
        #expect(evaluation.receipt?.generation == live.current.generation)
    }

    @Test("An anchor that OpenSSL cannot use is the verdict's failure, not prepare's")
    func unusable() throws {
        let named = try Certificate(der: root.certificate.der)
        let system = SystemAnchors(replacedBy: [])
        let validator = PathValidator(system: system)
        let unknown = try PinningPolicy(hosts: [], unpinnedHosts: .systemTrust)
        validator.prepare(for: unknown)
        #expect(system.readyStores == 1)
        let verdict = ServerTrustEvaluator(source: unknown, validator: validator)
            .evaluate(server, presented: identity.chain + [named.der], at: Date())
        #expect(verdict.decision.summary == "invalid-path untrusted-root")
    }
}
