extension HTTP2ServerConnection {
    /// Responds to a request. If the client has reset the stream, this is a no-op.
    mutating func respond(to number: UInt32, _ response: HTTPResponse) {
        guard !isOver, var stream = streams[number], stream.isComplete, stream.rest == nil else { return }
        if let bytes = response.rawBytes { return endWithRawBytes(bytes) }
        if response.closesConnection || requestCount >= limits.requests { isGoingAway = true }
        let hasNoContent = response.status < 200 || response.status == 204 || response.status == 304
        let content = hasNoContent || stream.request.method == "HEAD" ? [] : response.body
        var fields = [HPACKField(":status", "\(response.status)")] + response.fields.compactMap(\.http2)
        if !hasNoContent, !fields.contains(where: { $0.name == Array("content-length".utf8) }) {
            fields.append(HPACKField("content-length", "\(response.body.count)"))
        }
        writeBlock(HPACKEncoder.block(fields), stream: number, ends: content.isEmpty)
        stream.rest = content[...]
        streams[number] = stream
        if content.isEmpty { close(number) }
        sendContent()
    }

    /// Tells the client that its open requests were not processed, so that it may send them again (RFC 9113 section
    /// 8.7).
    mutating func refuseRequests() {
        for number in streams.keys.sorted() {
            forget(number)
            reset(number, .refusedStream)
        }
    }

    /// Writes a header block in one HEADERS frame and as many CONTINUATION frames as it needs.
    private mutating func writeBlock(_ block: [UInt8], stream: UInt32, ends: Bool) {
        var rest = (hasResponded ? [] : HPACKEncoder.emptyTable) + block
        hasResponded = true
        var kind = HTTP2Frame.Kind.headers
        var flags = ends ? HTTP2Frame.Flag.endStream : 0
        repeat {
            let piece = Array(rest.prefix(HTTP2Frame.payloadLimit))
            rest.removeFirst(piece.count)
            if rest.isEmpty { flags |= HTTP2Frame.Flag.endHeaders }
            write(kind, flags: flags, stream: stream, payload: piece)
            (kind, flags) = (.continuation, 0)
        } while !rest.isEmpty
    }

    /// Sends as much content as the windows allow (RFC 9113 section 5.2). Ends the connection after its last response.
    mutating func sendContent() {
        for number in streams.keys.sorted() where window > 0 {
            guard var stream = streams[number], var rest = stream.rest else { continue }
            while !rest.isEmpty, window > 0, stream.window > 0 {
                let piece = Array(rest.prefix(min(HTTP2Frame.payloadLimit, window, stream.window)))
                rest = rest.dropFirst(piece.count)
                window -= piece.count
                stream.window -= piece.count
                write(.data, flags: rest.isEmpty ? HTTP2Frame.Flag.endStream : 0, stream: number, payload: piece)
            }
            stream.rest = rest
            streams[number] = stream
            if rest.isEmpty { close(number) }
        }
        if isGoingAway, !streams.values.contains(where: \.isComplete) { end(last: lastAnswered, .noError) }
    }

    /// Forgets a stream whose response is complete. RST_STREAM lets a client stop that still sends (RFC 9113 section
    /// 8.1).
    private mutating func close(_ number: UInt32) {
        let hasEnded = streams[number]?.hasEnded ?? true
        forget(number)
        if !hasEnded { reset(number, .noError) }
    }

    /// Writes RST_STREAM.
    mutating func reset(_ stream: UInt32, _ code: HTTP2Error.Code) {
        write(.resetStream, stream: stream, payload: HTTP2Frame.octets(code.rawValue))
    }

    /// Receives SETTINGS (RFC 9113 section 6.5) and acknowledges it.
    mutating func receiveSettings(_ frame: HTTP2Frame) throws(HTTP2Error) {
        guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "SETTINGS of a stream") }
        let isAcknowledgement = frame.has(HTTP2Frame.Flag.ack)
        guard frame.payload.count % 6 == 0, !isAcknowledgement || frame.payload.isEmpty else {
            throw HTTP2Error(.frameSizeError, "SETTINGS of \(frame.payload.count) bytes")
        }
        if isAcknowledgement { return }
        for start in stride(from: 0, to: frame.payload.count, by: 6) {
            let setting = frame.payload[start..<start + 6]
            let value = Int(HTTP2Frame.number(setting.dropFirst(2)))
            switch HTTP2Frame.number(setting.prefix(2)) {
            case 2 where value > 1: throw HTTP2Error(.protocolError, "ENABLE_PUSH is \(value)")
            case 4: try changeInitialWindow(to: value)
            case 5 where !(HTTP2Frame.payloadLimit..<1 << 24 ~= value):
                throw HTTP2Error(.protocolError, "MAX_FRAME_SIZE is \(value)")
            default: break
            }
        }
        write(.settings, flags: HTTP2Frame.Flag.ack)
        sendContent()
    }

    /// Changes the window of new streams and, by the difference, that of open ones (RFC 9113 section 6.9.2).
    private mutating func changeInitialWindow(to size: Int) throws(HTTP2Error) {
        let difference = size - initialWindow
        guard size <= Self.largestWindow,
            streams.values.allSatisfy({ $0.window + difference <= Self.largestWindow })
        else { throw HTTP2Error(.flowControlError, "INITIAL_WINDOW_SIZE is \(size)") }
        initialWindow = size
        for number in streams.keys { streams[number]?.window += difference }
    }

    /// Receives WINDOW_UPDATE (RFC 9113 section 6.9).
    mutating func receiveWindowUpdate(_ frame: HTTP2Frame) throws(HTTP2Error) {
        try check(frame, length: 4, isOfConnection: frame.stream == 0)
        let increment = Int(HTTP2Frame.number(frame.payload) & 0x7FFF_FFFF)
        guard increment > 0, frame.stream <= lastStream else {
            throw HTTP2Error(.protocolError, "WINDOW_UPDATE by \(increment) on stream \(frame.stream)")
        }
        if frame.stream == 0 { window += increment } else { streams[frame.stream]?.window += increment }
        guard max(window, streams[frame.stream]?.window ?? 0) <= Self.largestWindow else {
            throw HTTP2Error(.flowControlError, "a window of more than 2,147,483,647 bytes")
        }
        sendContent()
    }
}
