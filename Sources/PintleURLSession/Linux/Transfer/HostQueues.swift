internal import Foundation
internal import Pintle

/// A limit on the transfers to one server that run at a time. The others wait in a queue: first come, first served.
///
/// libcurl can limit connections itself (`CURLMOPT_MAX_HOST_CONNECTIONS`), but 7.88 sometimes forgets waiting
/// transfers: of 512 at once, a hundred stayed behind while six connections were idle, and nothing woke them.
final class HostQueues {
    /// The transfers to one server. Each of them refers to it, because finding it by the server's name costs more.
    final class Host {
        let endpoint: ServerEndpoint
        fileprivate var running: [ObjectIdentifier: Transfer] = [:]
        /// The running transfers whose gate has found HTTP/2, and the number of their connections. Kept, because each
        /// start of a transfer asks for them.
        private var streamCount = 0
        private var sharedConnectionCount = 0
        fileprivate var waiting: ArraySlice<Transfer> = []
        /// The uptime at which a transfer that had a response last freed its place.
        fileprivate var lastProgress = 0.0
        /// A Boolean value that indicates whether the server has refused a request over HTTP/2. libcurl sends requests
        /// before it knows how many streams the server permits. So from then on, only one request goes over each new
        /// connection, and the others wait until the connection has answered or was silent for a second. See
        /// ``endCaution(after:)``.
        fileprivate var isCautious = false

        fileprivate init(_ endpoint: ServerEndpoint) {
            self.endpoint = endpoint
        }

        fileprivate var isIdle: Bool { running.isEmpty && waiting.isEmpty }

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
        fileprivate func endCaution(after transfer: Transfer) {
            func wasRefused(_ transfer: Transfer) -> Bool { transfer.isRepetition || transfer.refusals > 0 }
            guard isCautious, transfer.hasHead, transfer.hasReliableConnection else { return }
            isCautious = waiting.contains(where: wasRefused) || running.values.contains(where: wasRefused)
        }

        /// Counts a running transfer as one that shares its connection.
        ///
        /// - Parameter isOnly: `true` if the connection carries no other transfer.
        func addStream(isOnly: Bool) {
            streamCount += 1
            if isOnly { sharedConnectionCount += 1 }
        }

        /// - Parameter isLast: `true` if the connection carries no transfer any more.
        func removeStream(isLast: Bool) {
            streamCount -= 1
            if isLast { sharedConnectionCount -= 1 }
        }

        /// The connections in use. A transfer shares its connection if its gate has found HTTP/2; until then it may
        /// need one of its own. One shared connection does not count, because the next transfer is likely to use it. So
        /// a server that takes few streams at a time can get one connection more than the limit.
        private var connectionCount: Int { running.count - streamCount + max(0, sharedConnectionCount - 1) }

        /// Removes and returns the next transfer, if it may run.
        ///
        /// - Parameter limit: The number of connections. Nothing is concluded from earlier transfers, because a server
        ///   may change its protocol.
        fileprivate func startNext(limit: Int) -> Transfer? {
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

        fileprivate func insert(_ transfer: Transfer, isFirst: Bool) {
            let priority = transfer.request.priority
            let last = isFirst ? nil : waiting.lastIndex { $0.request.priority >= priority }
            waiting.insert(transfer, at: last.map { $0 + 1 } ?? waiting.startIndex)
        }
    }

    /// The number of streams that libcurl puts on one connection.
    private static let streamLimit = 100

    private let connectionLimit: Int
    private(set) var hosts: [ServerEndpoint: Host] = [:]

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
            host = Host(endpoint)
            hosts[endpoint] = host
        }
        if transfer.refusals > 0 { host.isCautious = true }
        transfer.host = host
        host.insert(transfer, isFirst: isFirst)
    }

    /// Removes and returns the next transfer that may run. A suspended transfer keeps its place and is skipped.
    func next(for host: Host) -> Transfer? { host.startNext(limit: connectionLimit) }

    /// Frees the place of a transfer that ran.
    func leave(_ transfer: Transfer) {
        change(transfer.host) { host in
            host.running[ObjectIdentifier(transfer)] = nil
            if transfer.hasHead { host.lastProgress = ProcessInfo.processInfo.systemUptime }
            host.endCaution(after: transfer)
        }
        transfer.host = nil
    }

    /// Notes that the server has refused a transfer without processing it.
    func noteRefusal(of transfer: Transfer) { transfer.host?.isCautious = true }

    /// The servers that have refused a transfer and for which others wait.
    var heldBack: [Host] { hosts.values.filter(\.isHeldBack) }

    /// Returns the uptime since which a queued transfer waits without progress: since it was made or resumed, or since
    /// the server last ended a response.
    ///
    /// So a long queue outlasts the time-out while its server answers. Transfers that got no response do not count:
    /// behind a silent server, the whole queue times out together and not six at a time.
    func waitingSince(_ transfer: Transfer) -> Double {
        max(transfer.lastActivity, transfer.host?.lastProgress ?? 0)
    }

    /// Removes a transfer from the queue.
    func remove(_ transfer: Transfer) {
        change(transfer.host) { $0.waiting.removeAll { $0 === transfer } }
        transfer.host = nil
    }

    /// Removes queued transfers in one pass, however many there are.
    func remove(_ transfers: [Transfer]) {
        guard !transfers.isEmpty else { return }
        let removed = Set(transfers.map(ObjectIdentifier.init))
        for transfer in transfers { transfer.host = nil }
        for host in hosts.values {
            change(host) { $0.waiting.removeAll { removed.contains(ObjectIdentifier($0)) } }
        }
    }

    /// Changes a server's transfers, and forgets the server if it has none left, so that a session does not remember
    /// every server that it has met.
    private func change(_ host: Host?, _ change: (Host) -> Void) {
        guard let host else { return }
        change(host)
        if host.isIdle { hosts[host.endpoint] = nil }
    }
}
