#if NIO
public import NIOCore
public import NIOPosix
public import NIOSSL
public import Pintle
public import PintleEvents

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// TLS for the channels of SwiftNIO clients, in which a policy judges each server.
///
/// ```swift
/// let tls = try PinnedTLS(policy: policy)
/// let server = try ServerEndpoint(url: url)
/// let channel = try await ClientBootstrap(group: group)
///     .channelInitializer { channel in
///         channel.eventLoop.makeCompletedFuture { try tls.addHandlers(to: channel, for: server) }
///     }
///     .connect(host: server.host.description, port: Int(server.port)).get()
/// ```
///
/// The verdict runs on a thread pool, because the first one reads the system's roots. It runs inside the handshake, so
/// a refused server gets no byte of the application. The channel then fires these events, in this order:
///
/// - `TrustReceipt` as a user event when the policy has accepted the server, before NIOSSL's `handshakeCompleted`
/// - or `TrustRejection` as an error when it has refused the server, then the channel closes
/// - ``TrustEndedEvent`` as a user event when a later policy no longer stands behind an open connection, or when the
///   receipt's time is over
///
/// One value serves any number of channels and servers, on any thread. Create it once, because each value has a TLS
/// context of its own.
///
/// The server is the one that you name. Whether the channel connects to that server cannot be checked: pass the host
/// and port of the URL, also behind a proxy.
public struct PinnedTLS: Sendable {
    /// The settings in use. They differ from the given ones as ``init(policy:configuration:threads:timing:)``
    /// describes.
    public var configuration: TLSConfiguration { context.configuration }

    let context: NIOSSLContext
    let timing: Timing
    private var judge: ServerJudge
    private let threads: NIOThreadPool

    /// Creates TLS with a policy.
    ///
    /// These settings of the configuration are replaced:
    ///
    /// - `minimumTLSVersion` is at least TLS 1.2.
    /// - `certificateVerification` becomes `.noHostnameVerification`, because the policy checks the name.
    /// - `trustRoots` becomes empty, because the policy has its own anchors.
    /// - `verifySignatureAlgorithms` gets a list without SHA-1.
    /// - A shared key that was set by NIOSSL's deprecated name is removed.
    ///
    /// Settings that contradict the policy are refused; see ``PinnedTLSError/Setting``. All others are kept. NIOSSL
    /// traps on cipher suites that it cannot read. Its clients never resume a TLS session.
    ///
    /// - Parameters:
    ///   - policy: the policy, read once for each verdict.
    ///   - configuration: the other settings, such as `applicationProtocols` and the client's certificate.
    ///   - threads: the threads for verdicts. The pool must be running; a stopped pool lets no server in.
    ///   - timing: the time limit of a handshake, and the time until a channel notices another policy.
    /// - Throws: ``PinnedTLSError/refusedSetting(_:)``, or NIOSSL's error about the client's certificate.
    public init(
        policy: some PolicySource, configuration: TLSConfiguration = .makeClientConfiguration(),
        threads: NIOThreadPool = .singleton, timing: Timing = Timing()
    ) throws {
        context = try NIOSSLContext(configuration: configuration.judgedByPolicy())
        judge = ServerJudge(policy)
        self.threads = threads
        self.timing = timing
    }

    /// Returns a copy that also calls a handler for each verdict that `VerdictEvent` describes. That includes servers
    /// whose certificates BoringSSL cannot read.
    ///
    /// - Parameter handler: called on a thread of the pool or on the event loop. It must return at once.
    public func onFailure(_ handler: @escaping @Sendable (VerdictEvent) -> Void) -> PinnedTLS {
        var tls = self
        tls.judge = judge.onFailure(handler)
        return tls
    }

    /// Returns a copy that also passes events to an observer, such as a reporter, on a thread of the observer's own.
    public func observed(by observer: some TrustEventObserver) -> PinnedTLS {
        onFailure { event in TrustEventFeed.shared.post(.verdict(event), to: observer) }
    }
}

// MARK: Channels

