import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// The decision table: what a challenge is answered with, each refusal beside its accepting twin.
@Suite("Apple: challenges")
struct ChallengeTests {
    @Test("With the system's roots the system answers for itself, with private ones a credential does")
    func trusted() throws {
        for (isSystem, disposition) in [
            (true, URLSession.AuthChallengeDisposition.performDefaultHandling), (false, .useCredential),
        ] {
            let stage = try Stage(isSystem: isSystem)
            let evaluator = ServerTrustEvaluator(policy: try stage.policy(anchors: isSystem ? .system : nil))
            let answer = evaluator.evaluate(try Stage.challenge(stage.identity.chain))
            #expect(answer.disposition == disposition)
            #expect((answer.credential?.trust == nil) == isSystem)
            #expect(answer.rejection == nil)
            #expect(answer.evaluation?.decision.reason == "pin-matched")
            #expect(answer.evaluation?.path?.certificates == stage.identity.chainWithRoot)
        }
    }

    @Test(
        "A wrong pin is refused though the path is good, and the right one though it is bad", arguments: [true, false])
    func both(isSystem: Bool) throws {
        let stage = try Stage(isSystem: isSystem)
        let anchors: TrustAnchors? = isSystem ? .system : nil
        let challenge = try Stage.challenge(stage.identity.chain)
        let mismatch = ServerTrustEvaluator(policy: try stage.policy(rightPin: false, anchors: anchors))
            .evaluate(challenge)
        #expect(mismatch.disposition == .cancelAuthenticationChallenge && mismatch.credential == nil)
        #expect(mismatch.rejection?.reason == "pin-mismatch")
        // The key is the pinned one, the authority nobody's.
        let stranger = try CertificateAuthority.root().issue(key: stage.identity.key)
        let foreign = ServerTrustEvaluator(policy: try stage.policy(anchors: anchors))
            .evaluate(try Stage.challenge(stranger.chain))
        #expect(foreign.disposition == .cancelAuthenticationChallenge && foreign.credential == nil)
        #expect(foreign.rejection?.pathFailure?.code == .untrustedRoot)
        // The root is not among what the server sent.
        #expect(foreign.rejection?.pathFailure?.primary.platformCode == Int(errSecCreateChainFailed))
    }

    @Test("A pinned certificate that is appended to a foreign chain counts for nothing")
    func appended() throws {
        let (stage, attacker) = (try Stage(isSystem: true), try Stage(isSystem: true))
        let evaluator = ServerTrustEvaluator(policy: try stage.policy(anchors: .system))
        let chain = attacker.identity.chain + stage.identity.chainWithRoot
        #expect(evaluator.evaluate(try Stage.challenge(chain)).rejection?.reason == "pin-mismatch")
        let own = evaluator.evaluate(try Stage.challenge(stage.identity.chain + attacker.identity.chain))
        #expect(own.rejection == nil)
    }

    @Test("A challenge that is about something else is left to the system")
    func others() throws {
        let stage = try Stage()
        let evaluator = ServerTrustEvaluator(policy: try stage.policy(unpinnedHosts: .reject))
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let answer = evaluator.evaluate(.asked(space))
        #expect(answer.disposition == .performDefaultHandling && answer.rejection == nil && answer.evaluation == nil)
    }

    @Test("What the system asks of a trust object stays asked: a name that only one of the two means is none")
    func policies() throws {
        let stage = try Stage(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try stage.policy(anchors: .system))
        let server = ServerEndpoint(host: try ServerName("localhost"))
        for (host, code) in [("other.test", PathFailure.Code.nameMismatch), ("localhost", nil)] {
            let trust = try #require(try Stage.challenge(stage.identity.chain, host: host).protectionSpace.serverTrust)
            guard case .rejected(let rejection) = evaluator.evaluate(server, trust, at: Date()).decision else {
                #expect(code == nil)
                continue
            }
            #expect(rejection.pathFailure?.code == code)
        }
    }

