internal import CCurl
internal import Foundation

/// Callbacks for received and sent bytes.
extension Transfer {
    func readHeadLine(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard !handleState.isConnecting else { return readTunnelLine(bytes, count) }
        lastActivity = ProcessInfo.processInfo.systemUptime
        handleState.headSize += count
        handleState.headLines += 1
        let limit = handleState.isStream ? Self.streamHeadLimit : Self.headLimit
        guard !isBroken, handleState.headSize <= limit, handleState.headLines <= Self.headLineLimit else {
            let excess =
                handleState.headSize > limit ? "is longer than \((limit + 1) >> 10) kB" : "has more than 1000 lines"
            return refuseHead(
                "\(handleState.hasHead ? "what follows the content" : "the head of the response") \(excess)")
        }
        // These lines are trailers, which Foundation does not pass to the app.
        guard !handleState.hasHead else { return count }
        var isInField = false
        switch HeadLine(UnsafeRawBufferPointer(start: bytes, count: count)) {
        case .status(let version, let status) where handleState.isHeadNew:
            // The fields of an interim response (100, 103) are dropped.
            handleState.head = ResponseHead(status: status, version: version, receipt: handleState.head.receipt)
            handleState.head.fields.reserveCapacity(16)
        case .field(let name, let value):
            handleState.head.fields.append((name, value))
            isInField = true
        case .continuation(let value) where handleState.isInField:
            isInField = handleState.head.unfold(value)
            guard isInField else {
                return refuseHead("\(handleState.head.fields.last?.name ?? "") goes on in another line of the head")
            }
        case .end where handleState.head.status >= 200:
            if let fault = handleState.head.checkFraming(isStream: handleState.isStream) { return refuseHead(fault) }
            // libcurl would use the interim response's length of 0 for this response and drop its content.
            if handleState.hasInterimLength, !handleState.head.hasFraming {
                return refuseHead("an interim response has a length, and the final response has none")
            }
            let isCoded = handleState.head.isCoded
            if isCoded, handleState.head.hasUnofferedCoding, !isWithoutContent {
                handleState.decodingFault = "the content of the response has a coding that was not offered"
                return 0
            }
            handleState.hasHead = true
            if isCoded { watchDecoder() }
            if let events { holds.formUnion(events.transfer(self, didReceive: handleState.head)) }
        case .end:
            if let fault = handleState.head.checkFraming(isStream: handleState.isStream) { return refuseHead(fault) }
            if handleState.head.hasFraming { handleState.hasInterimLength = true }
            (handleState.isHeadNew, handleState.isInField) = (true, false)
            return count
        case .status, .continuation, nil: break
        }
        (handleState.isHeadNew, handleState.isInField) = (false, isInField)
        return count
    }

    /// - Returns: 0, which makes libcurl end the transfer.
    private func refuseHead(_ fault: String) -> Int {
        handleState.headFault = fault
        return 0
    }