extension PinnedTLS {
    /// Adds the handlers of TLS to a client's channel.
    ///
    /// - Parameters:
    ///   - channel: the channel, before it is active or while it is. Behind a proxy, add the handlers when the tunnel
    ///     is open.
    ///   - server: the server that the caller wants to reach.
    ///   - position: the place in the pipeline. Handlers of the application come after it.
    /// - Throws: ``PinnedTLSError/notOnEventLoop`` on another thread than the channel's event loop, and NIOSSL's error
    ///   about the host.
    public func addHandlers(
        to channel: any Channel, for server: ServerEndpoint,
        position: ChannelPipeline.SynchronousOperations.Position = .last
    ) throws {
        guard channel.eventLoop.inEventLoop else { throw PinnedTLSError.notOnEventLoop }
        try channel.pipeline.syncOperations.addHandlers(handlers(for: server), position: position)
    }

    /// Returns the handlers for one channel, in their order: NIOSSL's, then the one that fires the events.
    ///
    /// - Parameter server: the server that the caller wants to reach.
    /// - Throws: NIOSSL's error about the host.
    public func handlers(for server: ServerEndpoint) throws -> [any ChannelHandler] {
        let verdict = Locked<ServerVerdict?>(nil)
        // SNI carries names only, never an address (RFC 6066 section 3).
        let name = server.host.isIPAddress ? nil : server.host.description
        let handler = try NIOSSLClientHandler(
            context: context, serverHostname: name,
            customVerificationCallbackWithMetadata: verification(of: server, for: verdict))
        return [handler, PinnedTLSHandler(for: server, verdict, judge, timing)]
    }

    /// Returns a callback for libraries that make NIOSSL's handler themselves, such as gRPC Swift 2:
    ///
    /// ```swift
    /// transportSecurity: .tls { $0.customVerificationCallback = tls.verification(of: server) }
    /// ```
    ///
    /// Such a library keeps its own settings, so set its minimum to TLS 1.2 and leave its verification on: with
    /// `.none`, NIOSSL ignores the callback's refusal. The channel gets neither events nor the reason of a refusal; use
    /// ``onFailure(_:)``. To follow policy changes, close the connections yourself. If the library lets you add
    /// handlers to its channels, prefer ``addHandlers(to:for:position:)``.
    ///
    /// - Parameter server: the server that the caller wants to reach. The callback is for this server only.
    /// - Returns: the callback. It may be called on any thread.
    public func verification(
        of server: ServerEndpoint
    ) -> @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>) -> Void {
        verification(of: server, for: nil)
    }

    private func verification(
        of server: ServerEndpoint, for verdict: Locked<ServerVerdict?>?
    ) -> @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>) -> Void {
        { [judge, threads] certificates, promise in
            threads.submit { state in
                // A pool that is stopped cancels its work. The promise must be completed all the same.
                let answer: ServerVerdict =
                    switch state {
                    case .active: judge.judge(server, certificates)
                    case .cancelled: .unavailable(.noVerdict(server))
                    }
                verdict?.withLock { $0 = answer }
                promise.succeed(answer.result)
            }
        }
    }
}

// MARK: Pools

extension PinnedTLS {
    /// Reads the roots that the policy needs, so that the first connections need not wait for them. It runs on the
    /// thread pool.
    ///
    /// - Throws: `CancellationError` if the pool is stopped.
    public func prepare() async throws {
        try await threads.runIfActive { [judge] in judge.prepare() }
    }

    /// Returns whether a connection may carry another request: it is a connection to this server, no later policy is in
    /// force, and the receipt's time is not over. A pool asks before it hands out a connection.
    ///
    /// - Parameters:
    ///   - receipt: the connection's receipt, from channels of this value or of one with the same policy source. Other
    ///     sources number their policies in their own way.
    ///   - server: the server that the next request is for.
    ///   - instant: the current time.
    public func allows(_ receipt: TrustReceipt, for server: ServerEndpoint, at instant: Date = Date()) -> Bool {
        receipt.endpoint == server && judge.reason(against: receipt, at: instant) == nil
    }
}

extension PinnedTLS {
    /// The time limits of a channel.
    public struct Timing: Sendable, Hashable {
        /// The longest time from the first byte to the end of the handshake, verdict included.
        public var handshake: TimeAmount
        /// The time between two checks of an open channel's receipt; at least a millisecond.
        public var check: TimeAmount

        /// Creates time limits.
        ///
        /// - Parameters:
        ///   - handshake: the longest time for the handshake, verdict included.
        ///   - check: the time between two checks of an open channel's receipt. A check takes less than a microsecond.
        public init(handshake: TimeAmount = .seconds(10), check: TimeAmount = .seconds(5)) {
            self.handshake = handshake
            self.check = check
        }
    }
}
#endif
