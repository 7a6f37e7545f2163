internal import Glibc

/// Makes many handshakes at once on the thread that calls it: sockets do not block, and one `poll` waits for all.
///
/// Only what the system can do in no other way has threads of its own, few and for a moment: looking a name up, and
/// opening a way through a proxy. The steps of a handshake, its time limits and its errors are those of ``TLSClient``.
package struct HandshakeLoop {
    /// Names that are looked up, and proxies that are asked, at a time.
    package static let lookupLimit = 32
    /// How long a wait may be before the caller is asked again whether to go on.
    private static let pulse = Duration.milliseconds(100)

    private let context: TLSContext
    private let timeouts: TLSClient.Timeouts
    private let limit: Int

    /// - Parameter limit: how many servers are asked at a time. Each has two sockets at most, and, while it sends
    ///   them, its certificates in memory.
    /// - Throws: ``HandshakeError`` with the code `invalid-configuration` or `no-resources`.
    package init(_ configuration: TLSClient.Configuration, atMost limit: Int) throws(HandshakeError) {
        context = try TLSContext(configuration)
        timeouts = configuration.timeouts
        self.limit = max(1, limit)
    }

    /// Runs until every order has ended, or until `goesOn` says no: then what is under way is dropped.
    ///
    /// - Parameters:
    ///   - next: the next order, nil at the end; called when there is room for it.
    ///   - goesOn: called after every step of a handshake, and ten times a second at least: no more than one verdict
    ///     is between two calls.
    /// - Returns: whether every order has ended.
    /// - Throws: `no-resources` where no look-up can be waited for.
    package func run(next: () -> HandshakeOrder?, goesOn: () -> Bool) throws(HandshakeError) -> Bool {
        let lookups = try Lookups(atMost: Self.lookupLimit)
        var pending: [PendingHandshake] = []
        var isDrained = false
        while true {
            while !isDrained, pending.count < limit {
                guard let order = next() else {
                    isDrained = true
                    break
                }
                let handshake = PendingHandshake(order, context: context, timeouts: timeouts)
                handshake.open(lookups)
                if !handshake.isOver { pending.append(handshake) }
                guard goesOn() else { return false }
            }
            if pending.isEmpty { return true }
            guard goesOn() else { return false }
            guard wait(for: pending, lookups, goesOn) else { return false }
            pending.removeAll(where: \.isOver)
        }
    }

    /// One turn: waits until something happens or is due, and lets whom it concerns go on, as long as `goesOn`.
    private func wait(for pending: [PendingHandshake], _ lookups: Lookups, _ goesOn: () -> Bool) -> Bool {
        var entries = [pollfd(fd: lookups.bell, events: Int16(POLLIN), revents: 0)]
        var owners: [Int] = []
        var wake = Deadline(after: Self.pulse).instant
        for (index, handshake) in pending.enumerated() {
            for interest in handshake.interests {
                entries.append(pollfd(fd: interest.descriptor, events: Int16(interest.events), revents: 0))
                owners.append(index)
            }
            if let due = handshake.wake { wake = min(wake, due.instant) }
        }
        poll(&entries, nfds_t(entries.count), Deadline(at: wake).remainingMilliseconds)
        if entries[0].revents != 0 { lookups.deliver() }
        var isReady = [Bool](repeating: false, count: pending.count)
        for (entry, owner) in zip(entries.dropFirst(), owners) where entry.revents != 0 { isReady[owner] = true }
        for (handshake, isReady) in zip(pending, isReady) where isReady || handshake.wake?.hasPassed == true {
            handshake.advance()
            guard goesOn() else { return false }
        }
        return true
    }
}
