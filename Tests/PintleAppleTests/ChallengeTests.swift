import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// The answers to challenges. Each refusal has a control that is accepted.
@Suite("Apple: challenges")
struct ChallengeTests {
    @Test("A server under the system's roots gets default handling, one under private roots a credential")
    func trusted() throws {
        for (isSystem, disposition) in [
            (true, URLSession.AuthChallengeDisposition.performDefaultHandling), (false, .useCredential),
        ] {
            let fixture = try SessionFixture(isSystem: isSystem)
            let evaluator = ServerTrustEvaluator(policy: try fixture.policy(anchors: isSystem ? .system : nil))
            let answer = evaluator.evaluate(try SessionFixture.challenge(fixture.identity.chain))
            #expect(answer.disposition == disposition)
            #expect((answer.credential?.trust == nil) == isSystem)
            #expect(answer.rejection == nil)
            #expect(answer.evaluation?.decision.reason == "pin-matched")
            #expect(answer.evaluation?.path?.certificates == fixture.identity.chainWithRoot)
        }
    }

    @Test("A wrong pin is refused on a valid path, and the right pin on an invalid path", arguments: [true, false])
    func both(isSystem: Bool) throws {
        let fixture = try SessionFixture(isSystem: isSystem)
        let anchors: TrustAnchors? = isSystem ? .system : nil
        let challenge = try SessionFixture.challenge(fixture.identity.chain)
        let mismatch = ServerTrustEvaluator(policy: try fixture.policy(rightPin: false, anchors: anchors))
            .evaluate(challenge)
        #expect(mismatch.disposition == .cancelAuthenticationChallenge && mismatch.credential == nil)
        #expect(mismatch.rejection?.reason == "pin-mismatch")
        // The key is the pinned one, but the authority is unknown.
        let stranger = try CertificateAuthority.root().issue(key: fixture.identity.key)
        let foreign = ServerTrustEvaluator(policy: try fixture.policy(anchors: anchors))
            .evaluate(try SessionFixture.challenge(stranger.chain))
        #expect(foreign.disposition == .cancelAuthenticationChallenge && foreign.credential == nil)
        #expect(foreign.rejection?.pathFailure?.code == .untrustedRoot)
        // The server did not send the root.
        #expect(foreign.rejection?.pathFailure?.primary.platformCode == Int(errSecCreateChainFailed))
    }

