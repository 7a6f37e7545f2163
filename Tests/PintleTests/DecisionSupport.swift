@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A policy, a server and a fake validation with outcomes set by the test. It records the requests to the validation.
struct DecisionFixture {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    var policy: PinningPolicy
    var endpoint: ServerEndpoint
    var presented: [[UInt8]]
    var outcome: PathOutcome
    /// The outcome of validating the leaf as its own anchor.
    var leafOutcome: PathOutcome
    var approvals = TrustApprovals.none
    var instant = Self.now
    var newestKnownTime: Date?

    /// Creates a fixture with a valid chain for `host`.
    init(_ policy: PinningPolicy, host: String, port: UInt16 = 443, chain: TestChain = TestChain()) throws {
        self.policy = policy
        endpoint = ServerEndpoint(host: try ServerName(host), port: port)
        presented = chain.presented
        outcome = .valid(chain.path)
        leafOutcome = .valid(ValidatedPath(uncheckedLeafToAnchor: [chain.certificates[0]]))
    }

    /// Returns the verdict and the requests that validation received.
    func run() -> (evaluation: TrustEvaluation, requests: [PathRequest]) {
        var requests: [PathRequest] = []
        let evaluation = policy.evaluate(
            endpoint, presented: presented, approvals: approvals, at: instant, newestKnownTime: newestKnownTime
        ) { request in
            requests.append(request)
            return request.anchors == .only([request.chain.leaf]) ? leafOutcome : outcome
        }
        return (evaluation, requests)
    }

    /// Returns the verdict as text, such as `trusted pin-matched` or `rejected invalid-path expired`.
    func verdict() -> String {
        switch run().evaluation.decision {
        case .trusted(let basis): "trusted " + basis.reason
        case .rejected(let rejection):
            "rejected " + rejection.reason + (rejection.pathFailure.map { " " + $0.code.rawValue } ?? "")
        }
    }

    func with(_ change: (inout DecisionFixture) -> Void) -> DecisionFixture {
        var fixture = self
        change(&fixture)
        return fixture
    }
}

extension PathOutcome {
    static let expired = PathOutcome.invalid(PathFailure(.expired, depth: 0, text: "the certificate has expired"))
    static let selfSigned = PathOutcome.invalid(PathFailure(.selfSigned, depth: 0, text: "it signs itself"))
}

extension TrustEvaluation {
    var mismatch: PinMismatch? {
        switch decision {
        case .rejected(.pinMismatch(let mismatch)), .trusted(.mismatchReportedOnly(let mismatch)): mismatch
        default: nil
        }
    }

    var match: PinMatch? {
        if case .trusted(.pinMatched(let match)) = decision { match } else { nil }
    }
}

extension TrustDecision {
    var pathFailure: PathFailure? {
        if case .rejected(let rejection) = self { rejection.pathFailure } else { nil }
    }
}
