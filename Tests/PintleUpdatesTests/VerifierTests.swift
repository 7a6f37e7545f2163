import FoundationEssentials
import Pintle
import PintleCrypto
import Testing

@testable import PintleUpdates

/// Each way to fail, beside an accepted update that differs in one point.
@Suite("The verification of updates")
struct VerifierTests {
    let app: ShippedApp

    init() throws {
        app = try ShippedApp()
    }

    @Test("A valid update has the content of its bytes")
    func good() throws {
        let publication = Publication()
        let update = try app.verifier.verify(try publication.signed(by: app.two), floor: nil, at: Publication.now)
        #expect(update.version == 7 && update.signers == [app.two.key] && !update.isUnchanged)
        #expect(update.policy.hosts.map(\.pins) == [[try .publicKey(Pins.pin(2))]])
        #expect(update.policy.updateVersion == 7)
        #expect(update.payloadDigest == SHA256Digest(hashing: publication.payload))
        #expect(update.ignoredMembers.isEmpty)
    }

    @Test("Every failure has its code, and the next valid update is accepted")
    func codes() throws {
        let good = try Publication().signed(by: app.one)
        let verifier = try app.verifier
        func expect(_ code: UpdateError.Code, _ bytes: [UInt8], floor: UpdateFloor? = nil) {
            #expect(throws: UpdateError.self) {
                do {
                    _ = try verifier.verify(bytes, floor: floor, at: Publication.now)
                } catch let error as UpdateError {
                    #expect(error.code == code, "\(error)")
                    throw error
                }
            }
            #expect(throws: Never.self) { try verifier.verify(good, floor: nil, at: Publication.now) }
        }
        expect(.tooLarge, good + [UInt8](repeating: 0x20, count: 16 << 20))
        expect(.malformedEnvelope, [])
        expect(.invalidSignature, try Publication().signed(by: app.stranger))
        expect(.unknownPayloadType, try Publication(payloadType: "application/json").signed(by: app.one))
        expect(.malformedPayload, try Publication(version: "\"7\"").signed(by: app.one))
        let floor = UpdateFloor(
            version: 8, keySetID: try app.trust.keySetID, payloadDigest: SHA256Digest(hashing: []))
        expect(.rollback, good, floor: floor)
        expect(.replacedVersion, try Publication(version: "8").signed(by: app.one), floor: floor)
        expect(.notYetIssued, try Publication(issuedAt: "2026-11-20T12:00:01Z").signed(by: app.one))
        expect(.expired, try Publication(expiresAt: "2026-11-20T12:00:00Z").signed(by: app.one))
        let foreign = Publication.policy(Publication.rule("example.com"), Publication.rule("example.net"))
        expect(.outOfScope, try Publication(policy: foreign).signed(by: app.one))
        expect(.invalidPolicy, try Publication(policy: "{\"version\": 1, \"hosts\": [], \"x\": 1}").signed(by: app.one))
        #expect(UpdateError.Code.allCases.count == 12)
    }

    // MARK: Signatures

    @Test("The threshold counts distinct keys, so two signatures by one key count once")
    func threshold() throws {
        var app = app
        app.threshold = 2
        let publication = Publication()
        #expect(try app.code(publication.signed(by: app.one, app.two)) == nil)
        #expect(try app.code(publication.signed(by: app.one)) == .thresholdNotMet)
        #expect(try app.code(publication.signed(by: app.one, app.one)) == .thresholdNotMet)
        #expect(try app.code(publication.signed(by: app.one, app.stranger)) == .thresholdNotMet)
        #expect(try app.code(publication.signed(by: app.stranger, app.stranger)) == .invalidSignature)
    }

    @Test("The key id is only a hint: a wrong, missing or malformed one changes nothing")
    func keyIDs() throws {
        var two = app
        two.threshold = 2
        for id in [app.two.key.id, "", "nonsense", app.stranger.key.id] {
            var envelope = SignedEnvelope(payload: Publication().payload)
            envelope.signatures = [try app.one.signature(over: envelope, keyID: id)]
            #expect(try app.code(envelope.json) == nil)
            // One key signs twice under two ids and still counts once.
            envelope.signatures.append(try app.one.signature(over: envelope, keyID: app.two.key.id))
            #expect(try two.code(envelope.json) == .thresholdNotMet)
            envelope.signatures.append(try app.two.signature(over: envelope, keyID: id))
            #expect(try two.code(envelope.json) == nil)
        }
        // An untrusted signer with a trusted key's id stays untrusted.
        var envelope = SignedEnvelope(payload: Publication().payload)
        envelope.signatures = [try app.stranger.signature(over: envelope, keyID: app.one.key.id)]
        #expect(try app.code(envelope.json) == .invalidSignature)
    }

    @Test("A signature is valid only for its payload and payload type")
    func mixed() throws {
        var envelope = SignedEnvelope(payload: Publication(version: "8").payload)
        let other = SignedEnvelope(payload: Publication(version: "7").payload)
        envelope.signatures = [try app.one.signature(over: other)]
        #expect(try app.code(envelope.json) == .invalidSignature)
        let report = SignedEnvelope(payloadType: "application/json", payload: envelope.payload)
        envelope.signatures = [try app.one.signature(over: report)]
        #expect(try app.code(envelope.json) == .invalidSignature)
        envelope.signatures = [try app.one.signature(over: envelope)]
        #expect(try app.code(envelope.json) == nil)
        // A signature over the bare payload, without DSSE's encoding.
        let bare = try #require(Ed25519.signature(of: envelope.payload, seed: app.one.seed))
        envelope.signatures = [.init(keyID: nil, bytes: bare)]
        #expect(try app.code(envelope.json) == .invalidSignature)
    }

    @Test("Signatures of other algorithms may be present beside a valid one")
    func otherAlgorithms() throws {
        var envelope = SignedEnvelope(payload: Publication().payload)
        envelope.signatures = [.init(keyID: "ecdsa", bytes: [UInt8](repeating: 0x30, count: 71))]
        #expect(try app.code(envelope.json) == .invalidSignature)
        envelope.signatures.append(try app.one.signature(over: envelope))
        #expect(try app.code(envelope.json) == nil)
    }

    // MARK: Version

    @Test("An update below the floor is refused, and one at the floor is accepted only with the same payload")
    func floor() throws {
        let seven = try Publication().signed(by: app.one)
        let floor = try app.verifier.verify(seven, floor: nil, at: Publication.now).floor(for: try app.trust)
        #expect(try app.code(of: Publication(version: "6"), floor: floor) == .rollback)
        #expect(try app.code(of: Publication(version: "8"), floor: floor) == nil)
        #expect(try app.code(of: Publication(more: " "), floor: floor) == .replacedVersion)
        // Another envelope with the same payload is the same update.
        let again = try app.verifier.verify(try Publication().signed(by: app.two), floor: floor, at: Publication.now)
        #expect(again.isUnchanged)
        #expect(try app.code(seven, minimumVersion: 8) == .rollback)
        #expect(try app.code(seven, minimumVersion: 7) == nil)
    }

    @Test("A floor that was reached under other keys does not count")
    func floorOfOtherKeys() throws {
        let digest = SHA256Digest(hashing: [1])
        let old = try UpdateTrust(keys: [try TestKey(50).key])
        let highest = UpdateFloor(
            version: UpdatePayload.maximumVersion, keySetID: old.keySetID, payloadDigest: digest)
        #expect(try app.code(of: Publication(), floor: highest) == nil)
        let ours = UpdateFloor(
            version: UpdatePayload.maximumVersion, keySetID: try app.trust.keySetID, payloadDigest: digest)
        #expect(try app.code(of: Publication(), floor: ours) == .rollback)
        let reordered = try UpdateTrust(keys: [app.two.key, app.one.key], threshold: 2)
        #expect(reordered.keySetID == (try app.trust.keySetID))
    }

    @Test("The version of the bundled policy is a floor, and stands for its rules")
    func bundledFloor() throws {
        var app = app
        let rules = Publication.rule("example.com")
        app.bundled = Publication.policy(rules, more: ", \"updateVersion\": 7")
        #expect(try app.code(of: Publication(version: "6", policy: Publication.policy(rules))) == .rollback)
        #expect(try app.code(of: Publication(version: "7", policy: Publication.policy(rules))) == nil)
        #expect(try app.code(of: Publication(version: "7")) == .replacedVersion)
        #expect(try app.code(of: Publication(version: "8")) == nil)
        // The version is checked before dates and scope.
        let foreign = Publication.policy(rules, Publication.rule("example.net"))
        for (version, late, wide) in [
            ("7", .replacedVersion, .replacedVersion), ("8", .expired, .outOfScope),
        ] as [(String, UpdateError.Code, UpdateError.Code)] {
            let expired = Publication(version: version, expiresAt: "2026-11-19T00:00:00Z")
            #expect(try app.code(of: expired) == late)
            #expect(try app.code(of: Publication(version: version, policy: foreign)) == wide)
        }
        let expired = Publication(version: "7", expiresAt: "2026-11-19T00:00:00Z", policy: Publication.policy(rules))
        #expect(try app.code(of: expired) == .expired)
    }

    @Test("An update that was adopted stays, although the app now ships other rules with its version")
    func adoptedBeforeBundled() throws {
        let bytes = try Publication().signed(by: app.one)
        let floor = try app.verifier.verify(bytes, floor: nil, at: Publication.now).floor(for: try app.trust)
        var app = app
        app.bundled = Publication.policy(Publication.rule("example.com"), more: ", \"updateVersion\": 7")
        #expect(try app.code(bytes, floor: floor) == nil)
        #expect(try app.code(bytes) == .replacedVersion)
    }

    @Test("An update is unchanged if the floor or the bundled policy has its version")
    func unchanged() throws {
        let rules = Publication.policy(Publication.rule("example.com"))
        let (first, seventh) = (Publication(version: "1", policy: rules), Publication(policy: rules))
        func isUnchanged(_ publication: Publication, _ verifier: UpdateVerifier) throws -> Bool {
            try verifier.verify(try publication.signed(by: app.one), floor: nil, at: Publication.now).isUnchanged
        }
        #expect(try !isUnchanged(first, app.verifier))
        #expect(try !isUnchanged(first, UpdateVerifier(trust: try app.trust, unscoped: nil)))
        var shipped = app
        shipped.bundled = Publication.policy(Publication.rule("example.com"), more: ", \"updateVersion\": 7")
        #expect(try isUnchanged(seventh, shipped.verifier))
        #expect(try !isUnchanged(seventh, app.verifier))
    }

    @Test("A floor has a version from 1 to 2^53 - 1, in at most 4,096 bytes")
    func floorLimits() throws {
        func floor(_ version: Int64, padding: Int = 0) -> [UInt8] {
            let digest = String(repeating: "0", count: 64)
            let text = "{\"version\": \(version), \"keySet\": \"keys\", \"payloadSHA256\": \"\(digest)\"}"
            return Array(text.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: padding)
        }
        let highest = Int64(UpdatePayload.maximumVersion)
        for version in [1, 7, highest] {
            #expect(UpdateFloor(json: floor(version)).map { Int64($0.version) } == version)
        }
        for version in [0, -1, highest + 1] { #expect(UpdateFloor(json: floor(version)) == nil) }
        let room = 4_096 - floor(7).count
        #expect(UpdateFloor(json: floor(7, padding: room)) != nil)
        #expect(UpdateFloor(json: floor(7, padding: room + 1)) == nil)
    }

    @Test("A bundled date with a fraction of a second equals the signed date without it")
    func fractions() throws {
        func policy(_ date: String, _ more: String = "") -> String {
            let expiry = ", \"expiry\": {\"after\": \"\(date)\", \"then\": \"reject\"}"
            return Publication.policy(Publication.rule("example.com", expiry), more: more)
        }
        var app = app
        app.bundled = policy("2027-06-01T00:00:00.750Z", ", \"updateVersion\": 7")
        #expect(try app.code(of: Publication(policy: policy("2027-06-01T00:00:00Z"))) == nil)
        #expect(try app.code(of: Publication(policy: policy("2027-06-01T00:00:01Z"))) == .replacedVersion)
    }

    @Test(
        "Versions are integers that every JSON parser represents exactly",
        arguments: [
            ("1", nil), ("9007199254740991", nil), ("9007199254740992", .rollback), ("9223372036854775807", .rollback),
            ("9223372036854775808", .rollback), ("100000000000000000000000", .rollback), ("0", .rollback),
            ("-1", .rollback), ("7.0", .malformedPayload), ("7e0", .malformedPayload), ("1e400", .malformedPayload),
            ("-99999999999999999999", .malformedPayload), ("null", .malformedPayload), ("07", .malformedPayload),
        ] as [(String, UpdateError.Code?)])
    func versions(_ version: String, _ code: UpdateError.Code?) throws {
        #expect(try app.code(of: Publication(version: version)) == code)
    }

    @Test("A stored update has a floor only if enough keys have signed it, as a policy with a possible version")
    func floorOfSigned() throws {
        var two = app
        two.threshold = 2
        let publication = Publication()
        func expect(_ floor: Int?, _ app: ShippedApp, _ publication: Publication, by keys: TestKey...) throws {
            let expected = try floor.map {
                UpdateFloor(
                    version: $0, keySetID: try app.trust.keySetID,
                    payloadDigest: SHA256Digest(hashing: publication.payload))
            }
            let bytes = try Publication.sign(publication.payload, type: publication.payloadType, by: keys)
            #expect(try app.verifier.floor(ofSigned: bytes) == expected, "\(publication)")
        }
        try expect(7, app, publication, by: app.one)
        try expect(nil, app, publication, by: app.stranger)
        try expect(7, two, publication, by: app.one, app.two)
        try expect(nil, two, publication, by: app.one)
        try expect(nil, two, publication, by: app.one, app.one)
        try expect(nil, two, publication, by: app.one, app.stranger)
        try expect(nil, app, Publication(payloadType: "application/json"), by: app.one)
        let highest = UpdatePayload.maximumVersion
        for (version, floor) in [("1", 1), ("\(highest)", highest), ("9007199254740992", nil), ("0", nil), ("-1", nil)]
            as [(String, Int?)]
        {
            try expect(floor, app, Publication(version: version), by: app.one)
        }
        // An update that is refused after the version has one too.
        try expect(7, app, Publication(expiresAt: "2026-11-02T00:00:00Z"), by: app.one)
        try expect(7, app, Publication(policy: Publication.policy(Publication.rule("example.net"))), by: app.one)
    }

    // MARK: Dates

    @Test("Both dates are compared with one instant: issuedAt <= now < expiresAt")
    func dates() throws {
        let publication = Publication(issuedAt: "2026-11-20T12:00:00Z", expiresAt: "2026-11-20T12:00:01Z")
        let bytes = try publication.signed(by: app.one)
        let now = Publication.now
        #expect(try app.code(bytes, at: now) == nil)
        #expect(try app.code(bytes, at: now.addingTimeInterval(0.5)) == nil)
        #expect(try app.code(bytes, at: now.addingTimeInterval(-0.5)) == .notYetIssued)
        #expect(try app.code(bytes, at: now.addingTimeInterval(1)) == .expired)
        // With a clock that was set back, or forward by years.
        #expect(try app.code(bytes, at: Date(timeIntervalSince1970: 0)) == .notYetIssued)
        #expect(try app.code(bytes, at: Date(timeIntervalSince1970: 4_000_000_000)) == .expired)
        #expect(try app.code(of: Publication(expiresAt: "2027-02-30T00:00:00Z")) == .malformedPayload)
        #expect(try app.code(of: Publication(expiresAt: "2027-02-18T00:00:00Zjunk")) == .malformedPayload)
    }

    @Test("A stored update is accepted whatever the clock says, but never below the floor")
    func stored() throws {
        let bytes = try Publication(expiresAt: "2026-11-02T00:00:00Z").signed(by: app.one)
        #expect(try app.code(bytes) == .expired)
        #expect(try app.verifier.verifyStored(bytes, floor: nil).version == 7)
        let floor = UpdateFloor(
            version: 8, keySetID: try app.trust.keySetID, payloadDigest: SHA256Digest(hashing: []))
        let error = #expect(throws: UpdateError.self) { try app.verifier.verifyStored(bytes, floor: floor) }
        #expect(error?.code == .rollback)
    }

    // MARK: Order and unknown members

    @Test("The first failed check determines the failure")
    func order() throws {
        let floor = UpdateFloor(
            version: 9, keySetID: try app.trust.keySetID, payloadDigest: SHA256Digest(hashing: []))
        let foreign = Publication.policy(Publication.rule("example.net"))
        var all = Publication(
            version: "8", issuedAt: "2027-01-01T00:00:00Z", expiresAt: "2026-01-01T00:00:00Z", policy: foreign,
            payloadType: "text/plain")
        #expect(try app.code(all.signed(by: app.stranger), floor: floor) == .invalidSignature)
        #expect(try app.code(of: all, floor: floor) == .unknownPayloadType)
        all.payloadType = SignedEnvelope.policyType
        #expect(try app.code(of: all, floor: floor) == .rollback)
        all.version = "9"
        #expect(try app.code(of: all, floor: floor) == .replacedVersion)
        all.version = "10"
        #expect(try app.code(of: all, floor: floor) == .notYetIssued)
        all.issuedAt = "2025-01-01T00:00:00Z"
        #expect(try app.code(of: all, floor: floor) == .expired)
        all.expiresAt = "2028-01-01T00:00:00Z"
        #expect(try app.code(of: all, floor: floor) == .outOfScope)
        all.policy = Publication.policy()
        #expect(try app.code(of: all, floor: floor) == .invalidPolicy)
        all.policy = Publication().policy
        #expect(try app.code(of: all, floor: floor) == nil)
    }

    @Test("Unknown members are ignored and reported beside the policy, and refused inside it")
    func unknownMembers() throws {
        let publication = Publication(more: ", \"comment\": {\"n\": 1.5e3}, \"next\": []")
        let update = try app.verifier.verify(try publication.signed(by: app.one), floor: nil, at: Publication.now)
        #expect(update.ignoredMembers == ["comment", "next"])
        let unread = Publication.policy(Publication.rule("example.com", ", \"require\": \"leafAndCA\""))
        #expect(try app.code(of: Publication(policy: unread)) == .invalidPolicy)
        #expect(try app.code(of: Publication(more: ", \"version\": 8")) == .malformedPayload)
    }
}
