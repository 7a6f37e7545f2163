import Foundation
import FoundationNetworking
import PintleStorage
import Synchronization

/// Counts the bytes that a task receives and discards them.
final class Counter: NSObject, URLSessionDataDelegate, Sendable {
    private let expected: Int
    private let count = Mutex(0)
    private let end = AsyncThrowingStream<Never, any Error>.makeStream()

    init(_ expected: Int) {
        self.expected = expected
    }

    func run(_ task: URLSessionTask) async throws {
        task.delegate = self
        task.resume()
        for try await _ in end.stream {}
        guard count.withLock({ $0 }) == expected else { stop("part of the content is missing") }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.withLock { $0 += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.continuation.finish(throwing: error)
    }
}

/// The resident memory of this process in KiB.
enum Memory {
    static var peak: Int { value("VmHWM:") }

    /// Resets the peak and returns the currently resident memory.
    static func restartPeak() -> Int {
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        return value("VmRSS:")
    }

    private static func value(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
}
