import CBaselines
import Pintle

/// Section D: host look-up.
enum HostSection {
    private static let sizes = [10, 1_000, 20_000]

    static func run() throws {
        var times: [String: [Double]] = [:]
        var rows: [[String]] = []
        for size in sizes {
            let rules = Hosts.rules(size)
            let policy = try Hosts.policy(rules)
            for (kind, servers) in try Hosts.queries(rules, spread: 16) {
                let time = compare([Hosts.peer(policy, servers)], batches: 15)[0] / Double(servers.count)
                rows.append(["\(size)", kind, text(time, decimals: 1)])
                times[kind, default: []].append(time)
            }
        }
        printTable("D. Host look-up, ns", ["rules", "query", "rule(for:)"], rows)
        for (kind, times) in times.sorted(by: { $0.key < $1.key }) {
            print("  \(kind), 20,000 rules : 10 rules: \(ratio(times[2], to: times[0], atMost: 2))")
        }
        try memory()
    }

    /// Prints the memory of a policy of 20,000 rules, each with its own pins.
    private static func memory() throws {
        let before = baseline_heap_bytes()
        let policy = try UpdateSection.policy(rules: 20_000)
        let perRule = Double(baseline_heap_bytes() - before) / Double(policy.hosts.count)
        print("  a policy of 20,000 rules keeps \(text(perRule)) bytes a rule")
    }
}
