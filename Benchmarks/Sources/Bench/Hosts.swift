import FoundationEssentials
import Pintle

enum Hosts {
    /// Returns hosts of 20 to 25 bytes with two to four labels.
    static func rules(_ count: Int) -> [String] {
        let services = ["api", "gateway", "images", "login", "mail", "static", "www", "cdn.eu"]
        let domains = ["example.com", "example.org", "bank.example", "shop.test", "city.example.net"]
        return (0..<count).map { "\(services[$0 % 8])-\($0 + 100).\(domains[$0 % 5])" }
    }

    /// Returns queries for exact matches, sub-domains and misses, `spread` servers each, from all over the policy.
    static func queries(_ rules: [String], spread: Int) throws -> [(kind: String, servers: [ServerEndpoint])] {
        var generator = SplitMix64(state: 42)
        let picked = (0..<spread).map { _ in rules[Int.random(in: rules.indices, using: &generator)] }
        return try [("exact", ""), ("subdomain", "edge7."), ("miss", "not-")].map { kind, prefix in
            (kind, try picked.map { ServerEndpoint(host: try ServerName(prefix + $0)) })
        }
    }

    static func policy(_ rules: [String]) throws -> PinningPolicy {
        try PinningPolicy(
            hosts: rules.map { try PinnedHost($0, includingSubdomains: true, anchors: .system) })
    }

    /// Returns a peer that runs every query `count` times.
    static func peer(_ policy: PinningPolicy, _ servers: [ServerEndpoint]) -> Peer {
        Peer(name: "Pintle") { count in
            var sum = 0
            for _ in 0..<count {
                for server in servers { sum &+= policy.rule(for: server)?.index ?? 0 }
            }
            return sum
        }
    }
}

/// A random generator with the same numbers in every run.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
