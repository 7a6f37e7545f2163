import Testing

@testable import Pintle

@Suite("Host table against a linear scan")
struct HostTableReferenceTests {
    @Test("A look-up in the table finds the same rule as a scan over all rules", arguments: 0..<60)
    func random(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        let rules = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
            HostTableReference.Rule(
                Self.host(using: &generator), port: generator.pick([nil, 443, 8443]),
                subdomains: Bool.random(using: &generator))
        }
        let table = HostTableReference.table(rules).table
        for _ in 0..<200 {
            let host = Self.host(using: &generator)
            let port: UInt16 = generator.pick([443, 8443, 80])
            let isAddress = Bool.random(using: &generator)
            #expect(
                HostTableReference.look(up: host, port: port, isAddress: isAddress, in: table)
                    == HostTableReference.scan(rules, for: host, port: port, isAddress: isAddress),
                "\(host):\(port) address \(isAddress) in \(rules)")
        }
    }

    /// Returns a random host of few letters and labels, so that names repeat and contain each other.
    private static func host(using generator: inout SplitMix64) -> String {
        (0..<Int.random(in: 1...4, using: &generator)).map { _ in
            generator.pick(["a", "b", "ab", "ba", "aaaaaaaaa", "aaaaaaaab"])
        }.joined(separator: ".")
    }
}

/// A reference implementation of the look-up as a scan over all rules, and helpers to build the table.
enum HostTableReference {
    struct Rule: Sendable {
        let host: String
        let port: UInt16?
        let subdomains: Bool

        init(_ host: String, port: UInt16? = nil, subdomains: Bool = false) {
            self.host = host
            self.port = port
            self.subdomains = subdomains
        }
    }

    /// Returns the table of these rules, and every pair of rules for the same host and port.
    static func table(_ rules: [Rule]) -> (table: HostTable, duplicates: [[Int]]) {
        var table = HostTable()
        var duplicates: [[Int]] = []
        for (index, rule) in rules.enumerated() {
            let earlier = table.add(
                index, host: Array(rule.host.utf8), port: rule.port, includesSubdomains: rule.subdomains)
            if let earlier { duplicates.append([earlier, index]) }
        }
        return (table, duplicates)
    }

    static func look(up host: String, port: UInt16, isAddress: Bool = false, in table: HostTable) -> HostTable.Match? {
        table.match(host: Array(host.utf8), port: port, allowsSubdomainMatch: !isAddress)
    }

    static func scan(_ rules: [Rule], for host: String, port: UInt16, isAddress: Bool) -> HostTable.Match? {
        var seen: Set<String> = []
        var best: (rank: (Int, Int, Int), match: HostTable.Match)?
        for (index, rule) in rules.enumerated() {
            guard seen.insert("\(rule.host) \(rule.port ?? 0)").inserted else { continue }
            guard rule.port == nil || rule.port == port else { continue }
            let isExact = rule.host == host
            guard isExact || (rule.subdomains && !isAddress && host.hasSuffix("." + rule.host)) else { continue }
            let rank = (rule.port == nil ? 0 : 1, isExact ? 1 : 0, rule.host.utf8.count)
            if best.map({ $0.rank < rank }) ?? true {
                best = (rank, HostTable.Match(rule: index, isExact: isExact))
            }
        }
        return best?.match
    }
}

/// A random number generator with a fixed seed, so that failures can be reproduced.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &self)]
    }
}
