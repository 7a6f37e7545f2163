internal import CCurl
internal import COpenSSL
internal import Foundation

/// Attempts to send a request.
///
/// If a kept connection ends before the response, libcurl sends any request again on another connection, up to five
/// times. But the server may have performed it, and an attacker who ends connections would have a payment made six
/// times. So ``CurlLoop`` sends any request again that the server provably has not processed; see ``isUnprocessed``.
/// Without that proof only an idempotent request is sent again: by libcurl, or by ``CurlLoop``, a few times if the
/// server seems not to have processed it, otherwise once. Any other request is sent once.
extension Transfer {
    /// The longest time in seconds that a kept connection may have been idle before it carries a request that cannot be
    /// repeated. Common servers end a connection that was idle for 5 seconds.
    private static let freshness = 4.0

    /// A Boolean value that indicates whether libcurl has sent the request, or a part of it.
    var wasSent: Bool { state.connection != nil && !isWithheld }

    /// A Boolean value that indicates whether the connection kept the request back.
    ///
    /// In one turn, libcurl may end a transfer and give its connection to the next one, whose request is then kept
    /// back. The first one has its response.
    private var isWithheld: Bool { state.connection?.judge?.hasWithheldRequest == true && !state.head.hasBegun }

    /// Returns `false` if libcurl must not make a connection for the request.
    func mayConnect() -> Bool {
        // libcurl 8 tries the next address of the host after a refusal here.
        guard state.cause == nil else { return false }
        guard state.connection != nil else { return true }
        guard beginsAttempt() else { return false }
        // Before 8.19, libcurl does not clear the text of the error.
        errorText.pointee = 0
        // libcurl 7.88 would send the head again and none of the content.
        guard state.bodyReader?.seek(to: 0) ?? true else {
            fail(.gate(.repeated))
            return false
        }
        return true
    }

    /// Returns `false` if libcurl must not begin an attempt to send the request. The first attempt may always begin.
    ///
    /// Over HTTP/2, libcurl repeats a request that the server has refused. On an intact connection it also repeats a
    /// request if nghttp2 has ended the connection because the server broke a rule; its versions 8.0 to 8.6 do so also
    /// after close_notify. The server may have performed the request then, so only idempotent ones are repeated. If the
    /// server asks for HTTP/1.1 after a response has begun, libcurl would join that response with the next one.
    ///
    /// ``CurlLoop`` puts a refused request into the queue. libcurl would send it again at once: a server that refuses a
    /// hundred streams would get a hundred connections, and might refuse all of them again. But if the server asks for
    /// HTTP/1.1 (RFC 9113 section 7), only libcurl's handle knows that.
    func beginsAttempt() -> Bool {
        guard let connection = state.connection else { return true }
        // libcurl repeats a request over an intact connection only if the server has refused it.
        if connection.isStream, wasSent { connection.judge?.hasRefused = true }
        // Not by this handle: only in a handle's first attempt is libcurl's note of a refusal a proof.
        guard !isUnprocessed else {
            fail(.gate(.refused))
            return false
        }
        let judge = connection.isStream ? connection.judge : nil
        let wasRefused =
            request.isIdempotent && !state.head.hasBegun && judge?.isIntact == true && !connection.isBroken
            && !(judge?.sawEnd == true && CurlLibrary.repeatsAfterCloseNotify)
        guard !wasSent || wasRefused else {
            fail(.gate(.repeated))
            return false
        }
        // If the server asks for HTTP/1.1, libcurl has met an error, which it then drops.
        guard !wasSent || state.hasError else {
            fail(.gate(.refused))
            return false
        }
        leaveConnection()
        state.formerStreams = state.queuedStreams
        state.phase = .seeking
        state.sockets = []
        // Only text about a request counts, and OpenSSL's messages would be text too.
        set(CURLOPT_VERBOSE, 0)
        return true
    }

    /// Throws unless the kept connection is likely to carry the request to the server and its response back.
    ///
    /// Over HTTP/1.1, what a server sent behind its last response would become the response to this request (RFC 9112
    /// section 9.2). Such bytes, and the end of the connection, are looked for immediately before the request is
    /// written.
    func refuseUnfit(_ connection: Connection) throws(GateError) {
        guard let judge = connection.judge, let ssl = pintle_curl_get_ssl(handle) else { return }
        let mayBeDead = !request.isIdempotent && judge.idleTime > Self.freshness
        let hasLeftover = !connection.isStream && SSL_has_pending(OpaquePointer(ssl)) != 0
        guard !mayBeDead, !hasLeftover else { throw .unfit }
        guard judge.abandonedHandles < AbandonedHandle.limit else { throw .full }
        guard !connection.isStream else { return }
        judge.withholdRequestUnlessSilent()
        // libcurl repeats a withheld request. Other kept connections may be dead too, and libcurl 8 reads content
        // before it writes, so a stream could not be repeated again.
        set(CURLOPT_FRESH_CONNECT, 1)
    }

    /// Counts the transfer as one that has left its connection.
    func leaveConnection() {
        guard let connection = state.connection else { return }
        let isLast = connection.judge?.removeTransfer(hasAnswered: hasHead) ?? true
        if connection.isStream { host?.removeStream(isLast: isLast) }
    }

    /// Begins another attempt if there may be one: the server has refused the request, nothing was sent, or the request
    /// is idempotent and its connection ended before the response. libcurl 7.88 reports CURLE_HTTP2 or success
    /// if the server has refused the request with GOAWAY (RFC 9113 section 6.8), but also for other ends of a
    /// connection.
    ///
    /// - Returns: `false` if there is no other attempt.
    func beginsRepetition(after result: CURLcode) -> Bool {
        guard request.content.isAvailable else { return false }
        if state.cause == .gate(.refused) || state.cause == nil && isUnprocessed {
            guard refusals < Self.refusalLimit else { return false }
            refusals += 1
            return true
        }
        // This spends no repetition, and happens once in a row: a new connection has no such handles.
        if state.cause == .gate(.full) {
            wantsFreshConnection = true
            return true
        }
        guard !isRepetition else { return false }
        switch state.cause {
        case .gate(.receiptOver), .gate(.unfinished), .gate(.unfit), .gate(.early): wantsFreshConnection = true
        case .gate(.earlierError): break
        case .gate(.repeated):
            guard request.isIdempotent, !state.head.hasBegun else { return false }
            wantsFreshConnection = !state.isStream
        case nil where isWithheld: wantsFreshConnection = true
        // The others of this connection are repeated too. libcurl no longer uses the connection, so they need no fresh
        // one each.
        case nil where (result == CURLE_HTTP2 || result == CURLE_OK) && state.isStream:
            guard request.isIdempotent, !state.head.hasBegun else { return false }
        // libcurl repeats a request if it reads the end of a kept connection, but not if it meets that end when it
        // writes more of the content. Over HTTP/2, libcurl may still offer the connection that has ended.
        case nil where result == CURLE_SEND_ERROR && state.connection?.isKept == true && !state.isStream:
            guard request.isIdempotent, !state.head.hasBegun else { return false }
            wantsFreshConnection = true
        default: return false
        }
        isRepetition = true
        return true
    }
}
