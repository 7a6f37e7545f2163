import Foundation

/// Requests a second, processor time and latency of a pinned session and its peers.
struct LoadThroughput {
    private typealias Version = LoadServers.Version

    private let runner: LoadRunner
    private let clients: [LoadClientKind]
    private let versions = Version.allCases

    init(runner: LoadRunner) {
        self.runner = runner
        clients = LoadClientKind.compared.filter { $0 != .go || runner.goClient != nil }
    }

    func run() throws {
        // For 100 bytes: by version, width and client.
        var small: [[[LoadFigures]]] = []
        for version in versions {
            small.append(try measure(version, size: 100))
            _ = try measure(version, size: 65_536)
        }
        printLatency(small)
        printTargets(small)
    }

    /// Prints the table of one kind of requests, and returns the figures by width and client.
    private func measure(_ version: Version, size: Int) throws -> [[LoadFigures]] {
        let figures = try LoadRunner.widths.map { try runner.compare(clients, version, size: size, width: $0) }
        printTable(
            "G. GETs of \(size) bytes on kept connections, \(version.title);"
                + " requests/s, and us of processor time for each",
            ["at once"] + clients.flatMap { [$0.title, "us"] },
            zip(LoadRunner.widths, figures).map { width, figures in
                ["\(width)"] + figures.flatMap { [text($0.requestsPerSecond), text($0.processor)] }
            })
        return figures
    }

    private func printLatency(_ small: [[[LoadFigures]]]) {
        let at64 = small.map { $0[2] }
        printTable(
            "G. Latency of 64 GETs of 100 bytes at once; us",
            ["client"] + versions.flatMap { ["\($0.title) p50", "p99"] },
            clients.indices.map { client in
                [clients[client].title] + at64.flatMap { [text($0[client].p50), text($0[client].p99)] }
            },
            notes: clients.contains(.go) ? [] : ["Go's net/http is not measured, because Go is not installed"])
    }

    private func printTargets(_ small: [[[LoadFigures]]]) {
        /// Returns the ratio of the pinned session's figure to libcurl's for each version.
        func toLibcurl(_ width: Int, _ figure: (LoadFigures) -> Double) -> [Double] {
            small.map { figure($0[width][0]) / figure($0[width][1]) }
        }
        let processor = toLibcurl(0, \.processor)
        let rates = toLibcurl(2, \.requestsPerSecond)
        let wide = small.map { $0[3][0].requestsPerSecond / $0[2][0].requestsPerSecond }
        printTable(
            "G. Targets, GETs of 100 bytes", ["ratio"] + versions.map(\.title) + ["target", ""],
            [
                row("one at a time, pinned : libcurl, processor time", processor, "each <= 1.50") {
                    $0.allSatisfy { $0 <= 1.5 }
                },
                row("64 at once, pinned : libcurl, requests/s", rates, "mean >= 0.45") {
                    // The geometric mean of the ratios.
                    pow($0.reduce(1, *), 1 / Double($0.count)) >= 0.45
                },
                row("256 : 64 at once, pinned, requests/s", wide, "each >= 0.90") { $0.allSatisfy { $0 >= 0.9 } },
            ])
    }

    private func row(_ name: String, _ ratios: [Double], _ target: String, isMet: ([Double]) -> Bool) -> [String] {
        [name] + ratios.map { text($0, decimals: 2) } + [target, isMet(ratios) ? "met" : "MISSED"]
    }
}
