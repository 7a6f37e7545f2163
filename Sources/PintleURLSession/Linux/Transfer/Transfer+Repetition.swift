internal import CCurl
internal import COpenSSL
internal import Foundation

/// Attempts to send a request.
///
/// If a kept connection ends before the response, libcurl sends any request again on another connection, up to five
/// times. But the server may have performed it, and an attacker who ends connections would have a payment made six
/// times. So libcurl may send a request again only if the server has not received or not processed it. An idempotent
/// request is repeated by ``CurlLoop``, once.
extension Transfer {
    /// The longest time in seconds that a kept connection may have been idle before it carries a request that cannot be
    /// repeated. Common servers end a connection that was idle for 5 seconds.
    private static let freshness = 4.0

    /// A Boolean value that indicates whether libcurl has sent the request, or a part of it.
    private var wasSent: Bool {
        handleState.hasPassedGate && handleState.connectionJudge?.hasWithheldRequest != true
    }

    /// Returns `false` if libcurl must not begin an attempt to send the request. The first attempt may always begin.
    ///
    /// Over HTTP/2, a server can say that it has not processed a request (REFUSED_STREAM and GOAWAY, RFC 9113 section
    /// 8.7). libcurl does not pass that on. But as long as a connection is intact, libcurl repeats a request for no other
    /// reason. Its versions 8.0 to 8.6 do so also after close_notify.
    func beginsAttempt() -> Bool {
        let judge = handleState.isStream ? handleState.connectionJudge : nil
        let wasRefused = judge?.isIntact == true && !(judge?.sawEnd == true && CurlLibrary.repeatsAfterCloseNotify)
        guard !wasSent || wasRefused else {
            handleState.gateFailure = .repeated
            return false
        }
        leaveConnection()
        handleState.hasPassedGate = false
        return true
    }

    /// Returns `true` if the connection is likely to carry the request to the server and its response back.
    ///
    /// Over HTTP/1.1, what a server sent behind its last response would become the response to this request (RFC 9112
    /// section 9.2). Such bytes, and the end of the connection, are looked for immediately before the request is written.
    ///
    /// - Parameter isKept: `true` if the connection was made before.
    func isFit(_ isKept: Bool) -> Bool {
        guard let judge = handleState.connectionJudge, let ssl = pintle_curl_get_ssl(handle) else { return true }
        if isKept {
            let mayBeDead = !request.isIdempotent && judge.idleTime > Self.freshness
            let hasLeftover = !handleState.isStream && SSL_has_pending(OpaquePointer(ssl)) != 0
            guard !mayBeDead, !hasLeftover else {
                handleState.gateFailure = .unfit
                return false
            }
            if !handleState.isStream { judge.withholdRequestUnlessSilent() }
        }
        judge.addTransfer()
        return true
    }

    /// Counts the transfer as one that has left its connection.
    func leaveConnection() {
        if handleState.hasPassedGate { handleState.connectionJudge?.removeTransfer() }
    }

    /// Returns `true` if the transfer may be repeated once, on a new connection: either nothing was sent, or the request
    /// is idempotent and its connection ended before the response. libcurl 7.88 reports CURLE_HTTP2 or success if the server
    /// has refused the request with GOAWAY (RFC 9113 section 6.8), but also for other ends of a connection.
    func mayBeRepeated(after result: CURLcode) -> Bool {
        guard !wantsFreshConnection, request.body?.isWhole ?? true else { return false }
        return switch handleState.gateFailure {
        case .receiptOver, .unfinished, .unfit: true
        case .repeated: request.isIdempotent
        case .noReceipt, .superseded: false
        case nil:
            handleState.connectionJudge?.hasWithheldRequest == true
                || (result == CURLE_HTTP2 || result == CURLE_OK) && request.isIdempotent && handleState.isStream
                    && handleState.headLines == 0
        }
    }

    /// Returns the failure of a request that was sent and got no response.
    func failureWithoutResponse(_ result: CURLcode) -> TransferFailure? {
        guard wasSent, !handleState.hasHead, handleState.headFault == nil else { return nil }
        switch result {
        case _ where handleState.gateFailure == .repeated: break
        case _ where request.isIdempotent: return nil
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            break
        // libcurl wanted to repeat the request, but found no address for another connection.
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: break
        default: return nil
        }
        let advice =
            request.isIdempotent
            ? "" : ", so the server may have performed the \(request.method); find out before you send it again"
        let end = isBroken ? Self.brokenFault : "the connection to \(request.url.endpoint) ended before the response"
        return .library(code: (isBroken ? CURLE_WEIRD_SERVER_REPLY : CURLE_RECV_ERROR).rawValue, text: end + advice)
    }
}
