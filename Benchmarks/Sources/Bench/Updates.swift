import CBaselines
import FoundationEssentials

@testable import Pintle
@testable import PintleUpdates

/// Section F: an update as it arrives in, a policy that may be put in force out.
enum UpdateSection {
    static func run() throws {
        var rows: [[String]] = []
        for rules in [1, 28, 280] {
            let (update, verifier, signed) = try scene(rules: rules)
            let times = compare([
                Peer(name: "verify") { count in
                    var versions = 0
                    for _ in 0..<count {
                        let update = try? verifier.verify(update, floor: nil, at: now)
                        versions &+= update?.version ?? 0
                    }
                    guard versions == 7 * count else { stop("an update was not taken") }
                    return versions
                },
                Peer(name: "signature") { count in
                    for _ in 0..<count where baseline_signature_verify(signed, signed.count) != 1 {
                        stop("no signature")
                    }
                    return count
                },
            ])
            rows.append([
                "\(rules) rules, \(update.count) bytes", text(times[0] / 1000, decimals: 1),
                text(times[1] / 1000, decimals: 1), text(times[0] / times[1], decimals: 2),
            ])
        }
        printTable(
            "F. Verifying an update", ["", "update, us", "EVP_DigestVerify, us", "ratio"], rows,
            notes: ["beside it: the signature alone, over as many bytes, by OpenSSL"])
    }

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func scene(rules: Int) throws -> (update: [UInt8], verifier: UpdateVerifier, signed: [UInt8]) {
        let policy = try PinningPolicy(
            hosts: try (0..<rules).map { number in
                func pin(_ kind: Int) -> String {
                    let words = [number, kind, 1, 2].flatMap { word in (0..<8).map { UInt8(word >> (8 * $0) & 0xFF) } }
                    return "sha256/" + Base64.encode(words)
                }
                return try PinnedHost("h\(number).example.com", pins: [pin(0)], backupPins: [pin(1)])
            })
        var envelope = SignedEnvelope(
            payload: UpdatePayload.json(
                version: 7, issuedAt: now.addingTimeInterval(-60), expiresAt: now.addingTimeInterval(60), policy: policy
            ))
        var key = [UInt8](repeating: 0, count: 32)
        var signature = [UInt8](repeating: 0, count: 64)
        let signed = envelope.signedBytes
        guard baseline_signature_make(signed, signed.count, &key, &signature) == 1 else { stop("no signature") }
        envelope.signatures = [.init(keyID: nil, bytes: signature)]
        let trust = try UpdateTrust(keys: [try UpdateKey(rawRepresentation: key)])
        return (envelope.json, UpdateVerifier(trust: trust, bundled: policy), signed)
    }
}
