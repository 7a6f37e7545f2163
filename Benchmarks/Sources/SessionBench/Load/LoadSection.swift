import CCurlClient

/// Section G: many requests at once on kept connections.
struct LoadSection {
    private let runner: LoadRunner

    /// - Parameter goClient: the program of Go's client, if Go is installed.
    static func run(goClient: String?) throws {
        try withRunner(goClient: goClient) { runner in
            try LoadThroughput(runner: runner).run()
            try LoadIsolation(runner: runner).run()
            try severalCores(runner)
        }
    }

    /// Runs a pinned session under a tool, and prints the allocations for each request. They are 0 if the tool does not
    /// load the library that counts them.
    ///
    /// - Parameter arguments: the version of HTTP, the number of requests at once, the number of rounds, and the tool.
    static func run(underTool arguments: some Collection<String>) throws {
        let words = Array(arguments)
        guard words.count > 3, let version = LoadServers.Version(rawValue: words[0]), let width = Int(words[1]),
            let rounds = Int(words[2])
        else { stop("usage: SessionBench load-under http1|http2 WIDTH ROUNDS TOOL...") }
        try withRunner(goClient: nil) { runner in
            let batch = try runner.run(under: Array(words[3...]), version, width: width, rounds: rounds)
            print(text(batch.allocations / Double(width * rounds), decimals: 2))
        }
    }

    private static func withRunner(goClient: String?, _ body: (LoadRunner) throws -> Void) throws {
        // The slow host is a part of this process, which therefore has the processor of nginx.
        use_first_processor()
        let servers = try LoadServers()
        defer { servers.end() }
        try body(LoadRunner(servers: servers, goClient: goClient))
    }

    /// Compares one session with two, which have a thread for the network each.
    private static func severalCores(_ runner: LoadRunner) throws {
        let figures = try runner.compare(
            [.pinned, .pinnedTwice], .http1, size: 100, width: 64, processors: "0,\(runner.lastProcessor)")
        let rates = figures.map(\.requestsPerSecond)
        printTable(
            "G. 64 GETs of 100 bytes at once, HTTP/1.1, with two processors, of which nginx uses one too",
            ["client", "requests/s", "us"],
            zip(["one pinned session", "two pinned sessions"], figures).map {
                [$0, text($1.requestsPerSecond), text($1.processor)]
            },
            notes: ["two sessions : one session \(text(rates[1] / rates[0], decimals: 2))"])
    }
}
