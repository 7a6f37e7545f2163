import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests the types for callers with their own TLS stack. The paths come from the tests.
@Suite("Evaluator and pinner")
struct EvaluatorTests {
    private let chain = TestChain()
    private let spare = TestChain.spare().description

    private func pinner(_ chain: TestChain, outcome: PathOutcome? = nil) throws -> PublicKeyPinner {
        let outcome = outcome ?? .valid(self.chain.path)
        return try PublicKeyPinner(pins: [chain.keyPin(0).description], backupPins: [spare]) { _ in outcome }
    }

    private func reason(_ pinner: PublicKeyPinner, host: String = "a.example") throws -> String {
        try pinner.validate(chain.presented, host: host, at: DecisionFixture.now).reason
    }

    @Test("The evaluator returns its policy's decision with the data behind it")
    func evaluator() throws {
        let policy = try PinningPolicy(hosts: [
            PinnedHost("a.example", pins: [chain.keyPin(0)], backupPins: [TestChain.spare()])
        ])
        let path = chain.path
        let evaluator = ServerTrustEvaluator(policy: policy) { _ in .valid(path) }
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let evaluation = evaluator.evaluate(server, presented: chain.presented, at: DecisionFixture.now)
        #expect(evaluation.decision.reason == "pin-matched")
        #expect(evaluation.path == path)
        #expect(evaluation.rule?.pattern == "a.example")
        let other = evaluator.evaluate(server, presented: [], at: DecisionFixture.now)
        #expect(other.decision.reason == "invalid-path")
        #expect(evaluation.decision.isTrusted && !other.decision.isTrusted)
        #expect(evaluator.policy.hosts == policy.hosts)
        // Without a source the generation never changes.
        #expect(evaluation.receipt?.generation == 1 && policy.current.generation == 1)
        let presented = chain.presented
        let direct = policy.evaluate(server, presented: presented, at: DecisionFixture.now) { _ in .valid(path) }
        #expect(direct.receipt?.generation == 1)
    }

    @Test("An event names the rule that decided, and the error of a refusal names its remedy")
    func remedy() throws {
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let policy = try PinningPolicy(hosts: [
            PinnedHost("a.example", pins: [TestChain(1).keyPin(0)], backup: .noneAccepted)
        ])
        let path = chain.path
        let refused = policy.evaluate(server, presented: chain.presented, at: DecisionFixture.now) { _ in .valid(path) }
        let empty = try PinningPolicy(hosts: [])
        #expect(VerdictEvent(refused, by: empty, at: DecisionFixture.now)?.rule == refused.rule)
        guard case .rejected(let rejection) = refused.decision else {
            Issue.record("\(refused)")
            return
        }
        #expect(rejection.errorText.contains("add one of the served pins to the rule for a.example"))
    }

    /// A source whose snapshot is another one each time that it is read.
    private final class Changing: PolicySource {
        let reads = Locked(UInt64(0))
        let policies: [PinningPolicy]

        init(_ policies: [PinningPolicy]) {
            self.policies = policies
        }

        var current: PolicySnapshot {
            let number = reads.withLock { reads in
                reads += 1
                return reads
            }
            return PolicySnapshot(policy: policies[Int(number - 1) % policies.count], generation: number)
        }
    }

