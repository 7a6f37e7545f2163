import FoundationEssentials
import Pintle
import PintleCrypto
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

/// A test signer with a fixed seed. Ed25519 is deterministic, so the updates are too.
struct TestKey {
    let seed: [UInt8]
    let key: UpdateKey

    init(_ number: UInt8) throws {
        seed = [UInt8](repeating: number, count: 31) + [0xA5]
        key = try UpdateKey(rawRepresentation: try #require(Ed25519.publicKey(ofSeed: seed)))
    }

    func signature(over envelope: SignedEnvelope, keyID: String? = nil) throws -> SignedEnvelope.Signature {
        .init(keyID: keyID ?? key.id, bytes: try #require(Ed25519.signature(of: envelope.signedBytes, seed: seed)))
    }
}

enum Pins {
    /// Returns a distinct pin for each number.
    static func pin(_ number: UInt8) -> String {
        "sha256/" + Base64.encode([UInt8](repeating: 0, count: 31) + [number])
    }
}

/// The parts of an update. Valid unless a test changes them.
struct Publication {
    /// The time of all tests, 2026-11-20T12:00:00Z.
    static let now = Date(timeIntervalSince1970: 1_795_176_000)

    static func rule(_ host: String, pin: UInt8 = 1, _ more: String = "") -> String {
        """
        {"host": "\(host)", "pins": ["\(Pins.pin(pin))"], "backupPins": ["\(Pins.pin(pin + 100))"]\(more)}
        """
    }

    static func policy(_ rules: String..., more: String = "") -> String {
        "{\"version\": 1\(more), \"hosts\": [\(rules.joined(separator: ", "))]}"
    }

    static func read(_ json: String) throws -> PinningPolicy { try PinningPolicy(json: Array(json.utf8)) }

    var version = "7"
    var issuedAt = "2026-11-01T00:00:00Z"
    var expiresAt = "2027-02-18T00:00:00Z"
    var policy = Publication.policy(Publication.rule("example.com", pin: 2))
    var more = ""
    var payloadType = SignedEnvelope.policyType

    var payload: [UInt8] {
        Array(
            """
            {"version": \(version), "issuedAt": "\(issuedAt)", "expiresAt": "\(expiresAt)", "policy": \(policy)\(more)}
            """.utf8)
    }

    func signed(by keys: TestKey...) throws -> [UInt8] {
        try Self.sign(payload, type: payloadType, by: keys)
    }

    static func sign(
        _ payload: [UInt8], type: String = SignedEnvelope.policyType, by keys: [TestKey]
    ) throws -> [UInt8] {
        var envelope = SignedEnvelope(payloadType: type, payload: payload)
        for key in keys { envelope.signatures.append(try key.signature(over: envelope)) }
        return envelope.json
    }
}

/// A shipped app: its keys and its policy.
struct ShippedApp {
    let one: TestKey
    let two: TestKey
    let stranger: TestKey
    var threshold = 1
    var bundled = Publication.policy(Publication.rule("example.com"))

    init() throws {
        one = try TestKey(1)
        two = try TestKey(2)
        stranger = try TestKey(99)
    }

    var trust: UpdateTrust { get throws { try UpdateTrust(keys: [one.key, two.key], threshold: threshold) } }

    var verifier: UpdateVerifier {
        get throws { UpdateVerifier(trust: try trust, bundled: try Publication.read(bundled)) }
    }

    /// Returns the code of the failure; `nil` for an accepted update.
    func code(
        _ envelope: [UInt8], floor: UpdateFloor? = nil, minimumVersion: Int = 0, at now: Date = Publication.now
    ) throws -> UpdateError.Code? {
        let taker = try verifier
        do throws(UpdateError) {
            _ = try taker.verify(envelope, floor: floor, minimumVersion: minimumVersion, at: now)
            return nil
        } catch {
            return error.code
        }
    }

    func code(of publication: Publication, floor: UpdateFloor? = nil) throws -> UpdateError.Code? {
        try code(publication.signed(by: one), floor: floor)
    }
}
