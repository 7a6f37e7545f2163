import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests that neither a policy file nor Swift code can express trust in every server.
@Suite("A policy cannot trust every server")
struct TrustEveryoneTests {
    @Test(
        "No key or value of a policy file disables the checks",
        arguments: [
            ("\"trustEveryone\": true", "unknown-key trustEveryone"),
            ("\"disableValidation\": true", "unknown-key disableValidation"),
            ("\"evaluate\": false", "unknown-key evaluate"), ("\"insecure\": true", "unknown-key insecure"),
            ("\"debugAnchors\": []", "unknown-key debugAnchors"), ("\"approvals\": []", "unknown-key approvals"),
            ("\"anchors\": {\"system\": true}", "unknown-key anchors"),
            ("\"enforcement\": \"reportOnly\"", "unknown-key enforcement"),
            ("\"unpinnedHosts\": \"trustEveryone\"", "unknown-value unpinnedHosts"),
            ("\"unpinnedHosts\": \"accept\"", "unknown-value unpinnedHosts"),
            ("\"unpinnedHosts\": true", "wrong-type unpinnedHosts"),
            ("\"updates\": {\"unsigned\": true}", "unknown-key updates.unsigned"),
        ])
    func members(_ attempt: String, _ expected: String) {
        #expect(Self.problems(PolicyText.policy(PolicyText.rule(), top: attempt + ", ")) == [expected])
        #expect(Self.problems(PolicyText.policy(PolicyText.rule())) == [])
    }

    @Test(
        "No key or value of a rule disables the checks",
        arguments: [
            ("\"evaluate\": false", "unknown-key hosts[0].evaluate"),
            ("\"trust\": \"everyone\"", "unknown-key hosts[0].trust"),
            ("\"disabled\": true", "unknown-key hosts[0].disabled"),
            ("\"allowSelfSigned\": true", "unknown-key hosts[0].allowSelfSigned"),
            ("\"validateCertificateChain\": false", "unknown-key hosts[0].validateCertificateChain"),
            ("\"validateHost\": false", "unknown-key hosts[0].validateHost"),
            ("\"ignoreExpired\": true", "unknown-key hosts[0].ignoreExpired"),
            ("\"enforcement\": \"off\"", "unknown-value hosts[0].enforcement"),
            ("\"enforcement\": \"none\"", "unknown-value hosts[0].enforcement"),
            ("\"enforcement\": false", "wrong-type hosts[0].enforcement"),
            ("\"requires\": \"nothing\"", "unknown-value hosts[0].requires"),
            ("\"requires\": false", "wrong-type hosts[0].requires"),
            ("\"expiry\": \"always\"", "wrong-type hosts[0].expiry"),
            (
                "\"expiry\": {\"after\": \"2020-01-01T00:00:00Z\", \"then\": \"trustEveryone\"}",
                "unknown-value hosts[0].expiry.then"
            ),
            ("\"anchors\": \"any\"", "wrong-type hosts[0].anchors"), ("\"anchors\": {}", "no-anchors hosts[0].anchors"),
            ("\"anchors\": {\"any\": true}", "unknown-key hosts[0].anchors.any"),
            ("\"anchors\": {\"system\": \"any\"}", "wrong-type hosts[0].anchors.system"),
            ("\"anchors\": {\"include\": \"*\"}", "wrong-type hosts[0].anchors.include"),
            ("\"anchors\": {\"include\": [\"*\"]}", "anchor-file-not-allowed hosts[0].anchors.include[0]"),
        ])
    func rules(_ attempt: String, _ expected: String) {
        #expect(Self.problems(PolicyText.policy(PolicyText.rule("example.com", attempt))).first == expected)
        #expect(Self.problems(PolicyText.policy(PolicyText.rule("example.com"))) == [])
    }

