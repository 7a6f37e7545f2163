internal import Pintle
internal import PintleStorage
internal import PintleSystem

/// Opens a TCP connection to the first address of a host that answers ("happy eyeballs").
///
/// Tries the addresses in the resolver's order. Every quarter of a second without an answer it starts the next attempt
/// and keeps the earlier ones (RFC 8305 section 5), so that one dead address family does not use up the whole time-out.
struct TCPConnector: ~Copyable {
    private static let headStart = Duration.milliseconds(250)

    private let endpoint: ServerEndpoint
    private let role: ConnectionRole
    private let timeout: Duration
    private let deadline: Deadline
    private var rest: ArraySlice<SocketAddress>
    private var nextStart = ContinuousClock.now
    /// The sockets of open attempts. A socket becomes writable when its attempt has succeeded or failed.
    private(set) var waiting: [CInt] = []
    private let limit: Int
    private var tried = 0
    private var lastError: CInt?

    /// - Parameters:
    ///   - endpoint: the host, for messages.
    ///   - addresses: its addresses, in the order of the attempts.
    ///   - role: the role of the host, for messages.
    ///   - timeout: the limit for all addresses together, counted from now.
    ///   - limit: the most open attempts. At the limit, the oldest attempt is closed.
    init(
        to endpoint: ServerEndpoint, at addresses: [SocketAddress], as role: ConnectionRole, timeout: Duration,
        atMost limit: Int = .max
    ) {
        self.endpoint = endpoint
        self.role = role
        self.timeout = timeout
        deadline = Deadline(after: timeout)
        rest = addresses[...]
        self.limit = max(1, limit)
    }

    deinit {
        for descriptor in waiting { close(descriptor) }
    }

    /// Resolves and connects, blocking.
    ///
    /// - Parameters:
    ///   - endpoint: the host.
    ///   - role: the role of the host, for messages.
    ///   - timeout: the limit for all addresses together, counted from the end of the look-up.
    /// - Throws: `name-not-resolved`, `connection-refused`, `connect-timeout`, `connection-failed`, `no-resources`.
    static func connect(
        to endpoint: ServerEndpoint, as role: ConnectionRole, timeout: Duration
    ) throws(HandshakeError) -> Socket {
        let addresses = try SocketAddress.resolve(endpoint, as: role)
        var connector = TCPConnector(to: endpoint, at: addresses, as: role, timeout: timeout)
        while true {
            if let socket = try connector.advance() { return socket }
            var entries = connector.waiting.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
            poll(&entries, nfds_t(entries.count), connector.wake.remainingMilliseconds)
        }
    }

    /// The time at which ``advance()`` must be called even if no socket in ``waiting`` has an event.
    var wake: Deadline { rest.isEmpty ? deadline : Deadline(at: min(deadline.instant, nextStart)) }

    /// Checks the open attempts and starts those that are due, without blocking. Returns `nil` if none has connected
    /// yet.
    mutating func advance() throws(HandshakeError) -> Socket? {
        if let connected = settle() { return Socket(adopting: connected) }
        while let address = rest.first, waiting.isEmpty || ContinuousClock.now >= nextStart {
            rest.removeFirst()
            if waiting.count >= limit { close(waiting.removeFirst()) }
            nextStart = ContinuousClock.now.advanced(by: Self.headStart)
            if let connected = try start(address) { return Socket(adopting: connected) }
        }
        if waiting.isEmpty { throw failure() }
        if deadline.hasPassed { throw timedOut() }
        return nil
    }

    /// Starts an attempt. Returns a descriptor only if it connected at once.
    private mutating func start(_ address: SocketAddress) throws(HandshakeError) -> CInt? {
        tried += 1
        let descriptor = StreamSocket.open(address.family, isBlocking: false)
        guard descriptor >= 0 else {
            let error = errno
            // For example, the machine has no IPv6. Try the next address.
            guard error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM else {
                lastError = error
                return nil
            }
            throw .noResources("cannot open a socket: \(Descriptor.errorText(error))")
        }
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        let status = address.withUnsafeAddress { PintleSystem.connect(descriptor, $0, $1) }
        if status == 0 { return descriptor }
        let error = errno
        if error == EINPROGRESS || error == EINTR {
            waiting.append(descriptor)
        } else {
            close(descriptor)
            lastError = error
        }
        return nil
    }

    /// Returns the first attempt that has succeeded. Closes the failed attempts that it meets.
    private mutating func settle() -> CInt? {
        guard !waiting.isEmpty else { return nil }
        var entries = waiting.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), 0) > 0 else { return nil }
        for entry in entries where entry.revents != 0 {
            waiting.removeAll { $0 == entry.fd }
            var error: CInt = 0
            var size = socklen_t(MemoryLayout<CInt>.size)
            if getsockopt(entry.fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error == 0 { return entry.fd }
            close(entry.fd)
            lastError = error
        }
        return nil
    }

    private var triedAddresses: String { tried == 1 ? "tried 1 address" : "tried \(tried) addresses" }

    private borrowing func failure() -> HandshakeError {
        let error = lastError ?? ECONNREFUSED
        return HandshakeError(
            error == ECONNREFUSED ? .connectionRefused : .connectionFailed,
            "cannot reach \(role.prefix)\(endpoint): \(Descriptor.errorText(error)) (\(triedAddresses))",
            hint: error == ECONNREFUSED ? refusedHint : role.connectionHint
        )
    }

    private var refusedHint: String {
        role == .proxy ? role.connectionHint : "nothing listens there: check the port; \(role.connectionHint)"
    }

    private borrowing func timedOut() -> HandshakeError {
        let last = lastError.map { ", the last that answered said: \(Descriptor.errorText($0))" } ?? ""
        return HandshakeError(
            .connectTimeout,
            "cannot reach \(role.prefix)\(endpoint): no answer within \(timeout.inSeconds) (\(triedAddresses)\(last))",
            hint: "\(role.connectionHint); --connect-timeout waits longer"
        )
    }
}
