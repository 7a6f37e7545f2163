import FoundationEssentials
import Pintle
import PintleCrypto
import Testing

@testable import PintleUpdates

/// The saved work must not change any outcome.
@Suite("A known update is verified with less work")
struct RepeatedUpdateTests {
    /// Returns a text with everything that an outcome contains.
    private func outcome(_ verify: () throws(UpdateError) -> VerifiedUpdate) -> String {
        do throws(UpdateError) {
            let update = try verify()
            let rules = update.policy.hosts.map { "\($0) \($0.hashValue)" }
            return """
                \(update.version) \(update.issuedAt) \(update.expiresAt) \(update.policy.updateVersion) \(rules) \
                \(update.signers.map(\.id)) \(update.isUnchanged) \(update.ignoredMembers) \(update.payloadDigest.bytes)
                """
        } catch {
            return "\(error) \(error.version ?? 0) \(error.signers.map(\.id))"
        }
    }

    @Test("A known update has the same outcome as a new one")
    func known() throws {
        var app = try ShippedApp()
        let expiry = ", \"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}"
        app.bundled = Publication.policy(Publication.rule("example.com", expiry))
        let late = Publication.rule("example.com", pin: 2, expiry)
        let publication = Publication(policy: Publication.policy(late), more: ", \"comment\": 1")
        let bytes = try publication.signed(by: app.one)
        let others = [
            bytes, try publication.signed(by: app.two), try publication.signed(by: app.one, app.two),
            try publication.signed(by: app.stranger), Array(bytes.dropLast(3)),
            try Publication(policy: publication.policy, more: ", \"comment\": 2").signed(by: app.one),
            try Publication(policy: publication.policy, more: publication.more, payloadType: "a/b").signed(by: app.one),
            try Publication(version: "8", policy: publication.policy).signed(by: app.one),
            try Publication(version: "8", policy: Publication.policy(Publication.rule("example.net"))).signed(
                by: app.one),
        ]
        let verifier = try app.verifier
        let known = try verifier.verify(bytes, floor: nil, at: Publication.now)
        #expect(known.policy.hosts.first?.expiry.date != nil)
        let keys = try app.trust.keySetID
        let floors: [UpdateFloor?] = [
            nil, known.floor(under: try app.trust),
            UpdateFloor(version: 6, keySetID: keys, payloadDigest: known.payloadDigest),
            UpdateFloor(version: 7, keySetID: keys, payloadDigest: SHA256Digest(hashing: [])),
            UpdateFloor(version: 8, keySetID: keys, payloadDigest: known.payloadDigest),
            UpdateFloor(version: 8, keySetID: "other", payloadDigest: known.payloadDigest),
        ]
        // Before its issue, in time, after the date of its pins, and after its own expiry.
        let instants = [-1e9, 0, 50 * 86_400, 1e9].map { Publication.now.addingTimeInterval($0) }
        var outcomes: Set<String> = []
        for bytes in others {
            for floor in floors {
                for now in instants {
                    let plain = outcome { () throws(UpdateError) in
                        try verifier.verify(bytes, floor: floor, at: now)
                    }
                    let spared = outcome { () throws(UpdateError) in
                        try verifier.verify(bytes, floor: floor, active: known, at: now)
                    }
                    #expect(plain == spared)
                    outcomes.insert(String(plain.prefix { $0 != " " }))
                }
                let plain = outcome { () throws(UpdateError) in try verifier.verifyStored(bytes, floor: floor) }
                let spared = outcome { () throws(UpdateError) in
                    try verifier.verifyStored(bytes, floor: floor, active: known)
                }
                #expect(plain == spared)
            }
        }
        let codes = [
            "invalid-signature:", "malformed-envelope:", "unknown-payload-type:", "rollback:", "replaced-version:",
            "not-yet-issued:", "out-of-scope:", "expired:",
        ]
        #expect(outcomes == Set(codes + ["7", "8"]))
    }

    @Test("A bundled policy with the same version is compared with a known update too")
    func knownAgainstBundled() throws {
        var app = try ShippedApp()
        let bytes = try Publication().signed(by: app.one)
        let known = try app.verifier.verify(bytes, floor: nil, at: Publication.now)
        app.bundled = Publication.policy(Publication.rule("example.com"), more: ", \"updateVersion\": 7")
        let verifier = try app.verifier
        for known in [nil, known] {
            #expect(throws: UpdateError(.replacedVersion(7), version: 7, signers: [app.one.key])) {
                try verifier.verify(bytes, floor: nil, active: known, at: Publication.now)
            }
        }
    }

    @Test("An update with the bundled names is compared in fewer steps with the same result")
    func scope() throws {
        let alphabet = try PolicyAlphabet()
        var random = SeededGenerator(seed: 7)
        var compared = 0
        var refused = 0
        while compared < 2_000 {
            let rules = try alphabet.rules(using: &random)
            let changed = try alphabet.update(of: rules, using: &random)
            guard let bundled = try? PinningPolicy(hosts: rules), let update = try? PinningPolicy(hosts: changed)
            else { continue }
            let scope = UpdateScope(bundled: bundled)
            guard scope.repeatsNames(changed) else { continue }
            compared += 1
            let policy = EmbeddedPolicy(update)
            func places(_ compare: ([PinnedHost], inout ScopeProblems) -> Void) -> [String] {
                scope.problems(of: policy, comparing: compare).map(\.path)
            }
            let few = places(scope.repeatedRules)
            #expect(few == places(scope.effectiveRules))
            if !few.isEmpty { refused += 1 }
        }
        #expect(refused > 200)
    }
}