    @Test("An evaluator made from a source reads it once for each verdict, whose receipt has that generation")
    func source() throws {
        let (own, other) = (chain.keyPin(0), TestChain.spare())
        let source = Changing(
            try [own, other].map { pin in
                try PinningPolicy(hosts: [PinnedHost("a.example", pins: [pin], backup: .noneAccepted)])
            })
        let path = chain.path
        let failures = Locked<[String]>([])
        let evaluator = ServerTrustEvaluator(source: source) { _ in .valid(path) }
            .onFailure { failure in failures.withLock { $0.append("\(failure.generation) \(failure.reason)") } }
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let evaluations = (0..<4).map { _ in
            evaluator.evaluate(server, presented: chain.presented, at: DecisionFixture.now)
        }
        #expect(
            evaluations.map(\.decision.reason) == ["pin-matched", "pin-mismatch", "pin-matched", "pin-mismatch"])
        #expect(evaluations.map(\.receipt?.generation) == [1, nil, 3, nil])
        #expect(failures.withLock { $0 } == ["2 pin-mismatch", "4 pin-mismatch"])
        #expect(source.reads.withLock { $0 } == 4)
    }

    @Test("Each handler gets an event once for each way to ask an evaluator, and for a refusal without a chain")
    func handlers() throws {
        let (pinned, other) = (chain.keyPin(0), TestChain.spare())
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let path = chain.path
        for (pin, reasons) in [(pinned, ["emptied"]), (other, ["pin-mismatch", "pin-mismatch", "emptied"])] {
            let policy = try PinningPolicy(hosts: [PinnedHost("a.example", pins: [pin], backup: .noneAccepted)])
            let (first, second) = (Locked<[String]>([]), Locked<[String]>([]))
            @Sendable func note(_ log: Locked<[String]>, _ event: VerdictEvent) {
                let isEmptied = event.evaluation.presented == nil && event.rule != nil
                log.withLock { $0.append(isEmptied ? "emptied" : event.reason) }
            }
            let evaluator = ServerTrustEvaluator(policy: policy) { _ in .valid(path) }
                .onFailure { note(first, $0) }.onFailure { note(second, $0) }
            _ = evaluator.evaluate(server, presented: chain.presented, at: DecisionFixture.now)
            _ = evaluator.evaluate(server, presented: chain.presented, at: DecisionFixture.now) { _ in .valid(path) }
            let refusal = PathFailure(.emptyChain, text: "no certificate")
            #expect(
                evaluator.refuse(server, refusal, at: DecisionFixture.now).decision.reason == "invalid-path")
            #expect(first.withLock { $0 } == reasons && second.withLock { $0 } == reasons)
        }
    }

    @Test("prepare passes the policy in force to the validation")
    func preparation() throws {
        let source = Changing([
            try PinningPolicy(hosts: []),
            try PinningPolicy(hosts: [PinnedHost("a.example", pins: [chain.keyPin(0)], backup: .noneAccepted)]),
        ])
        let prepared = Locked<[Int]>([])
        let path = chain.path
        let evaluator = ServerTrustEvaluator(source: source) { _ in
            .valid(path)
        } prepare: { policy in
            prepared.withLock { $0.append(policy.hosts.count) }
        }
        evaluator.prepare()
        evaluator.prepare()
        #expect(prepared.withLock { $0 } == [0, 1])
    }

    @Test("The evaluator takes approvals into account for hosts without a rule, if the policy asks the user")
    func approvals() throws {
        let server = ServerEndpoint(host: try ServerName("a.example"))
        let leaf = try Certificate(der: chain.certificates[0])
        let approval = try TrustApproval(.certificate(leaf.fingerprint), for: server, at: DecisionFixture.now)
        let path = chain.path
        func reason(_ hosts: PinningPolicy.UnpinnedHosts, _ approvals: TrustApprovals) throws -> String {
            let policy = try PinningPolicy(hosts: [], unpinnedHosts: hosts)
            return ServerTrustEvaluator(policy: policy, approvals: { approvals }, validate: { _ in .valid(path) })
                .evaluate(server, presented: chain.presented, at: DecisionFixture.now).decision.reason
        }
        #expect(try reason(.askUser, TrustApprovals([approval])) == "user-approved")
        #expect(try reason(.askUser, .none) == "unknown-host")
        #expect(try reason(.reject, TrustApprovals([approval])) == "host-not-allowed")
    }

    @Test("A pinner matches only its pins, on the path of any host")
    func pins() throws {
        let own = try pinner(chain)
        #expect(try reason(own) == "pin-matched")
        #expect(try reason(own, host: "192.0.2.1") == "pin-matched")
        #expect(try reason(try pinner(TestChain(1))) == "pin-mismatch")
        #expect(throws: ServerNameError.self) { try reason(own, host: "a b") }
    }

    @Test("A pin never makes an invalid path acceptable: certificates that were only sent are not compared")
    func pathFirst() throws {
        #expect(try reason(try pinner(chain, outcome: .expired)) == "invalid-path")
        // Validation built another path than the one that the server sent.
        #expect(try reason(try pinner(chain, outcome: .valid(TestChain(1).path))) == "pin-mismatch")
        #expect(try reason(try pinner(chain)) == "pin-matched")
    }

    @Test("A pinner validates for the host that the caller names, with its own anchors")
    func request() throws {
        let root = try Certificate(der: chain.certificates[2])
        let pinner = try PublicKeyPinner(
            pins: [chain.keyPin(0).description], backupPins: [spare], anchors: .only([root])
        ) { request in
            request.host.description == "a.example" && request.anchors == .only([root])
                && request.instant == DecisionFixture.now && request.chain.certificates.count == 2
                ? .valid(ValidatedPath(uncheckedLeafToAnchor: request.chain.certificates.map(\.der))) : .selfSigned
        }
        #expect(try reason(pinner) == "pin-matched")
        #expect(try reason(pinner, host: "b.example") == "invalid-path")
    }

    @Test(
        "A pinner needs a pin and a backup",
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

    @Test("A pinner without a backup is possible if the caller accepts the risk")
    func noBackup() throws {
        let path = chain.path
        let pinner = try PublicKeyPinner(pins: [chain.keyPin(0).description], backup: .noneAccepted) { _ in .valid(path)
        }
        #expect(try reason(pinner) == "pin-matched")
    }
}
