import CBaselines
import Glibc

@testable import Pintle

/// The names that section D looks up. They are contiguous in memory, so that reading the queries costs every peer the
/// same.
struct Queries {
    let bytes: [UInt8]
    let ranges: [Range<Int>]

    init(_ names: [String]) {
        var bytes: [UInt8] = []
        ranges = names.map { name in
            let start = bytes.count
            bytes += name.utf8
            return start..<bytes.count
        }
        self.bytes = bytes
    }

    var strings: [String] { ranges.map { String(decoding: bytes[$0], as: UTF8.self) } }
}

enum Hosts {
    /// Returns hosts of 20 to 25 bytes with two to four labels.
    static func rules(_ count: Int) -> [String] {
        let services = ["api", "gateway", "images", "login", "mail", "static", "www", "cdn.eu"]
        let domains = ["example.com", "example.org", "bank.example", "shop.test", "city.example.net"]
        return (0..<count).map { "\(services[$0 % 8])-\($0 + 100).\(domains[$0 % 5])" }
    }

    /// Returns queries for exact matches, sub-domains and misses, `spread` names each, from all over the table.
    static func queries(_ rules: [String], spread: Int) -> [(kind: String, names: [String])] {
        var generator = SplitMix64(state: 42)
        let picked = (0..<spread).map { _ in rules[Int.random(in: rules.indices, using: &generator)] }
        return [
            ("exact", picked),
            ("subdomain", picked.map { "edge7." + $0 }),
            ("miss", picked.map { "not-" + $0 }),
        ]
    }

    /// - Parameters:
    ///   - rules: the hosts.
    ///   - seed: makes the keys of the hash the same in every run.
    static func table(_ rules: [String], seed: UInt64? = nil) -> HostTable {
        var builder = HostTableBuilder()
        for rule in rules {
            do {
                try builder.add(host: Array(rule.utf8).span, port: nil, includesSubdomains: true)
            } catch {
                print("not a host: \(rule)")
                exit(2)
            }
        }
        guard let seed else { return builder.build().table }
        var generator = SplitMix64(state: seed)
        return builder.build(using: &generator).table
    }

    /// Returns a peer that runs every query `count` times through the flat table.
    static func peer(_ table: HostTable, _ names: [String]) -> Peer {
        let queries = Queries(names)
        return Peer(name: "Pintle") { count in
            let bytes = queries.bytes.span
            var sum = 0
            for _ in 0..<count {
                for range in queries.ranges {
                    let name = bytes.extracting(range)
                    sum &+= table.match(host: name, port: 443, allowsSubdomainMatch: true)?.rule ?? 0
                }
            }
            return sum
        }
    }

    static func peer(_ table: [String: Int], _ names: [String]) -> Peer {
        Peer(name: "Swift Dictionary") { count in
            var sum = 0
            for _ in 0..<count {
                for name in names {
                    var rule = table[name]
                    var rest = name[...]
                    while rule == nil, let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
                        rest = rest[rest.index(after: dot)...]
                        rule = table[String(rest)]
                    }
                    sum &+= rule ?? 0
                }
            }
            return sum
        }
    }

    static func cTable(_ rules: [String]) -> OpaquePointer? {
        let table = baseline_hosts_new(rules.count)
        for (index, rule) in rules.enumerated() {
            baseline_hosts_add(table, rule, rule.utf8.count, UInt32(index))
        }
        return table
    }

    static func peer(_ table: OpaquePointer?, _ names: [String]) -> Peer {
        let queries = Queries(names)
        return Peer(name: "C hash table") { count in
            queries.bytes.withUnsafeBytes { bytes in
                let base = bytes.bindMemory(to: CChar.self)
                var sum = 0
                for _ in 0..<count {
                    for range in queries.ranges {
                        let name = base[range]
                        sum &+= Int(
                            baseline_hosts_find(table, UnsafeBufferPointer(rebasing: name).baseAddress, name.count))
                    }
                }
                return sum
            }
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
