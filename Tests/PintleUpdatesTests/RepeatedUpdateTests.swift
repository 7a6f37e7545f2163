import FoundationEssentials
import Pintle
import PintleCrypto
import Testing

@testable import PintleUpdates

/// What is spared must change no outcome.
@Suite("Updates are verified in little time")
struct RepeatedUpdateTests {
    /// Everything that an outcome says.
    private func outcome(_ verify: () throws(UpdateRejection) -> VerifiedUpdate) -> String {
        do throws(UpdateRejection) {
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

    @Test("An update that is known is taken, or refused, as if it were not")
    func known() throws {
        let app = try ShippedApp()
        let late = Publication.rule(
            "example.com", pin: 2, ", \"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}")
        let publication = Publication(policy: Publication.policy(late), more: ", \"comment\": 1")
        let bytes = try publication.signed(by: app.one)
        let others = [
            bytes, try publication.signed(by: app.two), try publication.signed(by: app.one, app.two),
            try publication.signed(by: app.stranger), Array(bytes.dropLast(3)),
            try Publication(policy: publication.policy, more: ", \"comment\": 2").signed(by: app.one),
            try Publication(policy: publication.policy, more: publication.more, payloadType: "a/b").signed(by: app.one),
            try Publication(version: "8").signed(by: app.one),
        ]
        let verifier = try app.verifier
        let known = try verifier.verify(bytes, floor: nil, at: Publication.now)
        let keys = try app.trust.keySetID
        let floors: [UpdateFloor?] = [
            nil, known.floor(under: try app.trust),
            UpdateFloor(version: 6, keySetID: keys, payloadDigest: known.payloadDigest),
            UpdateFloor(version: 7, keySetID: keys, payloadDigest: SHA256Digest(hashing: [])),
            UpdateFloor(version: 8, keySetID: keys, payloadDigest: known.payloadDigest),
            UpdateFloor(version: 8, keySetID: "other", payloadDigest: known.payloadDigest),
        ]
        // Before it was issued, in time, past the date of its pins, past its own.
        let instants = [-1e9, 0, 50 * 86_400, 1e9].map { Publication.now.addingTimeInterval($0) }
        var outcomes: Set<String> = []
        for bytes in others {
            for floor in floors {
                for now in instants {
                    let plain = outcome { () throws(UpdateRejection) in
                        try verifier.verify(bytes, floor: floor, at: now)
                    }
                    let spared = outcome { () throws(UpdateRejection) in
                        try verifier.verify(bytes, floor: floor, known: known, at: now)
                    }
                    #expect(plain == spared)
                    outcomes.insert(String(plain.prefix { $0 != " " }))
                }
                let plain = outcome { () throws(UpdateRejection) in try verifier.verifyStored(bytes, floor: floor) }
                let spared = outcome { () throws(UpdateRejection) in
                    try verifier.verifyStored(bytes, floor: floor, known: known)
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

    @Test("A bundled policy of the same number binds a known update as it binds others")
    func knownAgainstBundled() throws {
        var app = try ShippedApp()
        let bytes = try Publication().signed(by: app.one)
        let known = try app.verifier.verify(bytes, floor: nil, at: Publication.now)
        app.bundled = Publication.policy(Publication.rule("example.com"), more: ", \"updateVersion\": 7")
        let verifier = try app.verifier
        for known in [nil, known] {
            #expect(throws: UpdateRejection(.replacedVersion(7), version: 7, signers: [app.one.key])) {
                try verifier.verify(bytes, floor: nil, known: known, at: Publication.now)
            }
        }
    }

    @Test("A rule that is plainly no weaker than the bundled one has nothing to be found")
    func scope() throws {
        let pins = "\"pins\": [\"\(Pins.pin(1))\"]"
        var kinds: [String] = [
            "\(pins), \"backupPins\": [\"\(Pins.pin(2))\"]",
            "\(pins), \"enforcement\": \"reportOnly\"",
            "\"withdraws\": \"why\"",
            "\"withdraws\": \"why\", \(pins), \"enforcement\": \"reportOnly\"",
            "\"anchors\": {\"system\": true}",
            "\"reportTo\": [\"https://reports.example.net/\"]",
            "\"reportTo\": [\"https://reports.example.org/\"]",
        ]
        for date in ["2026-11-20T11:59:59Z", "2026-11-20T12:00:01Z"] {
            for then in ["systemTrust", "reject"] {
                let expiry = "\"expiry\": {\"after\": \"\(date)\", \"then\": \"\(then)\"}"
                kinds.append("\(pins), \"backupPins\": \"none-accepted\", \(expiry)")
            }
        }
        var rules: [String] = []
        for kind in kinds {
            for covers in [false, true] {
                for port in ["", ", \"port\": 8443"] {
                    rules.append("{\"host\": \"a.example.com\", \"includeSubdomains\": \(covers), \(kind)\(port)}")
                }
            }
        }
        let parent = Publication.rule("example.com", ", \"includeSubdomains\": true")
        let updates = try rules.map { try #require(try Publication.read(Publication.policy($0)).hosts.first) }
        var plain = 0
        for bundled in rules {
            // Once the rule stands where the update has it, and once elsewhere.
            for list in [[bundled, parent], [parent, bundled]] {
                let policy = try Publication.read("{\"version\": 1, \"hosts\": [\(list.joined(separator: ","))]}")
                let scope = UpdateScope(bundled: policy)
                for (rule, text) in zip(updates, rules) {
                    for now in [nil, Publication.now] where scope.isNoWeaker(rule, number: 0, at: now) {
                        plain += 1
                        #expect(scope.findings(about: rule, overruling: [], at: now).isEmpty, "\(text) over \(bundled)")
                    }
                }
            }
        }
        #expect(plain > 200)
    }
}
