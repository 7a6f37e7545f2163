import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// The events of an evaluator's handlers. An app that sees no event believes that its pins are right, and enforces
/// them.
@Suite("Apple: events of an evaluator")
struct EvaluatorEventTests {
    /// The ways to ask an evaluator.
    enum Way: CaseIterable {
        case presented, trust, challenge, asyncTrust, asyncChallenge
    }

    private static let server = (try? ServerName("localhost")).map { ServerEndpoint(host: $0, port: 8_443) }

    /// Asks an evaluator about a chain of localhost, and returns the reason of the verdict.
    private static func ask(_ evaluator: ServerTrustEvaluator, _ way: Way, _ chain: [[UInt8]]) async throws -> String? {
        let challenge = try SessionFixture.challenge(chain, port: 8_443)
        let trust = try #require(challenge.protectionSpace.serverTrust)
        let server = try #require(server)
        return switch way {
        case .presented: evaluator.evaluate(server, presented: chain, at: Date()).decision.reason
        case .trust: synchronously { evaluator.evaluate(server, trust, at: Date()).decision.reason }
        case .challenge: synchronously { evaluator.evaluate(challenge).evaluation?.decision.reason }
        case .asyncTrust: await evaluator.evaluate(server, trust, at: Date()).decision.reason
        case .asyncChallenge: await evaluator.evaluate(challenge).evaluation?.decision.reason
        }
    }

    /// Calls the synchronous one of two methods with the same name.
    private static func synchronously<Value>(_ body: () -> Value) -> Value { body() }

    @Test(
        "A refusal, a mismatch in report-only mode and expired pins are one event each; other verdicts are none",
        arguments: Way.allCases)
    func once(way: Way) async throws {
        let fixture = try SessionFixture()
        let expired = PinExpiry.systemTrust(after: Date(timeIntervalSinceNow: -60))
        let cases: [(policy: PinningPolicy, isKnown: Bool, reason: String, isEvent: Bool)] = [
            (try fixture.policy(), true, "pin-matched", false),
            (try PinningPolicy(hosts: [fixture.rule(rightPin: false)]), true, "pin-mismatch", true),
            (
                try PinningPolicy(hosts: [fixture.rule(rightPin: false, enforcement: .reportOnly)]), true,
                "mismatch-reported-only", true
            ),
            (try PinningPolicy(hosts: [fixture.rule(rightPin: false, expiry: expired)]), true, "pins-expired", true),
            (try fixture.policy(), false, "invalid-path", true),
            (try PinningPolicy(hosts: [], unpinnedHosts: .reject), true, "host-not-allowed", true),
        ]
        for (policy, isKnown, reason, isEvent) in cases {
            let (first, second) = (VerdictLog(), VerdictLog())
            let evaluator = ServerTrustEvaluator(policy: policy).onFailure(first.add).onFailure(second.add)
            let chain = isKnown ? fixture.identity.chain : try SessionFixture().identity.chain
            #expect(try await Self.ask(evaluator, way, chain) == reason)
            #expect(first.lines == (isEvent ? ["localhost:8443 \(reason)"] : []))
            #expect(second.lines == first.lines)
        }
    }

    @Test("An event has the generation of the source and the instant of the verdict", arguments: Way.allCases)
    func generation(way: Way) async throws {
        let fixture = try SessionFixture()
        let policy = LivePolicy(try fixture.policy(rightPin: false))
        let events = Locked<[VerdictEvent]>([])
        let evaluator = ServerTrustEvaluator(source: policy).onFailure { event in events.withLock { $0.append(event) } }
        let before = Date()
        for generation in [UInt64(1), 2] {
            #expect(try await Self.ask(evaluator, way, fixture.identity.chain) == "pin-mismatch")
            #expect(events.withLock { $0.last?.generation } == generation)
            policy.replace(with: try fixture.policy(rightPin: false))
        }
        #expect(events.withLock { $0 }.allSatisfy { $0.instant >= before && $0.rule?.isExact == true })
    }

    @Test("A refusal before any verdict is one event if there is a server to name, and always has a reason")
    func unjudged() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let policy = try fixture.policy(anchors: .system)
        let empty = SecTrust.withoutCertificates()
        let alias = try fixture.root.issue(hosts: ["0.0.0.0"]).chain
        let cases: [(space: URLProtectionSpace, code: PathFailure.Code?, events: [String])] = [
            (.serverTrust(nil, host: "localhost", port: 8_443), .emptyChain, ["localhost:8443 invalid-path"]),
            (.serverTrust(empty, host: "localhost", port: 8_443), .emptyChain, ["localhost:8443 invalid-path"]),
            (
                try SessionFixture.challenge(alias, host: "0.0.0.0", port: 8_443).protectionSpace, .other,
                ["0.0.0.0:8443 invalid-path"]
            ),
            (try SessionFixture.challenge(fixture.identity.chain, host: "a b").protectionSpace, .nameMismatch, []),
            (try SessionFixture.challenge(fixture.identity.chain, port: 8_443).protectionSpace, nil, []),
        ]
        for (space, code, expected) in cases {
            for isAsynchronous in [false, true] {
                let events = VerdictLog()
                let evaluator = ServerTrustEvaluator(policy: policy).onFailure(events.add)
                let challenge = URLAuthenticationChallenge.asked(space)
                let answer =
                    isAsynchronous
                    ? await evaluator.evaluate(challenge) : Self.synchronously { evaluator.evaluate(challenge) }
                #expect(answer.rejection?.pathFailure?.code == code)
                #expect(answer.disposition == (code == nil ? .performDefaultHandling : .cancelAuthenticationChallenge))
                #expect(events.lines == expected)
                // The observer of a delegate gets the evaluation.
                #expect((answer.evaluation == nil) == (code == .nameMismatch))
            }
        }
    }

    @Test("A challenge about a proxy or a password is no event and no verdict")
    func others() async throws {
        let events = VerdictLog()
        let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [], unpinnedHosts: .reject))
            .onFailure(events.add)
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let answer = await evaluator.evaluate(.asked(space))
        #expect(answer.disposition == .performDefaultHandling && answer.evaluation == nil && events.lines.isEmpty)
    }

    @Test("The asynchronous methods evaluate on the package's queue, and the others where they are called")
    @MainActor
    func queues() async throws {
        let fixture = try SessionFixture()
        let queues = Locked<[String?]>([])
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy(rightPin: false)).onFailure { _ in
            queues.withLock { $0.append(OperationQueue.current?.name) }
        }
        for way in [Way.asyncTrust, .asyncChallenge, .trust, .challenge] {
            #expect(try await Self.ask(evaluator, way, fixture.identity.chain) == "pin-mismatch")
        }
        let found = queues.withLock { $0 }
        #expect(found.prefix(2) == ["Pintle.trust", "Pintle.trust"] && !found.dropFirst(2).contains("Pintle.trust"))
    }
}

/// A log of events, one line each.
private final class VerdictLog: Sendable {
    private let kept = Locked<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    @Sendable func add(_ event: VerdictEvent) { kept.withLock { $0.append("\(event.endpoint) \(event.reason)") } }
}
