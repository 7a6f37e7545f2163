import Foundation

/// Starts clients and lets them take turns, so that a slow phase of the machine affects all of them.
struct LoadRunner {
    /// The numbers of requests at once.
    static let widths = [1, 16, 64, 256]

    let servers: LoadServers
    /// The program of Go's client, if Go is installed.
    let goClient: String?

    /// The last processor. The servers have the first.
    let lastProcessor = "\(max(0, ProcessInfo.processInfo.processorCount - 1))"

    /// Returns the figures of each client, in the same order, for requests of one kind.
    func compare(
        _ kinds: [LoadClientKind], _ version: LoadServers.Version, size: Int, width: Int, seconds: Double = 0.15,
        turns: Int = 7, processors: String? = nil
    ) throws -> [LoadFigures] {
        try batches(
            kinds, version, size: size, width: width, seconds: seconds, turns: turns, processors: processors
        ).map { LoadFigures($0.batches, count: $0.count) }
    }

    /// Returns the batches of each client, and the number of requests of each batch.
    func batches(
        _ kinds: [LoadClientKind], _ version: LoadServers.Version, size: Int, width: Int, seconds: Double, turns: Int,
        processors: String? = nil
    ) throws -> [(batches: [LoadBatch], count: Int)] {
        var clients: [LoadProcess] = []
        defer { for client in clients { client.end() } }
        for kind in kinds {
            clients.append(
                try LoadProcess(
                    kind, command: command(kind, version, size: size, width: width),
                    processors: processors ?? lastProcessor, files: servers.files))
        }
        let rounds = try clients.map { try warmUp($0, width: width, seconds: seconds) }
        var results = clients.map { _ in [LoadBatch]() }
        for turn in 0..<turns {
            // A batch of one round takes long enough: a second one would not be more exact.
            for (index, client) in clients.enumerated() where turn == 0 || rounds[index] > 1 {
                results[index].append(try client.run(width: width, rounds: rounds[index]))
            }
        }
        return zip(results, rounds).map { ($0, width * $1) }
    }

    /// Runs the requests of one pinned session under a tool, after a warm-up, and returns their measurement.
    ///
    /// - Parameter tool: a program and its arguments, to which the client's command is appended.
    func run(under tool: [String], _ version: LoadServers.Version, width: Int, rounds: Int) throws -> LoadBatch {
        let command = tool + command(.pinned, version, size: 100, width: width)
        let client = try LoadProcess(.pinned, command: command, processors: lastProcessor, files: servers.files)
        defer { client.end() }
        _ = try client.run(width: 1, rounds: 1)
        _ = try client.run(width: width, rounds: 10)
        return try client.run(width: width, rounds: rounds)
    }

    /// Opens the connections, and returns the number of rounds that take about `seconds`.
    private func warmUp(_ client: LoadProcess, width: Int, seconds: Double) throws -> Int {
        // First a single request, so that the client learns the server's version of HTTP before it opens connections.
        _ = try client.run(width: 1, rounds: 1)
        let first = try client.run(width: width, rounds: 1)
        // For stock URLSession with many requests at once.
        guard first.wall < 4 * seconds * 1_000_000_000 else { return 1 }
        let rounds = width > 16 ? 4 : 32
        let time = try client.run(width: width, rounds: rounds).wall / 1_000_000_000 / Double(rounds)
        return max(1, Int(seconds / time))
    }

    private func command(_ kind: LoadClientKind, _ version: LoadServers.Version, size: Int, width: Int) -> [String] {
        let url = servers.url(version, size: size)
        if kind == .go { return [goClient ?? "", url, "\(width)", "\(size)"] }
        return [
            CommandLine.arguments[0], "load-client", kind.rawValue, servers.files.path, url, "\(size)", "\(width)",
            servers.slowURL,
        ]
    }
}
