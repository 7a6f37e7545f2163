/// The effect of other tasks of a pinned session on the latency of requests that have nothing to do with them.
struct LoadIsolation {
    let runner: LoadRunner

    func run() throws {
        let kinds = [LoadClientKind.pinned, .besideSlowDelegate, .besideSlowHost]
        var rows: [[String]] = []
        for version in LoadServers.Version.allCases {
            // Five control runs, and a run beside each disturbance after each of them.
            let results = try runner.batches(kinds, version, size: 100, width: 64, seconds: 0.5, turns: 5)
            let p99 = results.map { $0.batches.map { $0.p99 / 1_000 }.sorted() }
            let medians = p99.map { $0[$0.count / 2] }
            let spread = ((p99[0].last ?? 0) - (p99[0].first ?? 0)) / medians[0]
            let limit = max(0.25, spread)
            for (kind, median) in zip(kinds, medians) {
                let change = median / medians[0] - 1
                let verdict = kind == .pinned ? "" : change < limit ? "met" : "MISSED"
                rows.append(
                    [version.title, kind == .pinned ? "alone" : kind.title, text(median)]
                        + (kind == .pinned
                            ? ["spread \(percent(spread))", ""] : [percent(change), "< \(percent(limit))"]) + [verdict])
            }
        }
        printTable(
            "G. p99 of 64 GETs of 100 bytes at once, of a pinned session; us",
            ["version", "session", "p99", "change", "target", ""], rows,
            notes: [
                "slow delegate: 4 tasks, 50 ms in each callback; slow host: 16 tasks, 100 ms and then 4 KiB each 10 ms"
            ])
    }

    private func percent(_ ratio: Double) -> String { "\(ratio < 0 ? "-" : "")\(text(abs(ratio) * 100)) %" }
}
