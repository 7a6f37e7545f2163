import CBaselines
import FoundationEssentials
import Pintle

@testable import PintleOpenSSL

/// Section B: path validation with the host name, and the pins.
enum PathSection {
    static func run(_ material: Material) throws {
        let leaves = [("P-256 leaf", material.leafP256), ("RSA leaf", material.leafRSA)]
        var rows: [[String]] = [
            ["Pintle, in the handshake"], ["C, parsed certificates"], ["Pintle, from DER"], ["C, from DER"],
            ["Pintle, from DER, unknown issuers"],
        ]
        var ratios: [String] = []
        for (name, leaf) in leaves {
            let times = compare(try peers(leaf, material), batches: 31, batchNanoseconds: 5_000_000)
            for row in rows.indices { rows[row].append(text(times[row] / 1000, decimals: 1)) }
            ratios.append("\(name), in the handshake: \(ratio(times[0] / 1000, to: times[1] / 1000, atMost: 1.15))")
            ratios.append("\(name), from DER: \(ratio(times[2] / 1000, to: times[3] / 1000, atMost: 1))")
        }
        printTable(
            "B. Path validation with host name, us", ["chain"] + leaves.map(\.0), rows,
            notes: ratios + [
                "from DER Pintle parses an issuer once for all its leaves, C each time; the last row parses too",
                "not measured here: webpki + ring (its registry cannot be reached)",
            ])
    }

    static func peers(_ leaf: [UInt8], _ material: Material) throws -> [Peer] {
        var certificates = [leaf, material.intermediate, material.root].map(baselineCertificate)
        let path = baseline_path_new(&certificates[0], &certificates[1], &certificates[2], "bench.example")
        return [
            try inHandshake(leaf, material, path),
            baseline("C, parsed certificates", path, fromDER: false),
            try fromDER(leaf, material),
            baseline("C, from DER", path, fromDER: true),
            try fromDER(leaf, material, knowsIssuers: false),
        ]
    }

    /// Does the work of the verification callback: copies the chain, then checks path, name, profile, rule and pins.
    static func inHandshake(_ leaf: [UInt8], _ material: Material, _ path: OpaquePointer?) throws -> Peer {
        let policy = try policy(leaf, material)
        let endpoint = ServerEndpoint(host: try ServerName("bench.example"))
        let validator = PathValidator()
        let instant = Date()
        guard let context = baseline_path_context(path), let connection = baseline_connection() else {
            stop("no context")
        }
        return Peer(name: "Pintle, in the handshake") { count in
            for _ in 0..<count {
                guard let chain = PeerChain(borrowing: context, of: connection) else { stop("no chain") }
                check(policy.evaluate(endpoint, chain, at: instant, validator: validator))
            }
            return count
        }
    }

    /// Validates paths from DER. A validator parses an issuer once, however many leaves it has signed; a new validator
    /// has none in its cache.
    static func fromDER(_ leaf: [UInt8], _ material: Material, knowsIssuers: Bool = true) throws -> Peer {
        let policy = try policy(leaf, material)
        let endpoint = ServerEndpoint(host: try ServerName("bench.example"))
        let validator = PathValidator()
        let instant = Date()
        let presented = [leaf, material.intermediate]
        return Peer(name: "Pintle, from DER") { count in
            for _ in 0..<count {
                let validator = knowsIssuers ? validator : PathValidator()
                check(policy.evaluate(endpoint, presented: presented, at: instant, validate: validator.validate))
            }
            return count
        }
    }

    private static func check(_ evaluation: TrustEvaluation) {
        guard evaluation.decision.code == .pinMatched else { stop("refused: \(evaluation.decision)") }
    }

    private static func policy(_ leaf: [UInt8], _ material: Material) throws -> PinningPolicy {
        try PinningPolicy(hosts: [
            PinnedHost(
                "bench.example", pins: [try Certificate(der: leaf).publicKeyPin.description], backup: .noneAccepted,
                anchors: .only([try Certificate(der: material.root)]))
        ])
    }

    private static func baseline(_ name: String, _ path: OpaquePointer?, fromDER: Bool) -> Peer {
        Peer(name: name) { count in
            var valid = 0
            for _ in 0..<count { valid += Int(baseline_path_verify(path, fromDER ? 1 : 0)) }
            guard valid == count else { stop("\(name): refused") }
            return valid
        }
    }
}
