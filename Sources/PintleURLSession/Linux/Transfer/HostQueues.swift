internal import Foundation
internal import Pintle

/// A limit on the transfers to one server that run at a time. The others wait in a queue: first come, first served.
///
/// libcurl can limit connections itself (`CURLMOPT_MAX_HOST_CONNECTIONS`), but 7.88 sometimes forgets waiting
/// transfers: of 512 at once, a hundred stayed behind while six connections were idle, and nothing woke them.
struct HostQueues {
    private struct Host {
        var running: [ObjectIdentifier: Transfer] = [:]
        var waiting: ArraySlice<Transfer> = []
        /// The uptime at which a transfer that had a response last freed its place.
        var lastProgress = 0.0

        /// Removes and returns the next transfer, if it may run.
        ///
        /// - Parameter limit: The number of transfers that may have a connection of their own. A transfer shares its
        ///   connection if its gate has found HTTP/2. Nothing is concluded from earlier transfers, because a server may
        ///   change its protocol.
        mutating func startNext(limit: Int) -> Transfer? {
            guard running.count < max(limit, HostQueues.streamLimit),
                running.values.count(where: { !$0.state.isStream }) < limit,
                let index = waiting.firstIndex(where: { !$0.holds.contains(.suspended) })
            else { return nil }
            // Removing the first element of a slice does not move the others.
            let transfer = index == waiting.startIndex ? waiting.removeFirst() : waiting.remove(at: index)
            running[ObjectIdentifier(transfer)] = transfer
            return transfer
        }
    }

    /// The number of streams that libcurl puts on one connection.
    private static let streamLimit = 100

    private let connectionLimit: Int
    private var hosts: [ServerEndpoint: Host] = [:]

    /// - Parameter limit: The number of connections to one host and port. Over HTTP/1.1 each carries one transfer.
    init(limit: Int) {
        connectionLimit = max(1, limit)
    }

    /// The transfers that wait.
    var waiting: [Transfer] { hosts.values.flatMap(\.waiting) }
    var isEmpty: Bool { hosts.isEmpty }

    /// Adds a transfer to the queue of its server, behind those of the same priority and before those of a lower one.
    ///
    /// - Parameter isFirst: `true` to add it before all others.
    mutating func add(_ transfer: Transfer, isFirst: Bool = false) {
        let priority = transfer.request.priority
        func insert(into waiting: inout ArraySlice<Transfer>) {
            let last = isFirst ? nil : waiting.lastIndex { $0.request.priority >= priority }
            waiting.insert(transfer, at: last.map { $0 + 1 } ?? waiting.startIndex)
        }
        insert(into: &hosts[transfer.request.url.endpoint, default: Host()].waiting)
    }

    /// Removes and returns the next transfer that may run. A suspended transfer keeps its place and is skipped.
    mutating func next(for endpoint: ServerEndpoint) -> Transfer? {
        hosts[endpoint]?.startNext(limit: connectionLimit)
    }

    /// Frees the place of a transfer that ran.
    mutating func leave(_ transfer: Transfer) {
        let endpoint = transfer.request.url.endpoint
        hosts[endpoint]?.running[ObjectIdentifier(transfer)] = nil
        if transfer.hasHead { hosts[endpoint]?.lastProgress = ProcessInfo.processInfo.systemUptime }
        forgetIfIdle(endpoint)
    }

    /// Returns the uptime since which a queued transfer waits without progress: since it was made or resumed, or since
    /// the server last ended a response.
    ///
    /// So a long queue outlasts the time-out while its server answers. Transfers that got no response do not count:
    /// behind a silent server, the whole queue times out together and not six at a time.
    func waitingSince(_ transfer: Transfer) -> Double {
        max(transfer.lastActivity, hosts[transfer.request.url.endpoint]?.lastProgress ?? 0)
    }

    /// Removes a transfer from the queue.
    mutating func remove(_ transfer: Transfer) {
        let endpoint = transfer.request.url.endpoint
        hosts[endpoint]?.waiting.removeAll { $0 === transfer }
        forgetIfIdle(endpoint)
    }

    /// Removes queued transfers in one pass, however many there are.
    mutating func remove(_ transfers: [Transfer]) {
        let removed = Set(transfers.map(ObjectIdentifier.init))
        for endpoint in Set(transfers.map(\.request.url.endpoint)) {
            hosts[endpoint]?.waiting.removeAll { removed.contains(ObjectIdentifier($0)) }
            forgetIfIdle(endpoint)
        }
    }

    /// Removes a server without transfers, so that a session does not remember every server that it has met.
    private mutating func forgetIfIdle(_ endpoint: ServerEndpoint) {
        guard let host = hosts[endpoint], host.running.isEmpty, host.waiting.isEmpty else { return }
        hosts[endpoint] = nil
    }
}
