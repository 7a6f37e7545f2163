import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// Self-made certificates: valid for ten years, without usages, and marked as an authority. The system's rules for
/// servers refuse them, even if the app gives them as anchors.
@Suite("Apple: a server's own certificate as the anchor")
struct LeafAsAnchorTests {
    @Test("An approved certificate of ten years without usages gets a credential; before that it is self-signed")
    func approved() throws {
        let identity = try Identity.byHand()
        let challenge = try SessionFixture.challenge(identity.chain)
        let first = ServerTrustEvaluator(policy: try .asking).evaluate(challenge)
        guard case .unknownHost(let host) = first.rejection else {
            Issue.record("\(first)")
            return
        }
        #expect(host.pathFailure?.code == .selfSigned && host.unacceptableFailure == nil)
        #expect(host.pathFailure?.detail.map(\.platformCode) == [Int(errSecCertificateValidityPeriodTooLong)])
        for subject in [UnknownHost.ApprovedPart.certificate, .key] {
            var approvals = TrustApprovals()
            try approvals.approve(host, as: subject, at: Date())
            let answer = ServerTrustEvaluator(policy: try .asking, approvals: { [approvals] in approvals })
                .evaluate(challenge)
            #expect(answer.disposition == .useCredential && answer.credential?.trust != nil)
            #expect(answer.evaluation?.decision.reason == "user-approved")
            #expect(answer.evaluation?.path?.certificates == identity.chain)
        }
    }

    @Test("After a refusal the trust object trusts nothing, whatever was evaluated last")
    func refusedObject() throws {
        let identity = try Identity.byHand()
        let challenge = try SessionFixture.challenge(identity.chain)
        let trust = try #require(challenge.protectionSpace.serverTrust)
        var error: CFError?
        #expect(ServerTrustEvaluator(policy: try .asking).evaluate(challenge).rejection?.reason == "unknown-host")
        #expect(!SecTrustEvaluateWithError(trust, &error))
        let approvals = TrustApprovals.approving(identity)
        let twin = ServerTrustEvaluator(policy: try .asking, approvals: { approvals }).evaluate(challenge)
        #expect(twin.disposition == .useCredential)
        #expect(SecTrustEvaluateWithError(trust, &error))
    }

    @Test("An approval applies only to the certificate's name, dates and key", arguments: Attack.allCases)
    func attacked(attack: Attack) throws {
        let identity = try Identity.byHand(hosts: [attack == .otherName ? "router.test" : "localhost"]) {
            if attack == .expired { $0.notAfter = .fromNow(seconds: -60) }
            if attack == .notYetValid { $0.notBefore = .fromNow(days: 1) }
        }
        for isByKey in [false, true] {
            var approvals = TrustApprovals()
            let leaf = try Certificate(der: identity.certificate.der)
            let subject: Pin.Subject = isByKey ? .publicKey(leaf.publicKeyPin) : .certificate(leaf.fingerprint)
            let endpoint = ServerEndpoint(host: try ServerName("localhost"))
            try approvals.approve(TrustApproval(subject, for: endpoint, at: Date()))
            let shown = attack == .otherKey ? try Identity.byHand() : identity
            let answer = ServerTrustEvaluator(policy: try .asking, approvals: { [approvals] in approvals })
                .evaluate(try SessionFixture.challenge(shown.chain))
            #expect(answer.evaluation?.decision.reason == attack.reason)
            #expect(attack == .otherKey || answer.rejection?.pathFailure?.code == attack.pathFailure)
            #expect(answer.disposition == (attack == .none ? .useCredential : .cancelAuthenticationChallenge))
        }
    }

    enum Attack: CaseIterable {
        case none, otherName, expired, notYetValid, otherKey

        var reason: String {
            switch self {
            case .none: "user-approved"
            case .otherKey: "pin-mismatch"
            case .otherName, .expired, .notYetValid: "invalid-path"
            }
        }

        var pathFailure: PathFailure.Code? {
            switch self {
            case .none, .otherKey: nil
            case .otherName: .nameMismatch
            case .expired: .expired
            case .notYetValid: .notYetValid
            }
        }
    }

