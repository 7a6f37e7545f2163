internal import Foundation
internal import Pintle

/// A limit on the transfers to one server that run at a time. The others wait in a queue: first come, first served.
///
/// libcurl can limit connections itself (`CURLMOPT_MAX_HOST_CONNECTIONS`), but 7.88 sometimes forgets waiting
/// transfers: of 512 at once, a hundred stayed behind while six connections were idle, and nothing woke them.
final class HostQueues {
    /// The transfers to one server. A class, because each change of a value in the dictionary hashes the server's name.
    private final class Host {
        var running: [ObjectIdentifier: Transfer] = [:]
        var waiting: ArraySlice<Transfer> = []
        /// The uptime at which a transfer that had a response last freed its place.
        var lastProgress = 0.0
        /// A Boolean value that indicates whether the server has refused a request over HTTP/2. libcurl sends requests
        /// before it knows how many streams the server permits. So from then on, only one request goes over each new
        /// connection, and the others wait until the connection has answered or was silent for a second. See
        /// ``endCaution(after:)``.
        var isCautious = false

        var isIdle: Bool { running.isEmpty && waiting.isEmpty }

        /// A Boolean value that indicates whether a cautious host has transfers that wait.
        var isHeldBack: Bool { isCautious && !waiting.isEmpty }

        /// A Boolean value that indicates whether the next request is unlikely to meet a connection whose limit of
        /// streams is unknown. A transfer without a connection makes one, unless there is one to share.
        private var isSettled: Bool {
            let connected = running.values.filter { $0.state.connection != nil }
            return connected.allSatisfy(\.hasSettledConnection)
                && (connected.count == running.count || connected.contains(where: \.hasReliableConnection))
        }

        /// Returns `true` if a transfer may start beside the running ones. A request that would fail if the server
        /// refused it once more shares the server with no other, so that it meets no limit of streams.
        private func mayJoin(_ next: Transfer) -> Bool {
            let unsettled = running.values.filter { !$0.isSettled }
            return unsettled.isEmpty || !next.isLastAttempt && !unsettled.contains(where: \.isLastAttempt)
        }

        /// Ends the caution if a response has come over a connection that has refused nothing, and if no request is
        /// left that was refused before: a second refusal could be its last.
        func endCaution(after transfer: Transfer) {
            func wasRefused(_ transfer: Transfer) -> Bool { transfer.isRepetition || transfer.refusals > 0 }
            guard isCautious, transfer.hasHead, transfer.hasReliableConnection else { return }
            isCautious = waiting.contains(where: wasRefused) || running.values.contains(where: wasRefused)
        }

        /// The connections in use. A transfer shares its connection if its gate has found HTTP/2; until then it may
        /// need one of its own. One shared connection does not count, because the next transfer is likely to use it. So
        /// a server that takes few streams at a time can get one connection more than the limit.
        private var connectionCount: Int {
            let shared = running.values.lazy.filter(\.state.isStream).compactMap(\.state.connection?.judge)
            let count = Set(shared.map(ObjectIdentifier.init)).count
            return running.values.count { !$0.state.isStream } + max(0, count - 1)
        }

        /// Removes and returns the next transfer, if it may run.
        ///
        /// - Parameter limit: The number of connections. Nothing is concluded from earlier transfers, because a server
        ///   may change its protocol.
        func startNext(limit: Int) -> Transfer? {
            guard running.count < max(limit, HostQueues.streamLimit), connectionCount < limit,
                !isCautious || isSettled,
                let index = waiting.firstIndex(where: { !$0.holds.contains(.suspended) }),
                !isCautious || mayJoin(waiting[index])
            else { return nil }
            // Removing the first element of a slice does not move the others, and does not release the element. So the
            // slice is copied when it has more elements in front than it holds.
            let transfer = index == waiting.startIndex ? waiting.removeFirst() : waiting.remove(at: index)
            if waiting.startIndex > waiting.count { waiting = ArraySlice(Array(waiting)) }
            running[ObjectIdentifier(transfer)] = transfer
            return transfer
        }

        func insert(_ transfer: Transfer, isFirst: Bool) {
            let priority = transfer.request.priority
            let last = isFirst ? nil : waiting.lastIndex { $0.request.priority >= priority }
            waiting.insert(transfer, at: last.map { $0 + 1 } ?? waiting.startIndex)
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
    func add(_ transfer: Transfer, isFirst: Bool = false) {
        let endpoint = transfer.request.url.endpoint
        let host: Host
        if let known = hosts[endpoint] {
            host = known
        } else {
            host = Host()
            hosts[endpoint] = host
        }
        if transfer.refusals > 0 { host.isCautious = true }
        host.insert(transfer, isFirst: isFirst)
    }

    /// Removes and returns the next transfer that may run. A suspended transfer keeps its place and is skipped.
    func next(for endpoint: ServerEndpoint) -> Transfer? {
        hosts[endpoint]?.startNext(limit: connectionLimit)
    }

    /// Frees the place of a transfer that ran.
    func leave(_ transfer: Transfer) {
        change(transfer.request.url.endpoint) { host in
            host.running[ObjectIdentifier(transfer)] = nil
            if transfer.hasHead { host.lastProgress = ProcessInfo.processInfo.systemUptime }
            host.endCaution(after: transfer)
        }
    }

    /// Notes that the server has refused a transfer without processing it.
    func noteRefusal(of transfer: Transfer) { hosts[transfer.request.url.endpoint]?.isCautious = true }

    /// The servers that have refused a transfer and for which others wait.
    var heldBack: [ServerEndpoint] { hosts.filter(\.value.isHeldBack).map(\.key) }

    /// Returns `true` if the server has refused a transfer and others wait.
    func isHeldBack(_ endpoint: ServerEndpoint) -> Bool { hosts[endpoint]?.isHeldBack == true }

    /// Returns the uptime since which a queued transfer waits without progress: since it was made or resumed, or since
    /// the server last ended a response.
    ///
    /// So a long queue outlasts the time-out while its server answers. Transfers that got no response do not count:
    /// behind a silent server, the whole queue times out together and not six at a time.
    func waitingSince(_ transfer: Transfer) -> Double {
        max(transfer.lastActivity, hosts[transfer.request.url.endpoint]?.lastProgress ?? 0)
    }

    /// Removes a transfer from the queue.
    func remove(_ transfer: Transfer) {
        change(transfer.request.url.endpoint) { $0.waiting.removeAll { $0 === transfer } }
    }

    /// Removes queued transfers in one pass, however many there are.
    func remove(_ transfers: [Transfer]) {
        let removed = Set(transfers.map(ObjectIdentifier.init))
        for endpoint in Set(transfers.map(\.request.url.endpoint)) {
            change(endpoint) { $0.waiting.removeAll { removed.contains(ObjectIdentifier($0)) } }
        }
    }

    /// Changes a server's transfers, and forgets the server if it has none left, so that a session does not remember
    /// every server that it has met.
    private func change(_ endpoint: ServerEndpoint, _ change: (Host) -> Void) {
        guard let host = hosts[endpoint] else { return }
        change(host)
        if host.isIdle { hosts[endpoint] = nil }
    }
}