    @Test("A pinned certificate that is appended to a foreign chain does not count")
    func appended() throws {
        let (fixture, attacker) = (try SessionFixture(isSystem: true), try SessionFixture(isSystem: true))
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy(anchors: .system))
        let chain = attacker.identity.chain + fixture.identity.chainWithRoot
        #expect(evaluator.evaluate(try SessionFixture.challenge(chain)).rejection?.reason == "pin-mismatch")
        let own = evaluator.evaluate(try SessionFixture.challenge(fixture.identity.chain + attacker.identity.chain))
        #expect(own.rejection == nil)
    }

    @Test(
        "A challenge about something else is left to the system",
        arguments: [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodClientCertificate])
    func others(method: String) throws {
        let fixture = try SessionFixture()
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy(unpinnedHosts: .reject))
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: "r",
            authenticationMethod: method)
        let answer = evaluator.evaluate(.asked(space))
        #expect(answer.disposition == .performDefaultHandling && answer.rejection == nil && answer.evaluation == nil)
    }

    @Test("The trust object's own policies still apply, so a name that differs from theirs is refused")
    func policies() throws {
        let fixture = try SessionFixture(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy(anchors: .system))
        let server = ServerEndpoint(host: try ServerName("localhost"))
        for (host, code) in [("other.test", PathFailure.Code.nameMismatch), ("localhost", nil)] {
            let trust = try #require(
                try SessionFixture.challenge(fixture.identity.chain, host: host).protectionSpace.serverTrust)
            guard case .rejected(let rejection) = evaluator.evaluate(server, trust, at: Date()).decision else {
                #expect(code == nil)
                continue
            }
            #expect(rejection.pathFailure?.code == code)
        }
    }

    @Test("The system checks a proxy's certificate, and the policy the same certificate of a server")
    func proxy() throws {
        let fixture = try SessionFixture(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [], unpinnedHosts: .reject))
        let challenge = try SessionFixture.challenge(fixture.identity.chain)
        let asked = evaluator.evaluate(
            .asked(
                ProxySpace(
                    host: "localhost", port: 443, protocol: "https", realm: nil,
                    authenticationMethod: NSURLAuthenticationMethodServerTrust)))
        #expect(asked.disposition == .performDefaultHandling && asked.evaluation == nil)
        #expect(evaluator.evaluate(challenge).rejection?.reason == "host-not-allowed")
    }

    @Test("A server without a certificate, or with a host that cannot be read, is refused")
    func unreadable() throws {
        let fixture = try SessionFixture(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: []))
        let empty = evaluator.evaluate(.asked(.serverTrust(nil, host: "localhost", port: 443)))
        #expect(empty.rejection?.pathFailure?.code == .emptyChain)
        let odd = evaluator.evaluate(try SessionFixture.challenge(fixture.identity.chain, host: "a b"))
        #expect(odd.rejection?.pathFailure?.code == .nameMismatch)
        for answer in [empty, odd] { #expect(answer.disposition == .cancelAuthenticationChallenge) }
        #expect(evaluator.evaluate(try SessionFixture.challenge(fixture.identity.chain)).rejection == nil)
    }

    @Test(
        "An address that leads past the rules for this machine is refused, and the address of a rule is not",
        arguments: ["0.0.0.0", "::", "::ffff:127.0.0.1", "127.0.0.1", "::1"])
    func alias(host: String) throws {
        let isAlias = !["127.0.0.1", "::1"].contains(host)
        let fixture = try SessionFixture(isSystem: true)
        let identity = try fixture.root.issue(hosts: [host])
        let challenge = try SessionFixture.challenge(identity.chain, host: host)
        for unpinnedHosts in [PinningPolicy.UnpinnedHosts.systemTrust, .askUser] {
            let policy = try PinningPolicy(hosts: [], unpinnedHosts: unpinnedHosts)
            let answer = ServerTrustEvaluator(policy: policy).evaluate(challenge)
            let expected = unpinnedHosts == .askUser ? "unknown-host" : nil
            #expect(answer.rejection?.reason == (isAlias ? "invalid-path" : expected))
            #expect(answer.rejection?.pathFailure?.code == (isAlias ? .other : nil))
            if isAlias { #expect(answer.disposition == .cancelAuthenticationChallenge) }
        }
    }

    @Test(
        "Exceptions that an app set on a trust object do not make the system accept a path", arguments: [true, false])
    func exceptionsOfTrust(isKnown: Bool) throws {
        let fixture = try SessionFixture()
        let server = ServerEndpoint(host: try ServerName("localhost"))
        let chain = isKnown ? fixture.identity.chain : try SessionFixture().identity.chain
        let trust = try #require(try SessionFixture.challenge(chain).protectionSpace.serverTrust)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust)))
        #expect(SecTrustEvaluateWithError(trust, nil))
        let decision = ServerTrustEvaluator(policy: try fixture.policy()).evaluate(server, trust, at: Date()).decision
        #expect(decision.reason == (isKnown ? "pin-matched" : "invalid-path"))
        #expect(SecTrustEvaluateWithError(trust, nil) == isKnown)
    }

    @Test(
        "After any refusal the trust object stays untrusted, whatever the app had set",
        arguments: ["0.0.0.0", "a b", "localhost"])
    func leftUntrusted(host: String) throws {
        let fixture = try SessionFixture(isSystem: true)
        let chain = try fixture.root.issue(hosts: ["localhost", "0.0.0.0"]).chain
        for rightPolicy in [true, false] {
            let policy = rightPolicy ? try PinningPolicy(hosts: []) : try fixture.policy(anchors: .system)
            let challenge = try SessionFixture.challenge(chain, host: host)
            let trust = try #require(challenge.protectionSpace.serverTrust)
            _ = SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust))
            #expect(SecTrustEvaluateWithError(trust, nil))
            let answer = ServerTrustEvaluator(policy: policy).evaluate(challenge)
            let isTrusted = host == "localhost" && rightPolicy
            #expect((answer.rejection == nil) == isTrusted)
            #expect(SecTrustEvaluateWithError(trust, nil) == isTrusted)
        }
    }

    @Test("A host without a rule is refused if the policy says so")
    func notAllowed() throws {
        let fixture = try SessionFixture(isSystem: true)
        for (hosts, reason) in [(PinningPolicy.UnpinnedHosts.reject, "host-not-allowed"), (.systemTrust, nil)] {
            let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [], unpinnedHosts: hosts))
            #expect(
                evaluator.evaluate(try SessionFixture.challenge(fixture.identity.chain)).rejection?.reason == reason)
        }
    }

    @Test("An approved server gets a credential, and a changed key is a pin mismatch")
    func approvals() throws {
        let identity = try Identity.selfSigned()
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let challenge = try SessionFixture.challenge(identity.chain, port: 8_443)
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
        let other = evaluator.evaluate(try SessionFixture.challenge(try Identity.selfSigned().chain, port: 8_443))
        #expect(other.rejection?.reason == "pin-mismatch")
    }

    @Test("A device with another name and an expired certificate gets a credential once both exceptions are approved")
    func exceptions() throws {
        let identity = try Identity.selfSigned(hosts: ["router.test"]) {
            $0.notBefore = .fromNow(days: -10)
            $0.notAfter = .fromNow(days: -1)
        }
        let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        let first = ServerTrustEvaluator(policy: policy).evaluate(
            try SessionFixture.challenge(identity.chain, port: 8_443))
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
            let second = evaluator.evaluate(try SessionFixture.challenge(identity.chain, port: 8_443))
            #expect(second.disposition == (isNamed ? .useCredential : .cancelAuthenticationChallenge))
            #expect(second.evaluation?.decision.reason == (isNamed ? "user-approved" : "invalid-path"))
        }
    }

    @Test("The given instant decides, not the clock")
    func instant() throws {
        let fixture = try SessionFixture(isSystem: true)
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy(anchors: .system))
        let challenge = try SessionFixture.challenge(fixture.identity.chain)
        let late = evaluator.evaluate(challenge, at: Date(timeIntervalSinceNow: 400 * 86_400))
        #expect(late.rejection?.pathFailure?.code == .expired)
        #expect(evaluator.evaluate(challenge).rejection == nil)
    }

    @Test("The system also validates a chain that another TLS stack got")
    func presented() throws {
        let fixture = try SessionFixture()
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy())
        let server = ServerEndpoint(host: try ServerName("localhost"))
        let good = evaluator.evaluate(server, presented: fixture.identity.chain, at: Date())
        #expect(good.decision.reason == "pin-matched")
        let stranger = try SessionFixture().identity.chain
        #expect(evaluator.evaluate(server, presented: stranger, at: Date()).decision.reason == "invalid-path")
    }
}

// `@unchecked`: the superclass is Sendable in the same way, and nothing is added.
private final class ProxySpace: URLProtectionSpace, @unchecked Sendable {
    override func isProxy() -> Bool { true }
}
