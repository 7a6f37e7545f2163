import CBaselines
import FoundationEssentials

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleUpdates

/// Section F: from the bytes of an update to a policy that may come into force.
enum UpdateSection {
    static func run() throws {
        var rows: [[String]] = []
        for rules in [1, 28, 280] {
            let (peers, bytes) = try peers(rules: rules)
            let times = compare(peers)
            rows.append(
                ["\(rules) rules, \(bytes) bytes"] + times.map { text($0 / 1000, decimals: 1) }
                    + [times[0], times[0] - times[1]].map { text($0 / times[2], decimals: 2) })
        }
        printTable(
            "F. Verifying an update",
            [
                "", "update, us", "its policy, us", "EVP_DigestVerify, us", "ratio", "without the policy",
            ], rows,
            notes: [
                "beside it: the signature alone, over as many bytes, by OpenSSL",
                "its policy: the same rules read from a policy file, which an app has to do in any case",
            ])
        try runPolicies()
        try runUnsigned()
    }

    /// Measures policy files. The cost of a rule must not grow with the number of rules.
    private static func runPolicies() throws {
        var limits: [String] = []
        let rows = try [100, 1_000, 20_000].map { rules in
            let json = try policy(rules: rules).json()
            let peers = [
                Peer(name: "read") { count in
                    (0..<count).reduce(0) { sum, _ in sum &+ ((try? PinningPolicy(json: json))?.hosts.count ?? 0) }
                },
                Peer(name: "lint") { count in
                    (0..<count).reduce(0) { sum, _ in sum &+ PolicyLint(at: now).report(on: json).findings.count }
                },
            ]
            let times = compare(peers, batches: rules > 1_000 ? 5 : 41)
            let milliseconds = limit(times[0] / 1e6, atMost: Double(rules) / 50, unit: "ms")
            limits.append("\(rules) rules read in \(milliseconds)")
            return ["\(rules) rules, \(json.count) bytes"] + times.map { text($0 / Double(rules)) }
        }
        printTable("F. A policy file, ns a rule", ["", "read", "lint"], rows, notes: limits)
    }

    /// Returns peers for an update, only its policy, and only the signature, and the update's size in bytes.
    static func peers(rules: Int) throws -> (peers: [Peer], bytes: Int) {
        let (update, policy, verifier, signed) = try scene(rules: rules)
        let peers = [
            Peer(name: "verify") { count in
                var versions = 0
                for _ in 0..<count { versions &+= (try? verifier.verify(update, floor: nil, at: now))?.version ?? 0 }
                guard versions == 7 * count else { stop("an update was not taken") }
                return versions
            },
            Peer(name: "policy") { count in
                var hosts = 0
                for _ in 0..<count { hosts &+= (try? PinningPolicy(json: policy))?.hosts.count ?? 0 }
                guard hosts == rules * count else { stop("a policy was not read") }
                return hosts
            },
            Peer(name: "signature") { count in
                for _ in 0..<count where baseline_signature_verify(signed, signed.count) != 1 {
                    stop("no signature")
                }
                return count
            },
        ]
        return (peers, update.count)
    }

    /// Measures envelopes that no trusted key has signed: the largest one, and those that cause the most hashing.
    private static func runUnsigned() throws {
        let cases = [(1, 1, 12_500_000), (16, 16, 12_500_000), (16, 16, 700_000)]
        let rows = try cases.map { signatures, keys, size in
            let (peers, bytes) = try unsignedPeers(signatures: signatures, keys: keys, payloadSize: size)
            let times = compare(peers, batches: 5).map { $0 / 1e6 }
            return [
                "\(signatures) x \(keys), \(bytes) bytes", text(times[0], decimals: 1), text(times[1], decimals: 1),
                text(times[0] / times[1], decimals: 2), text(times[2], decimals: 1),
            ]
        }
        printTable(
            "F. Refusing an update without a valid signature",
            ["signatures x keys", "update, ms", "EVP_DigestVerify, ms", "ratio", "parsing, ms"], rows,
            notes: ["target: the largest one with one signature and one key in 100 ms; more hash at most 256 MiB"])
    }

    /// Returns peers for refusing an update, for one signature check over its bytes, and for parsing its envelope, and
    /// the update's size in bytes.
    private static func unsignedPeers(
        signatures: Int, keys: Int, payloadSize: Int
    ) throws -> (peers: [Peer], bytes: Int) {
        func make(_ number: Int) -> (key: [UInt8], signature: [UInt8]) {
            var key = [UInt8](repeating: 0, count: 32)
            var signature = [UInt8](repeating: 0, count: 64)
            guard baseline_signature_make([], 0, UInt8(number), &key, &signature) == 1 else { stop("no signature") }
            return (key, signature)
        }
        let trust = try UpdateTrust(keys: (0..<keys).map { try UpdateKey(rawRepresentation: make($0).key) })
        var envelope = SignedEnvelope(payload: [UInt8](repeating: 0x20, count: payloadSize))
        envelope.signatures = (0..<signatures).map { .init(keyID: nil, bytes: make(100 + $0).signature) }
        let (update, signed) = (envelope.json, envelope.signedBytes)
        let verifier = UpdateVerifier(trust: trust, bundled: try PinningPolicy(hosts: []))
        let peers = [
            Peer(name: "refuse") { count in
                var refusals = 0
                for _ in 0..<count {
                    do throws(UpdateError) {
                        _ = try verifier.verify(update, floor: nil, at: now)
                    } catch {
                        refusals += error.code == .invalidSignature ? 1 : 0
                    }
                }
                guard refusals == count else { stop("an update was taken") }
                return refusals
            },
            Peer(name: "signature") { count in
                (0..<count).reduce(0) { sum, _ in sum &+ Int(baseline_signature_verify(signed, signed.count)) }
            },
            Peer(name: "parse") { count in
                (0..<count).reduce(0) { sum, _ in sum &+ ((try? SignedEnvelope(update))?.signatures.count ?? 0) }
            },
        ]
        return (peers, update.count)
    }

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    static func policy(rules: Int) throws -> PinningPolicy {
        try PinningPolicy(
            hosts: try (0..<rules).map { number in
                func pin(_ kind: Int) -> String {
                    let words = [number, kind, 1, 2].flatMap { word in (0..<8).map { UInt8(word >> (8 * $0) & 0xFF) } }
                    return "sha256/" + Base64.encode(words)
                }
                return try PinnedHost("h\(number).example.com", pins: [pin(0)], backupPins: [pin(1)])
            })
    }

    private static func scene(
        rules: Int
    ) throws -> (update: [UInt8], policy: [UInt8], verifier: UpdateVerifier, signed: [UInt8]) {
        let policy = try policy(rules: rules)
        var envelope = SignedEnvelope(
            payload: UpdatePayload.json(
                version: 7, issuedAt: now.addingTimeInterval(-60), expiresAt: now.addingTimeInterval(60), policy: policy
            ))
        var key = [UInt8](repeating: 0, count: 32)
        var signature = [UInt8](repeating: 0, count: 64)
        let signed = envelope.signedBytes
        guard baseline_signature_make(signed, signed.count, 7, &key, &signature) == 1 else { stop("no signature") }
        envelope.signatures = [.init(keyID: nil, bytes: signature)]
        let trust = try UpdateTrust(keys: [try UpdateKey(rawRepresentation: key)])
        let read = Array(try UpdatePayload(envelope.payload).policy.source)
        return (envelope.json, read, UpdateVerifier(trust: trust, bundled: policy), signed)
    }
}
