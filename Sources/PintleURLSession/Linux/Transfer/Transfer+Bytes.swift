internal import CCurl
internal import Foundation

/// Bytes, both ways.
extension Transfer {
    func takeField(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard !attempt.isConnecting else { return takeTunnelLine(bytes, count) }
        lastActivity = ProcessInfo.processInfo.systemUptime
        attempt.headSize += count
        attempt.headLines += 1
        guard attempt.headSize <= Self.headLimit, attempt.headLines <= Self.headLineLimit else {
            let excess = attempt.headSize > Self.headLimit ? "is longer than 300 kB" : "has more than 1000 lines"
            return refuseHead("\(attempt.hasHead ? "what follows the content" : "the head of the response") \(excess)")
        }
        // What comes after the content are trailers, which Foundation does not show.
        guard !attempt.hasHead else { return count }
        var isInField = false
        switch HeadLine(UnsafeRawBufferPointer(start: bytes, count: count)) {
        case .status(let version, let status) where attempt.isHeadNew:
            // Of a response in between (100, 103) nothing stays.
            attempt.head = ResponseHead(status: status, version: version, receipt: attempt.head.receipt)
        case .field(let name, let value):
            attempt.head.fields.append((name, value))
            isInField = true
        case .continuation(let value) where attempt.isInField:
            isInField = attempt.head.unfold(value)
            guard isInField else {
                return refuseHead("\(attempt.head.fields.last?.name ?? "") goes on in another line of the head")
            }
        case .end where attempt.head.status >= 200:
            if let fault = attempt.head.checkFraming(isStream: attempt.isStream) { return refuseHead(fault) }
            // libcurl would take the 0 for the length of this response, and leave its content out.
            if attempt.hasInterimLength, !attempt.head.hasFraming {
                return refuseHead("an interim response has a length, and the final response has none")
            }
            attempt.hasHead = true
            if attempt.head.isCoded { watchDecoder() }
            if let events { holds.formUnion(events.transfer(self, didReceive: attempt.head)) }
        case .end:
            if let fault = attempt.head.checkFraming(isStream: attempt.isStream) { return refuseHead(fault) }
            if attempt.head.hasFraming { attempt.hasInterimLength = true }
            (attempt.isHeadNew, attempt.isInField) = (true, false)
            return count
        case .status, .continuation, nil: break
        }
        (attempt.isHeadNew, attempt.isInField) = (false, isInField)
        return count
    }

    /// - Returns: what ends the transfer.
    private func refuseHead(_ fault: String) -> Int {
        attempt.headFault = fault
        return 0
    }

    func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard holds.isEmpty else {
            attempt.isReceivePaused = true
            return pintle_CURL_WRITEFUNC_PAUSE
        }
        // libcurl takes what comes after a status of 101, which nobody has asked for, for content.
        guard attempt.hasHead else { return refuseHead("there is content before the head of the response is over") }
        guard attempt.contentLoss == nil, let bytes, count > 0, !isOver else { return 0 }
        if attempt.isCoded, !mayDecode(count) {
            attempt.isReceivePaused = true
            return pintle_CURL_WRITEFUNC_PAUSE
        }
        gather(UnsafeRawBufferPointer(start: bytes, count: count))
        return attempt.contentLoss == nil ? count : 0
    }

    func give(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard let reader = attempt.bodyReader else { return 0 }
        // What is told is told in its order.
        handOver()
        // What a delegate is to answer, or to work off, has come: it does not stop what goes.
        guard !holds.contains(.suspended) else {
            attempt.isSendPaused = true
            return pintle_CURL_READFUNC_PAUSE
        }
        switch reader.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count)) {
        case .bytes(let given):
            if given > 0 { events?.transfer(self, didSend: given) }
            return given
        case .later:
            attempt.isSendPaused = true
            return pintle_CURL_READFUNC_PAUSE
        case .failed: return pintle_CURL_READFUNC_ABORT
        }
    }

    func seek(to offset: curl_off_t, _ origin: CInt) -> CInt {
        origin == SEEK_SET && attempt.bodyReader?.seek(to: Int64(offset)) ?? (offset == 0)
            ? CInt(CURL_SEEKFUNC_OK) : CInt(CURL_SEEKFUNC_FAIL)
    }

    /// Lets go of some reasons to wait, or of none: then it is the content to send that there is more of.
    func release(_ hold: TransferHold) {
        holds.subtract(hold)
        if mayTellEnd { return tellEnd() }
        if holds.isEmpty { lastActivity = ProcessInfo.processInfo.systemUptime }
        let receives = attempt.isReceivePaused && holds.isEmpty
        let sends = attempt.isSendPaused && !holds.contains(.suspended)
        guard receives || sends, let handle else { return }
        if receives { attempt.isReceivePaused = false }
        if sends { attempt.isSendPaused = false }
        // What libcurl held back comes through `take` inside this call; it keeps nothing that is not taken.
        noteLoss(curl_easy_pause(handle, pauses))
    }

    /// What libcurl held back cannot be had any more, if it says so: the first reason counts.
    func noteLoss(_ code: CURLcode) {
        if code != CURLE_OK { attempt.contentLoss = attempt.contentLoss ?? code }
    }

    var pauses: CInt {
        CInt(attempt.isReceivePaused ? CURLPAUSE_RECV : 0) | CInt(attempt.isSendPaused ? CURLPAUSE_SEND : 0)
    }
}