    @Test("A rule whose anchor is the server's certificate accepts it by its own name and within its dates")
    func anchored() throws {
        let (own, next) = (try Identity.byHand(), try Identity.byHand())
        let stranger = try Identity.byHand()
        let late = Date(timeIntervalSinceNow: 4_000 * 86_400)
        for anchors in [[own], [own, next]] {
            let certificates = try anchors.map { try Certificate(der: $0.certificate.der) }
            for anchors in [TrustAnchors.only(certificates), TrustAnchors(certificates, includesSystem: true)] {
                let rules = try ["localhost", "other.test"].map { host in
                    try PinnedHost(
                        host, pins: [Pin(.publicKey(certificates[0].publicKeyPin))], backup: .noneAccepted,
                        anchors: anchors)
                }
                let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: rules))
                let good = evaluator.evaluate(try SessionFixture.challenge(own.chain))
                #expect(good.disposition == .useCredential && good.evaluation?.decision.reason == "pin-matched")
                let other = evaluator.evaluate(try SessionFixture.challenge(own.chain, host: "other.test"))
                #expect(other.rejection?.pathFailure?.code == .nameMismatch)
                let expired = evaluator.evaluate(try SessionFixture.challenge(own.chain), at: late)
                #expect(expired.rejection?.pathFailure?.code == .expired)
                let foreign = evaluator.evaluate(try SessionFixture.challenge(stranger.chain))
                #expect(foreign.rejection?.pathFailure?.code == .selfSigned)
                guard certificates.count == 2 else { continue }
                // The second anchor is valid too, but has another key.
                let second = evaluator.evaluate(try SessionFixture.challenge(next.chain))
                #expect(second.rejection?.reason == "pin-mismatch")
            }
        }
    }

    @Test("A server's own certificate as an anchor does not vouch for certificates that its key has signed")
    func signsOthers() throws {
        // With `isAuthority` it does: only basicConstraints keeps a certificate from signing others.
        for isAuthority in [false, true] {
            let own = try Identity.selfSigned(hosts: ["localhost"], keyType: .p256) {
                if isAuthority {
                    $0.basicConstraints = .init(isCA: true)
                    $0.keyUsage = [.keyCertSign, .digitalSignature]
                } else {
                    $0.basicConstraints = .init(isCA: false)
                    $0.keyUsage = .digitalSignature
                }
            }
            let signed = try own.misusedAsAuthority().issue(hosts: ["localhost"])
            let rule = try PinnedHost(
                "localhost", pins: [], backup: .noneAccepted,
                anchors: .only([try Certificate(der: own.certificate.der)]))
            let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [rule]))
            let chain = [signed.certificate.der, own.certificate.der]
            let answer = evaluator.evaluate(try SessionFixture.challenge(chain))
            #expect(answer.rejection?.pathFailure?.code == (isAuthority ? nil : .notACA))
            // The anchor itself is accepted as the server's certificate.
            #expect(evaluator.evaluate(try SessionFixture.challenge(own.chain)).rejection == nil)
        }
    }

    @Test("A rule for a server's own certificate accepts it even if an authority has issued it")
    func issuedAnchor() throws {
        let authority = try CertificateAuthority.root()
        let leaf = try authority.issue(hosts: ["localhost"]) {
            $0.notAfter = .fromNow(days: 3_650)
            $0.extendedKeyUsage = nil
        }
        for (anchor, code) in [(leaf.certificate, nil), (authority.certificate, PathFailure.Code.other)] {
            let rule = try PinnedHost(
                "localhost", pins: [], backup: .noneAccepted, anchors: .only([try Certificate(der: anchor.der)]))
            let answer = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [rule]))
                .evaluate(try SessionFixture.challenge(leaf.chain))
            #expect(answer.rejection?.pathFailure?.code == code)
        }
    }

    @Test(
        "A weak key is refused even if its certificate is approved, and a strong key is not", arguments: [1_024, 2_048])
    func weak(bits: Int) throws {
        let identity = try Identity.byHand(keyType: .rsa(bits: bits))
        var approvals = TrustApprovals()
        let leaf = try Certificate(der: identity.certificate.der)
        let endpoint = ServerEndpoint(host: try ServerName("localhost"))
        try approvals.approve(TrustApproval(.certificate(leaf.fingerprint), for: endpoint, at: Date()))
        let answer = ServerTrustEvaluator(policy: try .asking, approvals: { [approvals] in approvals })
            .evaluate(try SessionFixture.challenge(identity.chain))
        #expect(answer.rejection?.pathFailure?.code == (bits == 1_024 ? .weakKey : nil))
    }

    @Test(
        "Pintle matches the names of a server's own certificate as the system matches those of others",
        arguments: [
            (["localhost"], ["localhost"]), (["LOCALHOST"], ["localhost"]),
            (["*.example.test"], ["a.example.test", "b.example.test", "foo.example.test"]),
            (["*.test"], []),
            (["*"], []), (["a.*.test"], []), (["f*.example.test"], []), (["127.0.0.1"], ["127.0.0.1"]),
            (["::1"], ["::1"]), (["example.test", "b.example.test"], ["b.example.test", "example.test"]),
            (["localhost."], []), ([], []),
        ])
    func names(of certificate: [String], accepted: [String]) throws {
        let root = try CertificateAuthority.root()
        let byHand = try Identity.byHand(hosts: certificate) { $0.subject = .commonName("a.example.test") }
        let issued = try root.issue(hosts: certificate) { $0.subject = .commonName("a.example.test") }
        var hosts: [String] = []
        for host in [
            "localhost", "a.example.test", "b.example.test", "a.b.example.test", "example.test", "127.0.0.1", "::1",
            "::fffe:7f00:1", "foo.example.test",
        ] {
            func verdict(_ identity: Identity, _ anchor: [UInt8]) throws -> PathFailure.Code? {
                let rule = try PinnedHost(
                    host, pins: [], backup: .noneAccepted, anchors: .only([try Certificate(der: anchor)]))
                let evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [rule]))
                let server = ServerEndpoint(host: try ServerName(host))
                let decision = evaluator.evaluate(server, presented: identity.chain, at: Date()).decision
                if case .rejected(let rejection) = decision { return rejection.pathFailure?.code }
                return nil
            }
            let own = try verdict(byHand, byHand.certificate.der)
            // The codes may differ: Pintle reports a malformed name as `other`.
            #expect((own == nil) == (try verdict(issued, root.certificate.der) == nil), "\(certificate) \(host)")
            #expect([nil, .nameMismatch, .other].contains(own), "\(certificate) \(host)")
            if own == nil { hosts.append(host) }
        }
        #expect(hosts == accepted)
    }
}

