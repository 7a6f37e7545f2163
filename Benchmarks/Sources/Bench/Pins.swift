import CBaselines
import FoundationEssentials
import Pintle

/// Section A: from certificates in DER to a decision.
struct PinCase {
    let name: String
    let certificates: [[UInt8]]
    /// The distance of the pinned key from the leaf.
    let depth: Int

    static func all(_ material: Material) -> [PinCase] {
        let path = [material.leafP256, material.intermediate, material.root]
        return [
            PinCase(name: "P-256 leaf", certificates: path, depth: 0),
            PinCase(name: "intermediate", certificates: path, depth: 1),
            PinCase(
                name: "RSA leaf", certificates: [material.leafRSA, material.intermediate, material.root], depth: 0),
        ]
    }

    /// The whole decision on a validated path: the rule for the host, the date, and the pins. As usual, the rule has a
    /// backup pin besides the matching one.
    func pintle() throws -> Peer {
        let policy = try policy()
        let endpoint = ServerEndpoint(host: try ServerName("bench.example"))
        let path = ValidatedPath(uncheckedLeafToAnchor: certificates)
        let instant = Self.instant
        return Peer(name: "Pintle, the decision") { count in
            var matches = 0
            for _ in 0..<count {
                if case .trusted(.pinMatched(let match)) = policy.decide(endpoint, path: path, at: instant) {
                    matches &+= match.depth &+ 1
                }
            }
            guard matches == count * (depth + 1) else { stop("\(name): the pin did not match") }
            return matches
        }
    }

    private func policy() throws -> PinningPolicy {
        let pin = try Certificate(der: certificates[depth]).publicKeyPin
        return try PinningPolicy(hosts: [
            PinnedHost(
                "bench.example", includingSubdomains: true, pins: [pin.description], backupPins: [Self.backup],
                expiry: .systemTrust(after: Date(timeIntervalSince1970: 4_000_000_000)))
        ])
    }

    func baseline(_ name: String, _ method: baseline_pin_method) throws -> Peer {
        let chain = certificates.map(baselineCertificate)
        let pin = try Certificate(der: certificates[depth]).publicKeyPin
        let pins = try [pin, PublicKeyPin(Self.backup)].flatMap(\.bytes)
        return Peer(name: name) { count in
            pins.withUnsafeBytes { pins in
                let pins = pins.baseAddress?.assumingMemoryBound(to: baseline_digest.self)
                var matches = 0
                for _ in 0..<count {
                    matches &+= Int(baseline_match_pins(method, chain, chain.count, pins, 2)) &+ 1
                }
                guard matches == count * (depth + 1) else { stop("\(self.name): \(name) did not match") }
                return matches
            }
        }
    }

    func peers() throws -> [Peer] {
        [
            try pintle(),
            try baseline("C walk and SHA-256", BASELINE_WALK),
            try baseline("C d2i_X509", BASELINE_D2I),
        ]
    }

    private static let instant = Date(timeIntervalSince1970: 1_800_000_000)
    private static let backup = "sha256/" + String(repeating: "QUJD", count: 10) + "QUI="
}

enum PinSection {
    static func run(_ material: Material) throws {
        let cases = PinCase.all(material)
        let peers = try cases.map { try $0.peers() }
        let times = peers.map { compare($0) }
        let rows = peers[0].indices.map { row in
            [peers[0][row].name] + times.map { text($0[row], decimals: $0[row] < 1000 ? 1 : 0) }
        }
        printTable("A. Pin decision, ns", ["match at"] + cases.map(\.name), rows)
        for (index, each) in cases.enumerated() {
            let allocations = allocations(of: peers[index][0])
            print(
                "  \(each.name): \(limit(times[index][0] / 1000, atMost: 1, unit: "us")), "
                    + "\(text(allocations, decimals: 2)) allocations")
        }
        try runMismatches(cases[0])
        print("  the decision finds the rule of the host and looks at its date too, which the walks in C do not")
        print("  not measured here: Rust webpki + sha2, OkHttp, swift-certificates (cannot be had offline)")
    }

    /// Measures mismatches. Inside the handshake, each one searches all rules for one that pins the served key.
    private static func runMismatches(_ pin: PinCase) throws {
        let path = ValidatedPath(uncheckedLeafToAnchor: pin.certificates)
        let endpoint = ServerEndpoint(host: try ServerName("h0.example.com"))
        for rules in [1, 1_000, 20_000] {
            let policy = try UpdateSection.policy(rules: rules)
            let instant = Date(timeIntervalSince1970: 1_800_000_000)
            let mismatch = Peer(name: "mismatch") { count in
                var mismatches = 0
                for _ in 0..<count where policy.decide(endpoint, path: path, at: instant).code == .pinMismatch {
                    mismatches &+= 1
                }
                guard mismatches == count else { stop("no mismatch") }
                return mismatches
            }
            print("  a mismatch among \(rules) rules: \(text(compare([mismatch])[0] / 1000, decimals: 1)) us")
        }
    }
}
