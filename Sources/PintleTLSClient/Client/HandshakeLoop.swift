internal import PintleStorage
internal import PintleSystem

/// Makes many handshakes concurrently on the calling thread: sockets are non-blocking, and a single `poll` waits for
/// all.
///
/// Only work that cannot be done without blocking runs on other threads: DNS look-ups and opening proxy tunnels. They
/// are few and short-lived. The steps of a handshake, its time limits and its errors are those of ``TLSClient``.
package struct HandshakeLoop {
    /// The limit of concurrent DNS look-ups and proxy tunnels.
    package static let lookupLimit = 32
    /// The longest wait before the loop calls `goesOn` again.
    private static let pulse = Duration.milliseconds(100)

    private let context: TLSContext
    private let configuration: TLSClient.Configuration
    private let limit: Int

    /// - Parameters:
    ///   - configuration: the settings of every handshake.
    ///   - limit: the number of concurrent handshakes. Each uses at most two sockets, and memory for the certificates
    ///     while the server sends them.
    /// - Throws: ``HandshakeError`` with the code `invalid-configuration` or `no-resources`.
    package init(_ configuration: TLSClient.Configuration, atMost limit: Int) throws(HandshakeError) {
        context = try TLSContext(configuration)
        self.configuration = configuration
        self.limit = max(1, limit)
    }

    /// Runs until every order has ended, or until `goesOn` returns `false`. Then it drops the pending handshakes.
    ///
    /// - Parameters:
    ///   - next: returns the next order, or `nil` at the end. Called when there is room for another handshake.
    ///   - goesOn: returns `false` to stop. Called after every step of a handshake, and at least ten times a second. At
    ///     most one verdict is made between two calls.
    /// - Returns: `true` if every order has ended.
    /// - Throws: `no-resources` if the loop cannot open a descriptor to wait for look-ups.
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
                let handshake = PendingHandshake(order, context: context, configuration)
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

    /// Waits for an event or the next due time, then advances the handshakes that are ready. Returns `false` once
    /// `goesOn` does.
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

/// A socket pair that wakes a thread that waits in `poll`. Both ends are non-blocking. Safe to use from any thread.
package final class Bell: Sendable {
    /// The descriptor to poll. It is readable from a call of ``ring()`` until ``silence()``.
    package let descriptor: CInt
    private let writeEnd: CInt

    /// - Throws: `no-resources`.
    package init() throws(HandshakeError) {
        guard let ends = StreamSocket.pair() else {
            throw .noResources("cannot open a pair of sockets: \(Descriptor.errorText(errno))")
        }
        (descriptor, writeEnd) = ends
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    package func ring() {
        var byte: UInt8 = 0
        _ = send(writeEnd, &byte, 1, StreamSocket.sendFlags)
    }

    package func silence() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while recv(descriptor, &bytes, bytes.count, 0) == bytes.count {}
    }
}