/// The system's own rules, which still apply to certificates that an authority has issued.
@Suite("Apple: a certificate of an authority")
struct IssuedCertificateTests {
    @Test(
        "A certificate may be valid for 825 days under private anchors, and for 398 under the system's",
        arguments: [(days: 398, isSystem: true), (825, false)])
    func lifetime(days: Int, isSystem: Bool) throws {
        for isTooLong in [false, true] {
            let fixture = try SessionFixture(isSystem: isSystem)
            let identity = try fixture.root.issue(hosts: ["localhost"], key: fixture.identity.key) {
                $0.notBefore = .fromNow(seconds: -60)
                // Trustd allows one more hour if an app has given the anchor.
                $0.notAfter = .fromNow(seconds: days * 86_400 - 60 + (isTooLong ? 3_660 : 0))
            }
            let answer = ServerTrustEvaluator(policy: try fixture.policy(anchors: isSystem ? .system : nil))
                .evaluate(try SessionFixture.challenge(identity.chain))
            guard isTooLong else {
                #expect(answer.evaluation?.decision.reason == "pin-matched")
                continue
            }
            #expect(answer.rejection?.reason == "invalid-path" && answer.rejection?.pathFailure?.code == .other)
            let primary = answer.rejection?.pathFailure?.primary
            #expect(primary?.platformCode == Int(errSecCertificateValidityPeriodTooLong))
            #expect(answer.disposition == .cancelAuthenticationChallenge)
        }
    }

    @Test("A certificate of an authority needs the usage for servers", arguments: [true, false])
    func usage(isNamed: Bool) throws {
        for isSystem in [true, false] {
            let fixture = try SessionFixture(isSystem: isSystem)
            let identity = try fixture.root.issue(hosts: ["localhost"], key: fixture.identity.key) {
                if !isNamed { $0.extendedKeyUsage = nil }
            }
            let answer = ServerTrustEvaluator(policy: try fixture.policy(anchors: isSystem ? .system : nil))
                .evaluate(try SessionFixture.challenge(identity.chain))
            #expect(answer.rejection?.pathFailure?.code == (isNamed ? nil : .unsuitablePurpose))
        }
    }
}

extension Identity {
    /// Makes a certificate as `openssl req -x509 -days 3650` and appliances do: no usage, cA=TRUE.
    static func byHand(
        hosts: [String] = ["localhost"], keyType: KeyType = .p256,
        configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> Identity {
        try .selfSigned(hosts: hosts, keyType: keyType) {
            $0.notAfter = .fromNow(days: 3_650)
            configure(&$0)
        }
    }
}

extension PinningPolicy {
    static var asking: PinningPolicy {
        get throws { try PinningPolicy(hosts: [], unpinnedHosts: .askUser) }
    }
}
