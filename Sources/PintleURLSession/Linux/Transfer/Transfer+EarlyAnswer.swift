internal import CCurl
internal import Foundation

/// Answers amid an upload.
extension Transfer {
    /// Has libcurl look at a stream of HTTP/2 that was answered before its content was sent, if nothing has been
    /// heard of it for a while: where a stream ends while libcurl 7.88 itself sends, and where the server makes
    /// room for more, it waits for a socket on which nothing need happen any more.
    ///
    /// - Returns: the uptime of the next look.
    func lookAgain(at now: Double) -> Double {
        guard attempt.hasHead, isMultiplexed, end == nil, holds.isEmpty, !attempt.isSendPaused, let handle else {
            return .infinity
        }
        // Twice as long each time.
        let interval = min(max(attempt.lastLook - lastActivity, 0.05), 2)
        let next = max(attempt.lastLook, lastActivity) + interval
        guard now >= next else { return next }
        attempt.lastLook = now
        // Going on after a pause is what makes it look.
        curl_easy_pause(handle, pauses | CInt(CURLPAUSE_SEND))
        noteLoss(curl_easy_pause(handle, pauses))
        return now + min(max(now - lastActivity, 0.05), 2)
    }

    /// Whether as much content has come as the response says that it has; of a compressed one nobody knows.
    private var hasWholeContent: Bool {
        guard attempt.hasHead, attempt.contentLoss == nil else { return false }
        return isWithoutContent || announcedLength == attempt.received
    }

    private var isWithoutContent: Bool { request.method == "HEAD" || [204, 304].contains(attempt.head.status) }

    private var announcedLength: Int64? {
        guard attempt.head.values(of: "content-encoding").isEmpty else { return nil }
        return attempt.head.values(of: "content-length").first.flatMap { Int64($0) }
    }

    /// A response that is complete is one, whatever becomes of the rest of the request: a server may say that it
    /// wants no more of it (RFC 9113 section 8.1), or just hang up. And none that is not complete has ended well.
    func judged(_ result: CURLcode) -> CURLcode {
        guard request.hasContent, attempt.hasHead else { return result }
        switch result {
        case CURLE_OK where isMultiplexed && announcedLength != nil:
            return hasWholeContent ? result : CURLE_PARTIAL_FILE
        case CURLE_HTTP2_STREAM, CURLE_SEND_ERROR: return hasWholeContent ? CURLE_OK : result
        default: return result
        }
    }
}