    @Test("A proxy's certificate is the system's to judge, and the same one shown as the server's is ours")
    func proxy() throws {
        let stage = try Stage(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [], unpinnedHosts: .reject))
        let challenge = try Stage.challenge(stage.identity.chain)
        let asked = evaluator.evaluate(
            .asked(
                ProxySpace(
                    host: "localhost", port: 443, protocol: "https", realm: nil,
                    authenticationMethod: NSURLAuthenticationMethodServerTrust)))
        #expect(asked.disposition == .performDefaultHandling && asked.evaluation == nil)
        #expect(evaluator.evaluate(challenge).rejection?.reason == "host-not-allowed")
    }

    @Test("Without a certificate, or for a host that cannot be read, nobody is trusted")
    func unreadable() throws {
        let stage = try Stage(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: []))
        let empty = evaluator.evaluate(.asked(.serverTrust(nil, host: "localhost", port: 443)))
        #expect(empty.rejection?.pathFailure?.code == .emptyChain)
        let odd = evaluator.evaluate(try Stage.challenge(stage.identity.chain, host: "a b"))
        #expect(odd.rejection?.pathFailure?.code == .nameMismatch)
        for answer in [empty, odd] { #expect(answer.disposition == .cancelAuthenticationChallenge) }
        #expect(evaluator.evaluate(try Stage.challenge(stage.identity.chain)).rejection == nil)
    }

    @Test(
        "An address that leads past the rules for this machine is refused, and the address of a rule is not",
        arguments: ["0.0.0.0", "::", "::ffff:127.0.0.1", "127.0.0.1", "::1"])
    func alias(host: String) throws {
        let isAlias = !["127.0.0.1", "::1"].contains(host)
        let stage = try Stage(isSystem: true)
        let identity = try stage.root.issue(hosts: [host])
        let challenge = try Stage.challenge(identity.chain, host: host)
        for unpinnedHosts in [PinningPolicy.UnpinnedHosts.systemTrust, .askUser] {
            let policy = try PinningPolicy(hosts: [], unpinnedHosts: unpinnedHosts)
            let answer = ServerTrustEvaluator(policy: policy).evaluate(challenge)
            let expected = unpinnedHosts == .askUser ? "unknown-host" : nil
            #expect(answer.rejection?.reason == (isAlias ? "invalid-path" : expected))
            #expect(answer.rejection?.pathFailure?.code == (isAlias ? .other : nil))
            if isAlias { #expect(answer.disposition == .cancelAuthenticationChallenge) }
        }
    }

    @Test("A host without a rule is refused where the policy says so")
    func notAllowed() throws {
        let stage = try Stage(isSystem: true)
        for (hosts, reason) in [(PinningPolicy.UnpinnedHosts.reject, "host-not-allowed"), (.systemTrust, nil)] {
            let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [], unpinnedHosts: hosts))
            #expect(evaluator.evaluate(try Stage.challenge(stage.identity.chain)).rejection?.reason == reason)
        }
    }

    @Test(
        "An approved server gets a credential, its question names what the system thinks, and a changed key is an alarm"
    )
    func approvals() throws {
        let identity = try Identity.selfSigned()
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let challenge = try Stage.challenge(identity.chain, port: 8_443)
        let first = ServerTrustEvaluator(policy: policy).evaluate(challenge)
        guard case .unknownHost(let host) = first.rejection else {
            Issue.record("\(first)")
            return
        }
        #expect(host.pathFailure?.code == .selfSigned && host.unacceptableFailure == nil)
        #expect(host.endpoint.port == 8_443)
        var approvals = TrustApprovals()
        try approvals.approve(
            TrustApproval(.certificate(host.leaf.fingerprint), for: host.endpoint, at: Date()))
        let evaluator = ServerTrustEvaluator(policy: policy, approvals: { [approvals] in approvals })
        let second = evaluator.evaluate(challenge)
        #expect(second.disposition == .useCredential && second.evaluation?.decision.reason == "user-approved")
        let other = evaluator.evaluate(try Stage.challenge(try Identity.selfSigned().chain, port: 8_443))
        #expect(other.rejection?.reason == "pin-mismatch")
    }

    @Test("A device with another name and a past date gets a credential once exactly that was approved")
    func exceptions() throws {
        let identity = try Identity.selfSigned(hosts: ["router.test"]) {
            $0.notBefore = .fromNow(days: -10)
            $0.notAfter = .fromNow(days: -1)
        }
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let first = ServerTrustEvaluator(policy: policy).evaluate(try Stage.challenge(identity.chain, port: 8_443))
        guard case .unknownHost(let host) = first.rejection else {
            Issue.record("\(first)")
            return
        }
        #expect(host.exceptionsOfCertificate == [.nameMismatch, .expired])
        for isNamed in [true, false] {
            var approvals = TrustApprovals()
            if isNamed {
                try approvals.approve(host, alsoAccepting: host.exceptionsOfCertificate, at: Date())
            } else {
                try approvals.approve(
                    TrustApproval(.certificate(host.leaf.fingerprint), for: host.endpoint, at: Date()))
            }
            let evaluator = ServerTrustEvaluator(policy: policy, approvals: { [approvals] in approvals })
            let second = evaluator.evaluate(try Stage.challenge(identity.chain, port: 8_443))
            #expect(second.disposition == (isNamed ? .useCredential : .cancelAuthenticationChallenge))
            #expect(second.evaluation?.decision.reason == (isNamed ? "user-approved" : "invalid-path"))
        }
    }

    @Test("The instant that is given decides, and not the clock")
    func instant() throws {
        let stage = try Stage(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try stage.policy(anchors: .system))
        let challenge = try Stage.challenge(stage.identity.chain)
        let late = evaluator.evaluate(challenge, at: Date(timeIntervalSinceNow: 400 * 86_400))
        #expect(late.rejection?.pathFailure?.code == .expired)
        #expect(evaluator.evaluate(challenge).rejection == nil)
    }

    @Test("What other TLS stacks were presented is judged by the system too")
    func presented() throws {
        let stage = try Stage()
        let evaluator = ServerTrustEvaluator(policy: try stage.policy())
        let server = ServerEndpoint(host: try ServerName("localhost"))
        let good = evaluator.evaluate(server, presented: stage.identity.chain, at: Date())
        #expect(good.decision.reason == "pin-matched")
        let stranger = try Stage().identity.chain
        #expect(evaluator.evaluate(server, presented: stranger, at: Date()).decision.reason == "invalid-path")
    }
}

// Sendable as its superclass is: it adds nothing.
private final class ProxySpace: URLProtectionSpace, @unchecked Sendable {
    override func isProxy() -> Bool { true }
}
