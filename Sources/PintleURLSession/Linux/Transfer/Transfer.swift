internal import CCurl
internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// A running request: an easy handle and the state that its callbacks need.
///
/// `@unchecked`: other threads read only `request`, `generation` and `options`, which are `let` and Sendable. `init`
/// and `deinit` use the rest, and between them only the transport's thread, through ``CurlLoop`` and libcurl's
/// callbacks. ``CurlLoop/send(_:)`` ends a transfer on another thread only when the loop has ended; then only the
/// thread that starts the transfer has a reference to it.
final class Transfer: @unchecked Sendable {
    let request: TransferRequest
    let generation: PolicyGeneration
    let options: CurlTransport.Options
    /// The counter of the loop that the transfer runs in.
    let counter: TurnCounter
    /// The receiver of events; `nil` after the last event.
    private(set) var events: (any TransferEvents)?
    /// The loop's list of work. `nil` until the transfer runs.
    var work: LoopWork?
    /// The transfers to the same server. `nil` unless the transfer waits or runs.
    var host: HostQueues.Host?
    var holds: TransferHold = []
    var lastActivity = ProcessInfo.processInfo.systemUptime
    /// A Boolean value that indicates whether the request was repeated although the server did not refuse it. That
    /// happens once.
    var isRepetition = false
    /// The number of times that the request was sent again because the server had refused it.
    var refusals: Int
    /// A Boolean value that indicates whether the server wants HTTP/1.1.
    var needsHTTP1 = false
    /// A Boolean value that indicates whether libcurl must make a new connection.
    var wantsFreshConnection = false
    /// The bytes of content that were reported as sent. A repetition reports only those behind them.
    var reportedBytes: Int64 = 0
    var handle: UnsafeMutableRawPointer?
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    var state = HandleState()
    /// The result, once there is one. A hold may delay its report.
    private(set) var end: Result<Void, TransferError>?

    /// The state of one easy handle. If a transfer is repeated on another connection, the second handle starts with a
    /// new state.
    struct HandleState {
        var bodyReader: BodyReader?
        /// A Boolean value that indicates whether libcurl does not check the server's name. The verdict then has to be
        /// based on an approval.
        var acceptsOtherNames = false
        /// The judge of the connection that libcurl makes for this transfer.
        var judge: HandshakeJudge?
        var phase = Phase.seeking
        /// The sockets that libcurl has made for this transfer, one for each address that it tries.
        var sockets: [CInt] = []
        var head = HeadReader()
        var content = ContentBuffer()
        /// `nil` for content that is not encoded.
        var decoder: ContentDecoder?
        /// The directions in which libcurl was asked to pause.
        var pauses: TransferPauses = []
        /// The uptime of the last check by ``Transfer/checkStream(at:)``.
        var lastCheck = 0.0
        /// A Boolean value that indicates whether libcurl had met an error when it last reported its progress (HTTP/2).
        var hasError = false
        /// The number of attempts to send the request that the gate has let pass.
        var attempts = 0
        /// The connections that carried an earlier attempt (HTTP/2).
        var formerStreams: [HandshakeJudge] = []
        /// The number of the stream in the current attempt (HTTP/2); `nil` until libcurl has told it.
        var stream: UInt32?
        /// A Boolean value that indicates whether the server has refused the stream.
        var isRefused = false
        /// The first reason why a callback ended the transfer.
        var cause: TransferEnd.Cause?
    }

    enum Phase {
        /// libcurl looks for a connection.
        case seeking
        /// libcurl makes a connection. Lines come from a proxy.
        case connecting(TunnelReader)
        /// The gate has let the request pass.
        case sent(Connection)
    }

    /// The connection that carries the request. Another transfer may have made it.
    ///
    /// A class, because each line of a head reads the phase, and copying the facts costs more.
    final class Connection {
        /// `nil` for plain HTTP.
        let judge: HandshakeJudge?
        let facts: ConnectionFacts?
        /// A Boolean value that indicates whether the connection carries other transfers too (HTTP/2).
        let isStream: Bool
        /// A Boolean value that indicates whether libcurl made the connection for an earlier transfer.
        let isKept: Bool
        /// The uptime at which the gate let the request pass.
        let start: Double

        init(judge: HandshakeJudge?, facts: ConnectionFacts?, isStream: Bool, isKept: Bool, at start: Double) {
            self.judge = judge
            self.facts = facts
            self.isStream = isStream
            self.isKept = isKept
            self.start = start
        }

        /// A Boolean value that indicates whether libcurl could not read what came over the connection.
        var isBroken: Bool { judge?.isBroken == true }
    }

