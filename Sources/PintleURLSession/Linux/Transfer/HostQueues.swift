internal import Pintle

/// A limit on the transfers to one server that run at a time. The others wait in a queue: first come, first served.
///
/// libcurl can limit connections itself (`CURLMOPT_MAX_HOST_CONNECTIONS`), but 7.88 sometimes forgets waiting
/// transfers: of 512 at once, a hundred stayed behind while six connections were idle, and nothing woke them.
struct HostQueues {
    private struct Host {
        var running = 0
        var multiplexes = false
        var waiting: ArraySlice<Transfer> = []
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
    mutating func add(_ transfer: Transfer) {
        let priority = transfer.request.priority
        func insert(into waiting: inout ArraySlice<Transfer>) {
            let last = waiting.lastIndex { $0.request.priority >= priority }
            waiting.insert(transfer, at: last.map { $0 + 1 } ?? waiting.startIndex)
        }
        insert(into: &hosts[transfer.request.url.endpoint, default: Host()].waiting)
    }

    /// Removes and returns the next transfer that may run. A suspended transfer keeps its place and is skipped.
    mutating func next(for endpoint: ServerEndpoint) -> Transfer? {
        guard var host = hosts[endpoint], host.running < limit(of: host),
            let index = host.waiting.firstIndex(where: { !$0.holds.contains(.suspended) })
        else { return nil }
        // Removing the first element of a slice does not move the others.
        let transfer = index == host.waiting.startIndex ? host.waiting.removeFirst() : host.waiting.remove(at: index)
        host.running += 1
        hosts[endpoint] = host
        return transfer
    }

    /// Frees the place of a transfer that ran.
    mutating func leave(_ transfer: Transfer) {
        let endpoint = transfer.request.url.endpoint
        guard var host = hosts[endpoint] else { return }
        host.running -= 1
        host.multiplexes = host.multiplexes || transfer.isMultiplexed
        hosts[endpoint] = host.running == 0 && host.waiting.isEmpty ? nil : host
    }

    /// Removes a transfer from the queue.
    mutating func remove(_ transfer: Transfer) {
        let endpoint = transfer.request.url.endpoint
        guard var host = hosts[endpoint] else { return }
        host.waiting.removeAll { $0 === transfer }
        hosts[endpoint] = host.running == 0 && host.waiting.isEmpty ? nil : host
    }

    /// Removes and returns all queued transfers.
    mutating func removeWaiting() -> [Transfer] {
        let waiting = waiting
        for (endpoint, var host) in hosts {
            host.waiting = []
            hosts[endpoint] = host.running == 0 ? nil : host
        }
        return waiting
    }

    private func limit(of host: Host) -> Int {
        host.multiplexes ? max(connectionLimit, Self.streamLimit) : connectionLimit
    }
}
