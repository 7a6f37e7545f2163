internal import CCurl
internal import Foundation
internal import Glibc

/// Callbacks for received and sent bytes.
extension Transfer {
    func readLine(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        switch state.phase {
        case .seeking: return fail(.head("there is a response before the request"))
        case .connecting(var tunnel):
            if let fault = tunnel.read(line) { return fail(.tunnel(fault)) }
            state.phase = .connecting(tunnel)
            return count
        case .sent(let connection):
            lastActivity = ProcessInfo.processInfo.systemUptime
            guard !connection.isBroken else { return fail(.frames) }
            switch state.head.read(line, isStream: connection.isStream) {
            case .more: return count
            case .fault(let fault):
                // Over HTTP/2 the rest of the head follows. If it is long, nghttp2 ends the connection while that
                // carries the next request.
                set(CURLOPT_FORBID_REUSE, 1)
                return fail(.head(fault))
            case .complete: return accept(state.head.head, over: connection) ? count : 0
            }
        }
    }

    /// Hands the head of the final response over. Returns `false` if the transfer has to fail.
    private func accept(_ head: ResponseHead, over connection: Connection) -> Bool {
        if let coding = head.contentCoding, !isWithoutContent {
            let isDecoded = coding == .gzip || coding == .deflate
            guard coding != .several || request.choosesCodings else {
                fail(.head("the response has more than one content coding"))
                return false
            }
            guard isDecoded || request.choosesCodings else {
                fail(
                    .coding(
                        "the content of the response has a coding that sessions do not decode; a request with its own "
                            + "Accept-Encoding gets it as it came"))
                return false
            }
            if isDecoded { state.decoder = ContentDecoder(isGzip: coding == .gzip) }
        }
        var head = head
        head.connection = connection.facts
        if let judge = connection.judge, !judge.hasAnswered {
            judge.hasAnswered = true
            // Others may wait for that.
            if connection.isStream { work?.streams.append(self) }
        }
        if let events { holds.formUnion(events.transfer(self, didReceive: head)) }
        return true
    }

