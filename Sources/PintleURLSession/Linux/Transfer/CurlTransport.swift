internal import CCurl
internal import Foundation
internal import Pintle
internal import PintleEvents
internal import PintleOpenSSL
internal import PintleSystem
internal import Synchronization

/// The transport for one policy generation and identity. It has one thread, one multi handle and its own connection
/// pool, so a connection is never used under a policy other than the one that accepted it, or for another identity.
///
/// When the last reference is released, running transfers end normally, and then the thread ends.
final class CurlTransport: Sendable {
    struct Options: Sendable {
        /// The number of connections to one host and port. Further requests wait.
        var connectionsPerHost = 6
        /// The limits on reading. Only tests change them.
        var readLimits = ReadLimits(perTurnOfStreams: Transfer.perTurnOfStreams)
        /// The clock that decides whether a verdict has expired.
        var now: @Sendable () -> Date = { Date() }
        /// The kind of receipts. Only tests of the second gate change it; the gate then has to stop the request.
        var receipts = HandshakeJudge.Receipts.written
        /// Entries `HOST:PORT:ADDRESS` for tests, which resolve names to this machine without DNS.
        var addresses = StringList.empty
    }

    let generation: PolicyGeneration
    private let options: Options
    private let loop: CurlLoop
    /// The counter of the loop, for tests.
    let counter: TurnCounter

    /// - Parameter completions: The batch for the completions of async calls.
    init(_ generation: PolicyGeneration, options: Options, completions: CompletionBatch) throws(SessionError) {
        if let refusal = CurlLibrary.refusal { throw refusal }
        guard let loop = CurlLoop(connectionsPerHost: options.connectionsPerHost, completions: completions) else {
            throw SessionError(
                .outOfResources, "the process has no file descriptor or no memory left for a session's connections",
                hint: "free some, or raise the limit (ulimit -n), and make the request again")
        }
        self.generation = generation
        self.options = options
        self.loop = loop
        counter = loop.counter
        // Foundation's Thread does not report that the system cannot start it.
        guard SystemThread.startDetached({ loop.run() }) else {
            loop.close()
            throw SessionError(
                .outOfResources, "the process cannot start a thread for a session's connections",
                hint: "end some, or raise the limit (ulimit -u), and make the request again")
        }
    }

    deinit {
        loop.send(.finish)
    }

    /// Makes a transfer. It sends no event before ``start(_:)``, so the caller can store it first.
    func make(_ request: TransferRequest, events: any TransferEvents) -> Transfer {
        Transfer(request, in: generation, options: options, countedBy: counter, events: events)
    }

    func start(_ transfer: Transfer) { loop.send(.start(transfer)) }

    /// Ends the transfers that have not started, because another policy is in force.
    func retire() { loop.send(.retire) }

    func cancel(_ transfer: Transfer) { loop.send(.cancel(transfer)) }
    func hold(_ transfer: Transfer, _ hold: TransferHold) { loop.send(.hold(transfer, hold)) }
    func release(_ transfer: Transfer, _ hold: TransferHold) { loop.send(.release(transfer, hold)) }
}