    init(
        _ request: TransferRequest, in generation: PolicyGeneration, options: CurlTransport.Options,
        countedBy counter: TurnCounter, events: any TransferEvents
    ) {
        self.request = request
        self.generation = generation
        self.options = options
        self.counter = counter
        self.events = events
        refusals = request.refusals
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        errorText.deallocate()
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Transfer.HandleState {
    /// The connection that carries the request; `nil` unless the gate has let the request pass.
    var connection: Transfer.Connection? {
        guard case .sent(let connection) = phase else { return nil }
        return connection
    }

    var isConnecting: Bool {
        if case .connecting = phase { true } else { false }
    }

    /// A Boolean value that indicates whether the request goes over a connection that carries other transfers too
    /// (HTTP/2).
    var isStream: Bool { connection?.isStream == true }

    /// The connections for which nghttp2 may still have the request in its queue (HTTP/2). It does not if the server
    /// has answered or refused it.
    var queuedStreams: [HandshakeJudge] {
        guard let connection, connection.isStream, let judge = connection.judge, !head.hasBegun, !isRefused else {
            return formerStreams
        }
        return formerStreams + [judge]
    }
}

// MARK: The end

extension Transfer {
    /// A Boolean value that indicates whether the last event was sent.
    var isOver: Bool { events == nil }
    /// A Boolean value that indicates whether the transfer has ended and a hold delays the report.
    var isWaiting: Bool { end != nil && !isOver }

    /// A Boolean value that indicates whether the head of the final response is complete.
    var hasHead: Bool { state.head.isComplete }

    /// Records a reason to end the transfer. Only the first one is kept.
    ///
    /// - Returns: 0, which makes libcurl end the transfer.
    @discardableResult
    func fail(_ cause: TransferEnd.Cause) -> Int {
        state.cause = state.cause ?? cause
        return 0
    }

    /// Records libcurl's result. It is reported at once, or once no hold delays it.
    func end(_ result: CURLcode) {
        failIfTooLong()
        deliver()
        let facts = facts(result)
        let failure = facts.error
        if case .unreadableCertificates = facts.handshake, case .rejected(.invalidPath(let path)) = failure {
            generation.report(TrustEvaluation(of: request.url.endpoint, unreadable: path), at: Date())
        }
        end = failure.map { .failure($0) } ?? .success(())
        if mayReportEnd { reportEnd() }
    }

    func end(_ failure: TransferError) {
        end = .failure(failure)
        reportEnd()
    }

    /// A Boolean value that indicates whether the end may be reported now. A hold delays success. It delays an error
    /// only while a delegate chooses the next request, because the content may then not matter.
    var mayReportEnd: Bool {
        switch end {
        case .success: holds.isEmpty && state.content.isEmpty
        case .failure: !holds.contains(.choice)
        case nil: false
        }
    }

    func reportEnd() {
        guard let end, let events else { return }
        self.events = nil
        // An app may keep what refers to a transfer for ever, for example the completion handler of a question.
        dropContent()
        switch end {
        case .failure(let failure): events.transfer(self, didComplete: failure)
        // The last content may be delivered after libcurl's result, and be lost.
        case .success: events.transfer(self, didComplete: state.cause == nil ? nil : facts(CURLE_OK).error)
        }
    }

    /// libcurl's text about the first error that the handle has met, with any connection; empty if there is none.
    var libraryError: String { errorText.pointee == 0 ? "" : String(cString: errorText) }

    private func facts(_ result: CURLcode) -> TransferEnd {
        let stage = stage
        let hasEnded =
            stage == .unsent && [CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(result)
        let client = (state.connection?.judge ?? state.judge)?.clientCause(hasEnded: hasEnded)
        return TransferEnd(
            result: result, text: libraryError.isEmpty ? nil : libraryError, stage: stage,
            cause: state.cause, handshake: hasHead ? nil : state.judge?.cause ?? client,
            endpoint: request.url.endpoint, method: request.method, isIdempotent: request.isIdempotent,
            hasContent: request.hasContent, isUnprocessed: isUnprocessed, refusals: refusals,
            handshakeLimit: options.readLimits.handshake)
    }

    private var stage: TransferEnd.Stage {
        guard hasHead else { return wasSent ? .sent : .unsent }
        let head = state.head.head
        if isWithoutContent { return .answered(.whole) }
        if let length = head.length, let handle {
            // As it is encoded, like the announced length.
            if pintle_curl_get_received_length(handle) == length { return .answered(.whole) }
            // libcurl writes the status line of a stream itself.
            if head.version.hasPrefix("HTTP/2") { return .answered(.partial) }
        }
        // Only the end of the connection ends such content (RFC 9112 section 6.3).
        let isCut =
            request.url.scheme == .https && head.version.hasPrefix("HTTP/1") && !head.hasFraming
            && state.connection?.judge?.sawEnd != true
        return .answered(isCut ? .cut : .ended)
    }

    /// A Boolean value that indicates whether the response has no content, whatever its fields say.
    var isWithoutContent: Bool { request.method == "HEAD" || [204, 304].contains(state.head.head.status) }
}
