import Testing

@testable import Pintle
@testable import PintlePolicyFile

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests both terms about the path in policy files and in Swift.
@Suite("Terms about the path in files")
struct PathTermsFileTests {
    private static let terms = "\"minimumPathLength\": 3, \"issuerKey\": \"\(PolicyText.third)\""

    @Test("Both terms parse with any notation of a pin and are written with one notation")
    func roundTrip() throws {
        let key = try PublicKeyPin(PolicyText.third)
        for notation in [PolicyText.third, "sha256//" + key.base64, key.base64] {
            let text = PolicyText.policy(
                PolicyText.rule("a.example", "\"issuerKey\": \"\(notation)\", \"minimumPathLength\": 3"))
            let policy = try PinningPolicy(json: Array(text.utf8))
            let rule = try #require(policy.hosts.first)
            #expect(rule.minimumPathLength == 3 && rule.issuerKey == key)
            let printed = String(decoding: policy.json(), as: UTF8.self)
            #expect(printed.contains("\"minimumPathLength\": 3,\n      \"issuerKey\": \"\(PolicyText.third)\"\n"))
            #expect(Array(try PinningPolicy(json: policy.json()).hosts) == Array(policy.hosts))
        }
        let plain = try PinningPolicy(json: Array(PolicyText.policy(PolicyText.rule()).utf8))
        #expect(plain.hosts.first?.minimumPathLength == nil && plain.hosts.first?.issuerKey == nil)
        #expect(!String(decoding: plain.json(), as: UTF8.self).contains("issuerKey"))
    }

    @Test("Rules that differ in a term are not the same rules")
    func equality() throws {
        func policy(_ more: String) throws -> PinningPolicy {
            try PinningPolicy(json: Array(PolicyText.policy(PolicyText.rule("a.example", more)).utf8))
        }
        let both = try policy(Self.terms)
        #expect(both.hasSameRules(as: try policy(Self.terms)))
        for other in ["", "\"minimumPathLength\": 3", "\"issuerKey\": \"\(PolicyText.third)\""] {
            #expect(!both.hasSameRules(as: try policy(other)), "\(other)")
        }
    }

    @Test(
        "A mistake is reported with its position, and the text without it is valid",
        arguments: [
            ("\"minimumPathLength\": 0", "invalid-path-length", "minimumPathLength", "\"minimumPathLength\": 1"),
            ("\"minimumPathLength\": 11", "invalid-path-length", "minimumPathLength", "\"minimumPathLength\": 10"),
            ("\"minimumPathLength\": -3", "invalid-path-length", "minimumPathLength", "\"minimumPathLength\": 3"),
            (
                "\"minimumPathLength\": 9223372036854775807", "invalid-path-length", "minimumPathLength",
                "\"minimumPathLength\": 3"
            ),
            ("\"minimumPathLength\": \"3\"", "wrong-type", "minimumPathLength", "\"minimumPathLength\": 3"),
            ("\"minimumpathlength\": 3", "unknown-key", "minimumpathlength", "\"minimumPathLength\": 3"),
            ("\"issuerKey\": \"sha1/AAAA\"", "unsupported-hash", "issuerKey", terms),
            ("\"issuerKey\": \"\"", "invalid-pin", "issuerKey", terms),
            ("\"issuerKey\": \"\(PolicyText.fingerprint)\"", "invalid-pin", "issuerKey", terms),
            (
                "\"issuerKey\": \"sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"", "empty-input-pin",
                "issuerKey", terms
            ),
            ("\"issuerKey\": [\"\(PolicyText.third)\"]", "wrong-type", "issuerKey", terms),
            ("\"issuerKey\": {\"spki\": \"\(PolicyText.third)\"}", "wrong-type", "issuerKey", terms),
        ])
    func mistakes(_ wrong: String, _ id: String, _ key: String, _ right: String) {
        let problems = PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", wrong)))
        #expect(problems.map { "\($0.id) \($0.path)" } == ["\(id) hosts[0].\(key)"])
        #expect(problems.allSatisfy { !$0.help.isEmpty })
        #expect(PolicyText.ids(PolicyText.policy(PolicyText.rule("a.example", right))) == [])
    }

    @Test("A rule in Swift takes both terms, with pins as values, as text or none, and reports all mistakes at once")
    func swift() throws {
        let key = try PublicKeyPin(PolicyText.third)
        let parsed = try PinnedHost(
            "a.example", pins: [.publicKey(PolicyText.pin)], backupPins: [.publicKey(PolicyText.backup)],
            minimumPathLength: 3, issuerKey: key)
        let text = try PinnedHost(
            "a.example", pins: [PolicyText.pin], backupPins: [PolicyText.backup], minimumPathLength: 3,
            issuerKey: PolicyText.third)
        #expect(parsed == text && text.minimumPathLength == 3 && text.issuerKey == key)
        let bare = try PinningPolicy {
            try PinnedHost("a.example", anchors: .system, minimumPathLength: 3, issuerKey: key)
        }
        #expect(bare.hosts.first?.minimumPathLength == 3 && bare.hosts.first?.issuerKey == key)
        do throws(PolicyError) {
            _ = try PinnedHost(
                "a.example", pins: [PolicyText.pin], backupPins: [PolicyText.backup], minimumPathLength: 0,
                issuerKey: "sha1/AAAA")
            Issue.record("no error")
        } catch {
            #expect(
                error.problems.map { "\($0.id) \($0.path)" } == [
                    "unsupported-hash issuerKey", "invalid-path-length minimumPathLength",
                ])
        }
    }
}

extension PublicKeyPin {
    fileprivate var base64: String { String(description.dropFirst("sha256/".count)) }
}
