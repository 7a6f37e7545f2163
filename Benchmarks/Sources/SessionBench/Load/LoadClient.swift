import CCurlClient
import Dispatch
import Foundation
import FoundationNetworking
import PintleURLSession

/// The process of one client of section G, except Go's. Like Go's, it reads a line "WIDTH ROUNDS" for each batch: WIDTH
/// tasks make ROUNDS requests each, one after the other.
struct LoadClient: @unchecked Sendable {
    // `@unchecked`: only one batch at a time uses libcurl's handle.

    private let sessions: [URLSession]
    private let url: URL
    private let slow: URL
    private let size: Int
    private let curl: OpaquePointer?
    private let disturbance: LoadDisturbance?

    /// - Parameter arguments: the client, the folder of the servers' files, the URL, its size, the width and the URL of
    ///   the slow host.
    init(_ arguments: some Collection<String>) throws {
        let words = Array(arguments)
        guard words.count == 6, let kind = LoadClientKind(rawValue: words[0]), let url = URL(string: words[2]),
            let size = Int(words[3]), let width = Int(words[4]), let slow = URL(string: words[5])
        else { stop("usage: SessionBench load-client CLIENT FILES URL SIZE WIDTH SLOW-URL") }
        (self.url, self.slow, self.size) = (url, slow, size)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = width
        curl = kind == .libcurl ? curl_load_new("\(words[1])/roots.pem", words[2], Int32(width)) : nil
        switch kind {
        case .libcurl, .go: sessions = []
        case .stock: sessions = [URLSession(configuration: configuration)]
        default:
            let key = try Data(contentsOf: URL(fileURLWithPath: "\(words[1])/spki.der"))
            let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: Array(key))))
            let policy = try PinningPolicy(hosts: [PinnedHost("localhost", pins: [pin], backup: .noneAccepted)])
            sessions = (0..<(kind == .pinnedTwice ? 2 : 1)).map { _ in
                URLSession.pinned(to: policy, configuration: configuration)
            }
        }
        disturbance =
            switch kind {
            case .besideSlowDelegate: .slowDelegate
            case .besideSlowHost: .slowHost(slow)
            default: nil
            }
    }

    /// Runs a batch for each line of standard input.
    ///
    /// Waits on the main thread. With an asynchronous `main`, that thread would end, and callgrind would crash.
    func run() {
        while let line = readLine() {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 2 else { stop("not a command: \(line)") }
            let end = DispatchSemaphore(value: 0)
            Task.detached {
                do {
                    print(try await batch(width: numbers[0], rounds: numbers[1]).line)
                } catch {
                    stop("\(error)")
                }
                fflush(nil)
                end.signal()
            }
            end.wait()
        }
    }

    private func batch(width: Int, rounds: Int) async throws -> LoadBatch {
        let disturbing = await disturbance?.start(in: sessions[0], url: url)
        let (wall, processor, allocations) = (wall_nanoseconds(), process_nanoseconds(), preloaded_allocations())
        begin_counting_instructions()
        let latencies = try await get(width: width, rounds: rounds)
        end_counting_instructions()
        let batch = LoadBatch(
            wall: wall_nanoseconds() - wall, processor: process_nanoseconds() - processor,
            allocations: preloaded_allocations() - allocations, latencies: latencies)
        disturbing?.cancel()
        await disturbing?.value
        return batch
    }

    /// Returns the nanoseconds of each request.
    private func get(width: Int, rounds: Int) async throws -> [UInt64] {
        guard let curl else { return try await getWithSessions(width: width, rounds: rounds) }
        var latencies = [UInt64](repeating: 0, count: width * rounds)
        guard curl_load_run(curl, Int32(width), Int32(rounds), &latencies) == width * rounds * size else {
            stop("libcurl fails")
        }
        return latencies
    }

    private func getWithSessions(width: Int, rounds: Int) async throws -> [UInt64] {
        let (url, size) = (url, size)
        return try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for task in 0..<width {
                let session = sessions[task % sessions.count]
                group.addTask {
                    var latencies: [UInt64] = []
                    latencies.reserveCapacity(rounds)
                    for _ in 0..<rounds {
                        let start = wall_nanoseconds()
                        guard try await session.data(from: url).0.count == size else { stop("not the answer") }
                        latencies.append(wall_nanoseconds() - start)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
