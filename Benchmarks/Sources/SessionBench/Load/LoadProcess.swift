import Foundation

/// The process of a client, which works only while it runs a batch.
final class LoadProcess {
    let kind: LoadClientKind
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received: [UInt8] = []

    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - processors: the numbers of the processors that the client may use, as `taskset` reads them.
    init(_ kind: LoadClientKind, command: [String], processors: String, files: Files) throws {
        self.kind = kind
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["taskset", "-c", processors] + command
        var environment = ProcessInfo.processInfo.environment
        environment["SSL_CERT_FILE"] = files.path(of: "roots.pem")
        environment["SSL_CERT_DIR"] = files.path(of: "none")
        // Foundation on Linux always reads the system's file of roots. client.c replaces it with this one.
        environment["PINTLE_BENCH_ROOTS"] = files.path(of: "roots.pem")
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Makes `width * rounds` requests, of which `width` run at once.
    func run(width: Int, rounds: Int) throws -> LoadBatch {
        try input.fileHandleForWriting.write(contentsOf: Data("\(width) \(rounds)\n".utf8))
        var last = "no output"
        while let line = readLine() {
            if let batch = LoadBatch(line) { return batch }
            // A message of the client, or of a tool that it runs under.
            last = line
        }
        throw LoadFailure("\(kind.title): \(last)")
    }

    /// Ends the process, which stops at the end of its input.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns `nil` at the end of the output.
    private func readLine() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else { return nil }
            received += bytes
        }
    }
}

/// A client that failed.
struct LoadFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