    func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        // libcurl keeps the rest of a piece while it is paused. It would decode that rest without a limit of the session,
        // so encoded content is taken, and libcurl is paused after the piece.
        guard holds.isEmpty || handleState.isCoded else {
            handleState.isReceivePaused = true
            return pintle_CURL_WRITEFUNC_PAUSE
        }
        // After an unrequested status 101 libcurl treats the following bytes as content.
        guard handleState.hasHead else { return refuseHead("there is content before the head of the response is over") }
        guard handleState.contentLoss == nil, !isBroken, let bytes, count > 0, !isOver else { return 0 }
        if handleState.isCoded, !mayDecode(count) { return 0 }
        gather(UnsafeRawBufferPointer(start: bytes, count: count))
        return handleState.contentLoss == nil ? count : 0
    }

    func supply(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard let reader = handleState.bodyReader else { return 0 }
        // Report received content first, so that events keep their order.
        handOver()
        // A pending delegate answer or a backlog pauses receiving only. Sending stops only when the task is suspended.
        guard !holds.contains(.suspended) else {
            handleState.isSendPaused = true
            return pintle_CURL_READFUNC_PAUSE
        }
        switch reader.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count)) {
        case .bytes(let given):
            if reader.offset > reportedBytes {
                events?.transfer(self, didSend: Int(reader.offset - reportedBytes))
                reportedBytes = reader.offset
            }
            return given
        case .later:
            handleState.isSendPaused = true
            return pintle_CURL_READFUNC_PAUSE
        case .failed: return pintle_CURL_READFUNC_ABORT
        }
    }

    func seek(to offset: curl_off_t, _ origin: CInt) -> CInt {
        origin == SEEK_SET && handleState.bodyReader?.seek(to: Int64(offset)) ?? (offset == 0)
            ? CInt(CURL_SEEKFUNC_OK) : CInt(CURL_SEEKFUNC_FAIL)
    }

    /// Removes reasons to hold the transfer. An empty set reports that there is more content to send.
    func release(_ hold: TransferHold) {
        holds.subtract(hold)
        if holds.isEmpty { handOver() }
        if mayReportEnd { return reportEnd() }
        if holds.isEmpty { lastActivity = ProcessInfo.processInfo.systemUptime }
        let receives = handleState.isReceivePaused && holds.isEmpty
        let sends = handleState.isSendPaused && !holds.contains(.suspended)
        guard receives || sends, let handle else { return }
        if receives { handleState.isReceivePaused = false }
        if sends { handleState.isSendPaused = false }
        // Inside this call libcurl passes the content that it held back to `receive`. It drops what `receive` does not
        // take.
        recordLoss(curl_easy_pause(handle, pauses))
    }

    /// Records that libcurl has lost content that it held back. Only the first reason is kept.
    func recordLoss(_ code: CURLcode) {
        if code != CURLE_OK { handleState.contentLoss = handleState.contentLoss ?? code }
    }

    var pauses: CInt {
        CInt(handleState.isReceivePaused ? CURLPAUSE_RECV : 0) | CInt(handleState.isSendPaused ? CURLPAUSE_SEND : 0)
    }
}

/// The proxy's response to CONNECT.
extension Transfer {
    /// Reads a line of the response's head. Ends the transfer at the status line of a response that opens no tunnel.
    ///
    /// libcurl 7.88 would read the content of a 407 byte by byte inside one call, for as long as the socket has more of
    /// it. Another attempt would be pointless: the only scheme is Basic, whose credentials go with the first CONNECT.
    func readTunnelLine(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        handleState.tunnelHeadSize += count
        guard handleState.tunnelHeadSize <= Self.tunnelHeadLimit else {
            handleState.tunnelFault = "the proxy's answer to CONNECT is longer than \(Self.tunnelHeadLimit >> 10) KiB"
            return 0
        }
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        switch HeadLine(line) {
        case .status(_, 407):
            handleState.tunnelFault = "the proxy answered CONNECT with status 407: it wants other credentials"
        case .status(_, let status) where status >= 300:
            handleState.tunnelFault = "the proxy answered CONNECT with status \(status)"
        case .status: break
        // libcurl accepts more spellings of a status than the standard, such as `HTTP/1.1 0407`.
        case _ where line.starts(with: "HTTP/".utf8):
            handleState.tunnelFault = "the proxy answered CONNECT with a status line that is not valid"
        default: break
        }
        return handleState.tunnelFault == nil ? count : 0
    }
}

/// Decoding. A few bytes of encoded content can expand to very many.
extension Transfer {
    /// The number of encoded bytes that may come without any decoded content. Decoders for gzip, deflate and br produce
    /// output as they go.
    static let silentDecodingLimit: Int64 = 256 << 10

    /// The largest window of br (RFC 7932 section 9.1). libcurl does not enable larger ones. Decoders for gzip and
    /// deflate keep 32 KiB.
    private static let brotliWindow = 16 << 20