    @Test(
        "No pin matches every certificate",
        arguments: [
            ("\"*\"", "invalid-pin hosts[0].pins[0]"), ("\"sha256/*\"", "invalid-pin hosts[0].pins[0]"),
            ("\"\"", "invalid-pin hosts[0].pins[0]"), ("\"any\"", "invalid-pin hosts[0].pins[0]"),
            ("true", "wrong-type hosts[0].pins[0]"), ("null", "wrong-type hosts[0].pins[0]"),
            ("{\"spki\": \"*\"}", "invalid-pin hosts[0].pins[0].spki"), ("{}", "missing-key hosts[0].pins[0]"),
            ("{\"at\": \"any\"}", "missing-key hosts[0].pins[0]"),
            ("{\"any\": true}", "missing-key hosts[0].pins[0]"),
            ("{\"spki\": \"\(PolicyText.pin)\", \"any\": true}", "unknown-key hosts[0].pins[0].any"),
            ("{\"certificate\": \"*\"}", "invalid-pin hosts[0].pins[0].certificate"),
            ("{\"spki\": \"\(PolicyText.pin)\", \"at\": \"nowhere\"}", "unknown-value hosts[0].pins[0].at"),
        ])
    func pins(_ pin: String, _ expected: String) {
        func policy(_ pin: String) -> String {
            PolicyText.policy(
                "{\"host\": \"example.com\", \"pins\": [\(pin)], \"backupPins\": [\"\(PolicyText.backup)\"]}")
        }
        #expect(Self.problems(policy(pin)).first == expected)
        #expect(Self.problems(policy("\"\(PolicyText.pin)\"")) == [])
    }

    @Test("No host pattern covers every host", arguments: ["*", "*.example.com", "", ".", "**", "%", "0.0.0.0/0"])
    func hosts(_ host: String) {
        #expect(Self.problems(PolicyText.policy(PolicyText.rule(host))) == ["invalid-host hosts[0].host"])
        #expect(Self.problems(PolicyText.policy(PolicyText.rule("example.com"))) == [])
    }

    /// All cases of `PinExpiry`. A new case breaks the build of `isKnown`.
    private static let expiries: [PinExpiry] = [
        .never, .systemTrust(after: DecisionFixture.now - 1), .systemTrust(after: DecisionFixture.now + 1),
        .rejecting(after: DecisionFixture.now - 1), .rejecting(after: DecisionFixture.now + 1),
    ]

    private static func isKnown(_ expiry: PinExpiry) -> Bool {
        switch expiry {
        case .never, .systemTrust, .rejecting: true
        }
    }

    @Test("Any policy written in Swift refuses an invalid path and trusts a valid one with a matching pin")
    func builder() throws {
        #expect(Enforcement.allCases == [.enforce, .reportOnly])
        #expect(PinningPolicy.UnpinnedHosts.allCases == [.systemTrust, .reject, .askUser])
        #expect(PinRequirement.allCases == [.anyPin, .leafAndCA])
        #expect(Self.expiries.allSatisfy(Self.isKnown))
        let chain = TestChain()
        for unpinnedHosts in PinningPolicy.UnpinnedHosts.allCases {
            for (enforcement, expiry) in Enforcement.allCases.flatMap({ one in Self.expiries.map { (one, $0) } }) {
                for pins in [[], [chain.keyPin(0)]] {
                    let rule = try PinnedHost(
                        "example.com", pins: pins, backupPins: pins.isEmpty ? [] : [TestChain.spare()],
                        expiry: expiry, enforcement: enforcement)
                    let policy = try PinningPolicy(hosts: [rule], unpinnedHosts: unpinnedHosts)
                    let fixture = try DecisionFixture(policy, host: "example.com", chain: chain)
                    #expect(fixture.with { $0.outcome = .selfSigned }.verdict() == "rejected invalid-path self-signed")
                    #expect(fixture.with { $0.outcome = .expired }.verdict() == "rejected invalid-path expired")
                    if expiry != .rejecting(after: DecisionFixture.now - 1) || pins.isEmpty {
                        #expect(fixture.verdict().hasPrefix("trusted "))
                    }
                    let other = try DecisionFixture(policy, host: "other.example", chain: chain)
                    #expect(other.with { $0.outcome = .selfSigned }.verdict().hasPrefix("rejected "))
                    #expect(other.verdict().hasPrefix(unpinnedHosts == .systemTrust ? "trusted " : "rejected "))
                }
            }
        }
    }

    private static func problems(_ text: String) -> [String] {
        PolicyText.problems(text).map { "\($0.id) \($0.path)" }
    }
}
