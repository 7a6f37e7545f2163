import Foundation
import FoundationNetworking
import PintlePolicyFile
import PintleURLSession
import Synchronization

struct Client: Sendable {
    static let requestsAtOnce = 256
    private static let sessions = 1_000
    /// The most threads for 256 requests. The thread pools of Swift and Foundation have some in any case.
    private static let threadLimit = 64
    private static let memoryLimit = 64 << 10

    private let url: URL
    private let policy: PinningPolicy
    private let size: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 3, let url = URL(string: arguments[0]), let size = Int(arguments[2]) else {
            throw URLError(.badURL)
        }
        (self.url, self.size) = (url, size)
        policy = try PinningPolicy(json: Array(arguments[1].utf8))
    }

    func run() async throws {
        let isRight = [
            try await manyAtOnce(), try await manySessions(), try await down("down"), try await down("encoded"),
            try await up(),
        ]
        exit(isRight.allSatisfy { $0 } ? 0 : 1)
    }

    private func report(_ what: String, _ isRight: Bool) -> Bool {
        print(isRight ? "  ok    " : "  WRONG ", what)
        return isRight
    }

    /// Makes many requests at once. The server answers after all of them have arrived.
    private func manyAtOnce() async throws -> Bool {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = Self.requestsAtOnce
        let session = URLSession.pinned(to: policy, configuration: configuration)
        let most = Mutex(0)
        let watch = Task {
            while !Task.isCancelled {
                most.withLock { $0 = max($0, Usage.threads) }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.requestsAtOnce {
                group.addTask { _ = try await session.data(from: url.appendingPathComponent("crowd")) }
            }
            try await group.waitForAll()
        }
        watch.cancel()
        let threads = most.withLock { $0 }
        return report("\(Self.requestsAtOnce) requests at once, \(threads) threads", threads < Self.threadLimit)
    }

    /// Creates and uses sessions, then drops or invalidates them.
    private func manySessions() async throws -> Bool {
        func use(_ count: Int) async throws {
            for number in 0..<count {
                let session = URLSession.pinned(to: policy, configuration: .ephemeral)
                _ = try await session.data(from: url)
                if number % 2 == 0 { session.invalidateAndCancel() }
            }
        }
        // Creates everything that is created only once.
        try await use(20)
        try await Task.sleep(for: .milliseconds(200))
        let before = (Usage.threads, Usage.descriptors)
        try await use(Self.sessions)
        var after = (Usage.threads, Usage.descriptors)
        // The last sessions may not have ended yet.
        for _ in 0..<200 where after.0 > before.0 + 2 || after.1 > before.1 + 4 {
            try await Task.sleep(for: .milliseconds(50))
            after = (Usage.threads, Usage.descriptors)
        }
        return report(
            "\(Self.sessions) sessions: threads \(before.0) before and \(after.0) after, "
                + "descriptors \(before.1) and \(after.1)",
            after.0 <= before.0 + 8 && after.1 <= before.1 + 8)
    }

    private func down(_ path: String) async throws -> Bool {
        let before = Usage.restartPeak()
        let counter = Counter()
        let count = try await counter.run(
            URLSession.pinned(to: policy).dataTask(with: url.appendingPathComponent(path)))
        let growth = Usage.peak - before
        let isRight = count == size && growth < Self.memoryLimit
        return report("\(size >> 20) MiB \(path), memory grew by \(growth) KiB", isRight)
    }

    /// Uploads a sparse file of zeros.
    private func up() async throws -> Bool {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("endurance-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        truncate(file.path, size)
        let before = Usage.restartPeak()
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let (_, response) = try await URLSession.pinned(to: policy).upload(for: request, fromFile: file)
        let growth = Usage.peak - before
        let isRight = (response as? HTTPURLResponse)?.statusCode == 200 && growth < Self.memoryLimit
        return report("\(size >> 20) MiB up, memory grew by \(growth) KiB", isRight)
    }
}

/// Counts the bytes that a task receives.
private final class Counter: NSObject, URLSessionDataDelegate, Sendable {
    private let count = Mutex(0)
    private let end = AsyncThrowingStream<Never, any Error>.makeStream()

    func run(_ task: URLSessionTask) async throws -> Int {
        task.delegate = self
        task.resume()
        for try await _ in end.stream {}
        return count.withLock { $0 }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.withLock { $0 += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.continuation.finish(throwing: error)
    }
}