    /// Makes libcurl report its progress to ``checkFrames()`` and ``checkDecoder(_:)``.
    func watchProgress() {
        guard let handle else { return }
        pintle_curl_set_progress(
            handle,
            { at, _, received, _, _ in
                guard let transfer = Transfer.at(at) else { return 1 }
                transfer.checkFrames()
                return transfer.handleState.isCoded ? transfer.checkDecoder(Int64(received)) : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func watchDecoder() {
        handleState.isCoded = true
        if handleState.head.usesBrotli { handleState.window = Self.brotliWindow }
        // Without TLS a connection carries one transfer at a time, so it needs no shared budget.
        handleState.decoding = handleState.connectionJudge?.decoding ?? DecodingBudget(countedBy: counter)
        watchProgress()
    }

    /// Ends the transfer if encoded content keeps coming but decodes to nothing.
    ///
    /// - Parameter received: The encoded bytes of the content so far.
    /// - Returns: 0 to continue; any other value ends the transfer.
    private func checkDecoder(_ received: Int64) -> CInt {
        if handleState.hasDecoded {
            handleState.hasDecoded = false
            handleState.codedBefore = received
        }
        guard received - handleState.codedBefore > Self.silentDecodingLimit else { return 0 }
        handleState.decodingFault = "more than \(Self.silentDecodingLimit >> 10) KiB of coded content decode to nothing"
        return 1
    }

    /// Counts decoded content. Returns `false` if the transfer has to fail.
    private func mayDecode(_ count: Int) -> Bool {
        handleState.hasDecoded = true
        if handleState.decodingTurn != counter.turn {
            (handleState.decodingTurn, handleState.decodedInTurn) = (counter.turn, 0)
        }
        handleState.decodedInTurn += count
        handleState.decoding?.spend(count)
        countMemory(adding: count)
        if handleState.decoding?.isExceeded == true, handleState.decodedInTurn > DecodingBudget.share {
            handleState.decodingFault =
                "the content of the response expands to more than \(DecodingBudget.mostPerTurn >> 20) MiB at once"
        } else if counter.decodingMemory > DecodingBudget.memory, memory > DecodingBudget.share {
            handleState.decodingFault =
                "the encoded responses of the session need more than \(DecodingBudget.memory >> 20) MiB of memory"
        }
        return handleState.decodingFault == nil
    }

    /// Counts the memory of the decoder, and of decoded content that is not handed over yet. A window is counted as far
    /// as it is filled.
    func countMemory(adding count: Int = 0) {
        guard handleState.isCoded else { return }
        let window = handle == nil ? 0 : min(Int(clamping: handleState.received) + count, handleState.window)
        let sum = window + handleState.gathered.count + count
        counter.countDecodingMemory(sum - memory)
        memory = sum
    }

    /// Pauses receiving of encoded content that the task does not take now.
    func pauseIfHeld() {
        guard handleState.isCoded, !holds.isEmpty, !handleState.isReceivePaused, end == nil, let handle else { return }
        handleState.isReceivePaused = true
        // This fails if libcurl already has the whole response. Nothing is lost then: all content was taken.
        curl_easy_pause(handle, pauses)
    }
}

/// Coalescing of content. libcurl delivers content in TLS records of at most 16 KiB. The task gets one event for all
/// that came in a turn of the loop.
extension Transfer {
    /// The number of bytes after which gathered content is handed over at once.
    private static let gatheringLimit = 256 << 10
    private static let firstCapacity = 64 << 10
    /// The size in bytes of a record after which more records are likely to follow.
    private static let likelyFullRecord = 8 << 10

    func gather(_ bytes: UnsafeRawBufferPointer) {
        if handleState.gathered.isEmpty {
            gathering?.add(self)
            if bytes.count >= Self.likelyFullRecord { handleState.gathered.reserveCapacity(Self.firstCapacity) }
        } else if handleState.gathered.count <= Self.firstCapacity,
            handleState.gathered.count + bytes.count > Self.firstCapacity
        {
            // In one step, because each step copies what was gathered before.
            handleState.gathered.reserveCapacity(Self.gatheringLimit + Self.firstCapacity)
        }
        handleState.gathered.append(contentsOf: bytes)
        handleState.received += Int64(bytes.count)
        if handleState.gathered.count >= Self.gatheringLimit { handOver() }
    }

    /// Hands gathered content to the task, in pieces if it is long. The task may hold the transfer, or fail to store the
    /// content, which counts as a loss.
    func handOver() {
        while !handleState.gathered.isEmpty, let events, holds.isEmpty || !handleState.isCoded {
            let gathered = handleState.gathered
            let isLong = gathered.count > 2 * Self.gatheringLimit
            // A copy, so that the piece does not keep the rest in memory.
            let content = isLong ? Data(gathered.prefix(Self.gatheringLimit)) : gathered
            handleState.gathered = isLong ? gathered.dropFirst(Self.gatheringLimit) : Data()
            countMemory()
            if let more = events.transfer(self, didReceive: content) {
                holds.formUnion(more)
            } else {
                recordLoss(CURLE_WRITE_ERROR)
                handleState.gathered = Data()
            }
        }
    }
}