extension ProxyConfiguration {
    /// Sets every proxy option of libcurl, so that it does not read the environment itself.
    ///
    /// - Parameter tunnels: `true` if an HTTP proxy must only pass bytes on, as TLS needs.
    func set(on handle: UnsafeMutableRawPointer, tunnels: Bool) {
        func set(_ option: CURLoption, _ text: String) { pintle_curl_set_pointer(handle, option, text) }
        set(CURLOPT_NOPROXY, "")
        // libcurl's default includes GSS-API: a SOCKS proxy that asks for it would get a Kerberos ticket of the
        // machine's user, and libcurl waits for the proxy's answers inside one call.
        pintle_curl_set_long(handle, CURLOPT_SOCKS5_AUTH, pintle_CURLAUTH_BASIC)
        switch self {
        case .none:
            set(CURLOPT_PROXY, "")
        case .http(let proxy, let credentials):
            set(CURLOPT_PROXY, "http://\(proxy)")
            pintle_curl_set_long(handle, CURLOPT_HTTPPROXYTUNNEL, tunnels ? 1 : 0)
            if let credentials { setCredentials(credentials.user, credentials.password) }
        case .socks5(let proxy, let credentials, let remoteDNS):
            set(CURLOPT_PROXY, "\(remoteDNS ? "socks5h" : "socks5")://\(proxy)")
            if let credentials { setCredentials(credentials.user, credentials.password) }
        case .socks4a(let proxy, let user):
            set(CURLOPT_PROXY, "socks4a://\(proxy)")
            if let user { set(CURLOPT_PROXYUSERNAME, user) }
        }
        func setCredentials(_ user: String, _ password: String) {
            set(CURLOPT_PROXYUSERNAME, user)
            set(CURLOPT_PROXYPASSWORD, password)
        }
    }
}

/// Returns the client's identity for a server; `nil` for none.
typealias IdentitySource = @Sendable (ServerEndpoint) -> ClientIdentity?

/// A factory that makes one transport for each policy that a source puts in force. Safe to use from any thread.
final class TransportProvider: Sendable {
    private let source: (any PolicySource)?
    private let observer: (any TrustEventObserver)?
    private let validator: PathValidator
    private let options: CurlTransport.Options
    /// Returns the client's identity for a server; `nil` for a session without identities.
    let identity: IdentitySource?
    /// The batch that runs the completions of async calls.
    let completions = CompletionBatch()
    /// The transports for the newest policy that a task has asked for, one for each identity, the last used first.
    private let newest = Mutex<[CurlTransport]>([])
    /// The most transports. An idle one has a sleeping thread and its kept connections.
    private static let identityLimit = 128

    /// - Parameter source: the source of policies; `nil` for a session that refuses every request.
    init(
        _ source: (any PolicySource)?, observer: (any TrustEventObserver)?, validator: PathValidator,
        options: CurlTransport.Options, identity: IdentitySource? = nil
    ) {
        self.source = source
        self.observer = observer
        self.validator = validator
        self.options = options
        self.identity = identity
    }

    /// Releases the transports. Their connections are closed once no transfer runs.
    func removeAll() {
        let old = newest.withLock { newest in
            defer { newest = [] }
            return newest
        }
        // Released outside the lock.
        withExtendedLifetime(old) {}
    }

    /// Returns the transport for the policy that is in force now.
    ///
    /// - Parameter identity: the client's identity; `nil` for none.
    func transport(as identity: ClientIdentity? = nil) throws(SessionError) -> CurlTransport {
        guard let source else {
            throw SessionError(
                .unsupportedFeature, "PinnedURLSession.shared has no policy", hint: "use URLSession.pinned(to:)")
        }
        let snapshot = source.current
        let (transport, old) = try newest.withLock { newest throws(SessionError) -> (CurlTransport, [CurlTransport]) in
            var (current, old) = (snapshot, newest)
            // Another task may have read a newer policy in the meantime.
            if let first = newest.first?.generation.snapshot, first.generation >= snapshot.generation {
                (current, old) = (first, [])
                if let index = newest.firstIndex(where: { $0.generation.identity == identity }) {
                    let transport = newest.remove(at: index)
                    newest.insert(transport, at: 0)
                    return (transport, [])
                }
            }
            let generation = PolicyGeneration(
                current, of: source, validator: validator, observer: observer, identity: identity)
            // If this fails, the next task tries again.
            let new = try CurlTransport(generation, options: options, completions: completions)
            newest = [new] + newest.dropFirst(old.count)
            // The transport without an identity stays: most servers get none.
            if newest.count > Self.identityLimit,
                let index = newest.lastIndex(where: { $0.generation.identity != nil })
            {
                newest.remove(at: index)
            }
            return (new, old)
        }
        // Outside the lock. An old transport ends with its last transfer.
        for transport in old { transport.retire() }
        return transport
    }
}
