internal import Pintle
internal import PintleStorage
internal import PintleSystem

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The URLs of a store that have a request in flight. A transport may ignore cancellation. Without this set, the store
/// would start a further request for the same URL on every fetch.
///
/// Safe to use from any thread.
final class OpenRequests: Sendable {
    private struct Waiter {
        let urls: [URL]
        let mailbox: AsyncStream<Void>.Continuation
    }

    private struct State {
        var urls: Set<URL> = []
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
    }

    private let state = Locked(State())

    /// Registers a request. Returns `false`, and registers nothing, if a request for this URL is already open.
    func begin(_ url: URL) -> Bool { state.withLock { $0.urls.insert(url).inserted } }

    func end(_ url: URL) {
        let waiters = state.withLock { state in
            state.urls.remove(url)
            return state.waiters.values.filter { state.urls.isDisjoint(with: $0.urls) }
        }
        for waiter in waiters { waiter.mailbox.yield() }
    }

    /// Returns the number of these URLs that have an open request.
    func count(among urls: [URL]) -> Int { state.withLock { state in urls.count { state.urls.contains($0) } } }

    /// Waits until none of these URLs has an open request.
    ///
    /// - Parameter timeLimit: a wait that ends this one when it returns.
    func waitUntilNone(among urls: [URL], _ timeLimit: @escaping @Sendable () async -> Void) async {
        let (signals, mailbox) = AsyncStream<Void>.makeStream()
        let number = state.withLock { state -> Int? in
            guard !state.urls.isDisjoint(with: urls) else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = Waiter(urls: urls, mailbox: mailbox)
            return state.lastWaiter
        }
        guard let number else { return }
        let clock = Task.detached(priority: Task.currentPriority) {
            await timeLimit()
            mailbox.yield()
        }
        defer {
            clock.cancel()
            state.withLock { $0.waiters[number] = nil }
        }
        for await _ in signals { return }
    }
}

/// A rate limit: only one mismatch in ten minutes of a process may ask for an update. An interceptor shows a wrong key
/// on every connection, and must not make the app flood its servers.
package final class MismatchLimit: Sendable {
    static let shared = MismatchLimit()

    package init() {}

    private let last = Locked<Double?>(nil)

    /// - Parameter now: the time in seconds on a monotonic clock.
    func allows(at now: Double = Uptime.seconds) -> Bool {
        last.withLock { last in
            if let before = last, now - before < 600 { return false }
            last = now
            return true
        }
    }
}
