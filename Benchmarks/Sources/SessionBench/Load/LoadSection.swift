import CCurlClient

/// Section G: many requests at once on kept connections.
struct LoadSection {
    private typealias Version = LoadServers.Version

    private let runner: LoadRunner
    private let clients: [LoadClientKind]

    /// - Parameter goClient: the program of Go's client, if Go is installed.
    static func run(goClient: String?) throws {
        // The slow host is a part of this process, which therefore has the processor of nginx.
        use_first_processor()
        let servers = try LoadServers()
        defer { servers.end() }
        let section = LoadSection(
            runner: LoadRunner(servers: servers, goClient: goClient),
            clients: LoadClientKind.compared.filter { $0 != .go || goClient != nil })
        try section.throughput()
    }

    private func throughput() throws {
        for version in Version.allCases {
            for size in LoadServers.sizes {
                var rows: [[String]] = []
                for width in LoadRunner.widths {
                    let figures = try runner.compare(clients, version, size: size, width: width)
                    rows.append(["\(width)"] + figures.flatMap { [text($0.requestsPerSecond), text($0.processor)] })
                }
                printTable(
                    "G. A GET of \(size) bytes on kept connections, \(version.title);"
                        + " requests/s, and us of processor time for each",
                    ["at once"] + clients.flatMap { [$0.title, "us"] }, rows)
            }
        }
    }
}
