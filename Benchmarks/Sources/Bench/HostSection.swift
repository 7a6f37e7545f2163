import CBaselines
import FoundationEssentials
import Glibc
import Pintle

/// Section D: host look-up.
enum HostSection {
    private static let sizes = [10, 1_000, 100_000, 1_000_000]
    private static let spreads = [
        (16, "sixteen names over and over"), (65_536, "65,536 names from all over the table"),
    ]

    static func run(go: String?) throws {
        var hot: [String: [Double]] = [:]
        var goTimes: [String: Double] = [:]
        for (spread, title) in spreads {
            var rows: [[String]] = []
            for size in sizes {
                let rules = Hosts.rules(size)
                let queries = Hosts.queries(rules, spread: spread)
                let table = Hosts.table(rules)
                let cTable = Hosts.cTable(rules)
                let dictionary = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1, $0) })
                let inGo = go.map { GoPeer.run($0, rules, queries) } ?? [:]
                for (kind, names) in queries {
                    let peers = [Hosts.peer(table, names), Hosts.peer(cTable, names), Hosts.peer(dictionary, names)]
                    let times = compare(peers, batches: 15).map { $0 / Double(names.count) }
                    let columns = [times[0], inGo[kind], times[1], times[2]]
                    rows.append(["\(size)", kind] + columns.map { $0.map { text($0, decimals: 1) } ?? "-" })
                    if spread == 16 {
                        hot[kind, default: []].append(times[0])
                        goTimes[kind] = inGo[kind]
                    }
                }
            }
            printTable(
                "D. Host look-up, ns: \(title)",
                ["rules", "query", "Pintle", "Go map", "C table", "Swift Dictionary"], rows)
        }
        for (kind, times) in hot.sorted(by: { $0.key < $1.key }) {
            print("  \(kind), 1,000,000 rules : 10 rules, hot: \(ratio(times[3], to: times[0], atMost: 2))")
            if let goTime = goTimes[kind] {
                print("  \(kind), 1,000,000 rules, hot, Pintle : Go map: \(ratio(times[3], to: goTime, atMost: 1))")
            }
        }
        if go == nil { print("  Go is not installed: its map was not measured (apt-get install golang-go)") }
        try memory()
    }

    /// Prints the memory of a policy with a million rules that have the same pins.
    private static func memory() throws {
        let count = 1_000_000
        let pins = ["sha256/" + String(repeating: "QUJD", count: 10) + "QUE="]
        let backups = ["sha256/" + String(repeating: "QUJD", count: 10) + "QUI="]
        let before = baseline_heap_bytes()
        let policy = try {
            let template = try PinnedHost("example.com", pins: pins, backupPins: backups)
            return try PinningPolicy(
                hosts: Hosts.rules(count).map { name in
                    try PinnedHost(
                        name, includingSubdomains: true, pins: template.pins, backupPins: template.backupPins)
                })
        }()
        let perRule = Double(baseline_heap_bytes() - before) / Double(count)
        print(
            "  a policy of 1,000,000 rules keeps \(text(perRule, decimals: 1)) bytes a rule, target <= 150: "
                + (perRule <= 150 ? "met" : "MISSED"))
        guard policy.rule(for: ServerEndpoint(host: try ServerName("a.api-100.example.com"))) != nil else {
            stop("the policy does not know its hosts")
        }
    }
}

/// Runs the same look-ups in hosts.go.
enum GoPeer {
    static func run(_ program: String, _ rules: [String], _ queries: [(kind: String, names: [String])])
        -> [String: Double]
    {
        var input = rules.joined(separator: "\n") + "\n\n"
        for (kind, names) in queries { input += "#\(kind)\n" + names.joined(separator: "\n") + "\n" }
        let path = "/tmp/pintle-bench-\(getpid()).txt"
        defer { unlink(path) }
        guard let file = fopen(path, "w") else { stop("cannot write \(path)") }
        fputs(input, file)
        fclose(file)
        guard let pipe = popen("'\(program)' < \(path)", "r") else { stop("cannot run \(program)") }
        defer { pclose(pipe) }
        var output = [UInt8](repeating: 0, count: 4096)
        let count = fread(&output, 1, output.count, pipe)
        var times: [String: Double] = [:]
        for line in String(decoding: output[..<count], as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2 { times[String(parts[0])] = Double(parts[1]) }
        }
        return times
    }
}
