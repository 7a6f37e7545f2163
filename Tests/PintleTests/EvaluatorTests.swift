import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// For callers with a TLS stack of their own; the paths are the test's.
@Suite("Evaluator and pinner")
struct EvaluatorTests {
    private let chain = TestChain()
    private let spare = TestChain.spare().description

    private func pinner(_ chain: TestChain, outcome: PathOutcome? = nil) throws -> PublicKeyPinner {
        let outcome = outcome ?? .valid(self.chain.path)
        return try PublicKeyPinner(pins: [chain.keyPin(0).description], backupPins: [spare]) { _ in outcome }
    }

    private func reason(_ pinner: PublicKeyPinner, host: String = "a.example") throws -> String {
        try pinner.validate(chain.presented, host: host, at: DecisionScene.now).reason
    }

    @Test("The evaluator gives the decision of its policy, with what led to it")
    func evaluator() throws {
        let policy = try PinningPolicy(hosts: [
            PinnedHost("a.example", pins: [chain.keyPin(0)], backupPins: [TestChain.spare()])
        ])
        let path = chain.path
        let evaluator = ServerTrustEvaluator(policy: policy) { _ in .valid(path) }
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let evaluation = evaluator.evaluate(server, presented: chain.presented, at: DecisionScene.now)
        #expect(evaluation.decision.reason == "pin-matched")
        #expect(evaluation.path == path)
        #expect(evaluation.rule?.pattern == "a.example")
        let other = evaluator.evaluate(server, presented: [], at: DecisionScene.now)
        #expect(other.decision.reason == "invalid-path")
    }

    @Test("What a person has approved by then counts, for hosts without a rule of a policy that asks")
    func approvals() throws {
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let leaf = try Certificate(der: chain.certificates[0])
        let approval = try TrustApproval(.certificate(leaf.fingerprint), for: server, at: DecisionScene.now)
        let path = chain.path
        func reason(_ hosts: PinningPolicy.UnpinnedHosts, _ approvals: TrustApprovals) throws -> String {
            let policy = try PinningPolicy(hosts: [], unpinnedHosts: hosts)
            return ServerTrustEvaluator(policy: policy, approvals: { approvals }, validate: { _ in .valid(path) })
                .evaluate(server, presented: chain.presented, at: DecisionScene.now).decision.reason
        }
        #expect(try reason(.askUser, TrustApprovals([approval])) == "user-approved")
        #expect(try reason(.askUser, .none) == "unknown-host")
        #expect(try reason(.reject, TrustApprovals([approval])) == "host-not-allowed")
    }

    @Test("A pinner matches its pins on the path of any host, and nothing else")
    func pins() throws {
        let own = try pinner(chain)
        #expect(try reason(own) == "pin-matched")
        #expect(try reason(own, host: "192.0.2.1") == "pin-matched")
        #expect(try reason(try pinner(TestChain(1))) == "pin-mismatch")
        #expect(throws: ServerNameError.self) { try reason(own, host: "a b") }
    }

    @Test("A pin makes no invalid path acceptable: what was sent is never compared")
    func pathFirst() throws {
        #expect(try reason(try pinner(chain, outcome: .expired)) == "invalid-path")
        // Another path was validated than the one that the server showed certificates of.
        #expect(try reason(try pinner(chain, outcome: .valid(TestChain(1).path))) == "pin-mismatch")
        #expect(try reason(try pinner(chain)) == "pin-matched")
    }

    @Test("Validation is asked about the host that the caller names, with the anchors of the pinner")
    func request() throws {
        let root = try Certificate(der: chain.certificates[2])
        let pinner = try PublicKeyPinner(
            pins: [chain.keyPin(0).description], backupPins: [spare], anchors: .only([root])
        ) { request in
            request.host.description == "a.example" && request.anchors == .only([root])
                && request.instant == DecisionScene.now && request.chain.certificates.count == 2
                ? .valid(ValidatedPath(uncheckedLeafToAnchor: request.chain.certificates.map(\.der))) : .selfSigned
        }
        #expect(try reason(pinner) == "pin-matched")
        #expect(try reason(pinner, host: "b.example") == "invalid-path")
    }

    @Test(
        "A pinner without pins or without a backup is not made",
        arguments: [
            ([], [], "no-pins"), (["sha256/AAAA"], [TestChain.spare().description], "wrong-pin-length"),
            ([TestChain().keyPin(0).description], [], "no-backup-pin"),
        ])
    func mistakes(_ pins: [String], _ backupPins: [String], _ id: String) {
        let error = #expect(throws: PolicyError.self) {
            try PublicKeyPinner(pins: pins, backupPins: backupPins) { _ in .selfSigned }
        }
        #expect(error?.problems.map(\.id) == [id])
    }

    @Test("The risk of having no backup can be accepted")
    func noBackup() throws {
        let path = chain.path
        let pinner = try PublicKeyPinner(pins: [chain.keyPin(0).description], backup: .noneAccepted) { _ in .valid(path)
        }
        #expect(try reason(pinner) == "pin-matched")
    }
}