    func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard holds.isEmpty else {
            state.pauses.insert(.receiving)
            return pintle_CURL_WRITEFUNC_PAUSE
        }
        // After an unrequested status 101 libcurl treats the following bytes as content.
        guard hasHead else { return fail(.head("there is content before the head of the response is over")) }
        guard state.connection?.isBroken != true else { return fail(.frames) }
        guard state.cause == nil, let bytes, count > 0, !isOver else { return 0 }
        if state.content.isEmpty { work?.receiving.append(self) }
        state.content.append(UnsafeRawBufferPointer(start: bytes, count: count))
        if state.content.isFull { deliver() }
        return state.cause == nil ? count : 0
    }

    func supply(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard let reader = state.bodyReader else { return 0 }
        // Report received content first, so that events keep their order.
        deliver()
        // A pending delegate answer or a backlog pauses receiving only. Sending stops only when the task is suspended.
        guard !holds.contains(.suspended) else {
            state.pauses.insert(.sending)
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
            state.pauses.insert(.sending)
            return pintle_CURL_READFUNC_PAUSE
        case .failed:
            fail(.upload)
            return pintle_CURL_READFUNC_ABORT
        case .excess:
            fail(.excess)
            return pintle_CURL_READFUNC_ABORT
        }
    }

    /// Fails if the stream has more bytes than the request has announced.
    func failIfTooLong() {
        if state.bodyReader?.isTooLong == true { fail(.excess) }
    }

    func seek(to offset: curl_off_t, _ origin: CInt) -> CInt {
        origin == SEEK_SET && state.bodyReader?.seek(to: Int64(offset)) ?? (offset == 0)
            ? CInt(CURL_SEEKFUNC_OK) : CInt(CURL_SEEKFUNC_FAIL)
    }

    /// Makes libcurl report its progress to ``checkFrames()``. Its last report comes immediately before it ends the
    /// transfer or repeats the request.
    func watchFrames() {
        pintle_curl_set_progress(
            handle,
            { at, _, _, _, _ in
                guard let transfer = Transfer.at(at) else { return 1 }
                transfer.state.hasError = !transfer.libraryError.isEmpty
                transfer.checkFrames()
                if transfer.state.connection?.isBroken == true { transfer.fail(.frames) }
                return transfer.state.cause == nil ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

// MARK: Received content

/// A buffer for the content that libcurl delivers in one turn of the loop, so that the task gets one event for all of
/// it. libcurl delivers content in TLS records of at most 16 KiB.
struct ContentBuffer {
    /// The number of bytes after which the content is delivered at once.
    static let limit = 256 << 10
    private static let firstCapacity = 64 << 10
    /// The size in bytes of a record after which more records are likely to follow.
    private static let likelyFullRecord = 8 << 10

    private var bytes = Data()

    var isEmpty: Bool { bytes.isEmpty }
    var isFull: Bool { bytes.count >= Self.limit }

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            if piece.count >= Self.likelyFullRecord { bytes.reserveCapacity(Self.firstCapacity) }
        } else if bytes.count <= Self.firstCapacity, bytes.count + piece.count > Self.firstCapacity {
            // In one step, because each step copies the content that is there.
            bytes.reserveCapacity(Self.limit + Self.firstCapacity)
        }
        bytes.append(contentsOf: piece)
    }

    @discardableResult
    mutating func removeAll() -> Data {
        defer { bytes = Data() }
        return bytes
    }
}

extension Transfer {
    /// Delivers the buffered content to the task: all of it, or the next decoded piece. The task may hold the transfer,
    /// or fail to store the content, which counts as a loss.
    func deliver() {
        if let decoder = state.decoder { return deliverDecoded(from: decoder) }
        if !state.content.isEmpty { deliver(state.content.removeAll()) }
    }

    private func deliver(_ piece: Data) {
        guard let events else { return }
        if let more = events.transfer(self, didReceive: piece) {
            holds.formUnion(more)
        } else {
            fail(.loss(CURLE_WRITE_ERROR))
        }
    }

    /// Decodes a piece, unless the task takes none now. The loop decodes the next one in its next turn, so that no
    /// response occupies its thread, and nothing more is received until everything is decoded.
    private func deliverDecoded(from decoder: ContentDecoder) {
        guard holds.subtracting(.decoding).isEmpty, !isOver, state.cause == nil else { return }
        var piece = Data()
        do throws(ContentError) {
            if decoder.needsInput { decoder.feed(state.content.removeAll()) }
            // A single byte may be too little to decode.
            while piece.isEmpty, !decoder.needsInput { piece = try decoder.decode() }
        } catch {
            fail(.coding(error.text))
        }
        if !piece.isEmpty { deliver(piece) }
        guard !decoder.needsInput || !state.content.isEmpty else {
            holds.remove(.decoding)
            return
        }
        holds.insert(.decoding)
        if holds == .decoding { work?.receiving.append(self) }
    }

    /// Continues after content was delivered or a hold was removed.
    func proceed() {
        if mayReportEnd { return reportEnd() }
        // Decoding is progress, however long it goes on after the last byte from the server.
        if holds.subtracting(.decoding).isEmpty { lastActivity = ProcessInfo.processInfo.systemUptime }
        var rest = state.pauses
        if holds.isEmpty { rest.remove(.receiving) }
        if !holds.contains(.suspended) { rest.remove(.sending) }
        applyPauses(rest)
    }

    /// Releases content that the task will not get.
    func dropContent() {
        state.content.removeAll()
        state.decoder = nil
    }
}

// MARK: Pauses

/// The directions in which libcurl pauses a transfer. The raw values are libcurl's.
struct TransferPauses: OptionSet {
    let rawValue: CInt

    static let receiving = TransferPauses(rawValue: CInt(CURLPAUSE_RECV))
    static let sending = TransferPauses(rawValue: CInt(CURLPAUSE_SEND))
}

extension Transfer {
    /// Removes reasons to hold the transfer. An empty set reports that there is more content to send, or too much.
    func release(_ hold: TransferHold) {
        failIfTooLong()
        holds.subtract(hold)
        if holds.subtracting(.decoding).isEmpty { deliver() }
        proceed()
    }

    /// Inside this call libcurl passes the content that it held back to ``receive(_:_:)``. It drops what is not taken.
    private func applyPauses(_ pauses: TransferPauses) {
        guard let handle, pauses != state.pauses else { return }
        let mayHoldContent = state.pauses.contains(.receiving)
        state.pauses = pauses
        let code = curl_easy_pause(handle, pauses.rawValue)
        // libcurl reports CURLE_BAD_FUNCTION_ARGUMENT if the transfer has ended in this turn. That loses only content
        // that was held back.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT || mayHoldContent else { return }
        fail(.loss(code))
    }
}

// MARK: HTTP/2

extension Transfer {
    /// The seconds after which a silent stream is checked for the first time.
    static let shortestSilence = 0.05

    /// Notes that libcurl could not read what came over the connection.
    ///
    /// libcurl then ends only the transfer that it was reading for. For the next one it hands the same bytes to nghttp2
    /// again, in the middle of a frame. So a value in an overlong head could become a frame of another response.
    /// libcurl calls this function before the next transfer. What that one and later ones read then is refused, and the
    /// loop ends all of them.
    private func checkFrames() {
        guard let judge = state.connection?.judge, !judge.isBroken, state.isStream, hasFrameError else { return }
        judge.isBroken = true
        work?.broken.append(judge)
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// A Boolean value that indicates whether libcurl has reported an error of its library for HTTP/2. Newer versions
    /// report harmless faults too.
    var hasFrameError: Bool { strstr(errorText, "nghttp2") != nil }

    /// Makes libcurl look at an HTTP/2 stream on which nothing has happened for a while.
    ///
    /// libcurl 7.88 can wait for a socket that stays silent in four cases. It has read data of several streams and
    /// delivered it to only some of them: then the next turn of the loop delivers the rest. A stream ends while libcurl
    /// is sending, the server's window for more content opens, or nghttp2 has ended the connection because the server
    /// broke a rule: then libcurl has to be told.
    ///
    /// - Returns: the uptime of the next check.
    func checkStream(at now: Double) -> Double {
        guard state.isStream, end == nil, holds.isEmpty, handle != nil, !state.pauses.contains(.sending) else {
            return .infinity
        }
        // Exponential back-off.
        let interval = min(max(state.lastCheck - lastActivity, Self.shortestSilence), 2)
        let next = max(state.lastCheck, lastActivity) + interval
        guard now >= next else { return next }
        state.lastCheck = now
        // A request without content is left alone within its response: if nghttp2 has ended the connection, libcurl
        // would take that for the end of the response's content.
        if request.hasContent || !hasHead {
            // libcurl checks a stream when it is resumed after a pause.
            let pauses = state.pauses
            applyPauses(pauses.union(.sending))
            applyPauses(pauses)
        }
        return now + min(max(now - lastActivity, Self.shortestSilence), 2)
    }
}
