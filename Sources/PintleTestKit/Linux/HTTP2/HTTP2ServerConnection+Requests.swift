extension HTTP2ServerConnection {
    /// Receives HEADERS (RFC 9113 section 6.2), which opens a stream or ends it with trailers.
    mutating func beginBlock(_ frame: HTTP2Frame) throws(HTTP2Error) -> Request? {
        guard frame.stream % 2 == 1 else { throw HTTP2Error(.protocolError, "HEADERS on stream \(frame.stream)") }
        let isNew = frame.stream > lastStream
        lastStream = max(lastStream, frame.stream)
        let ends = frame.has(HTTP2Frame.Flag.endStream)
        guard isNew || ends else { throw HTTP2Error(.protocolError, "trailers without END_STREAM") }
        block = HeaderBlock(
            stream: frame.stream, endsStream: ends, isNew: isNew, bytes: try content(of: frame),
            byteCount: HTTP2Frame.headerCount + frame.payload.count)
        return frame.has(HTTP2Frame.Flag.endHeaders) ? try endBlock() : nil
    }

    /// Receives CONTINUATION (RFC 9113 section 6.10).
    mutating func continueBlock(_ frame: HTTP2Frame) throws(HTTP2Error) -> Request? {
        guard var block, block.stream == frame.stream else {
            throw HTTP2Error(.protocolError, "CONTINUATION without HEADERS")
        }
        block.bytes += frame.payload
        block.byteCount += HTTP2Frame.headerCount + frame.payload.count
        guard block.bytes.count <= limits.headerBlock else {
            throw HTTP2Error(.enhanceYourCalm, "a header block over \(limits.headerBlock) bytes")
        }
        self.block = block
        return frame.has(HTTP2Frame.Flag.endHeaders) ? try endBlock() : nil
    }

    private mutating func endBlock() throws(HTTP2Error) -> Request? {
        guard let block else { return nil }
        self.block = nil
        // Also for a stream that the server ignores, because the dynamic table must stay that of the client.
        let fields = try decoder.fields(of: block.bytes)
        guard !isGoingAway else { return nil }
        guard block.isNew else { return try receiveTrailers(fields, block) }
        guard streams.count < limits.openStreams else {
            reset(block.stream, .refusedStream)
            return nil
        }
        requestCount += 1
        var stream = Stream(
            request: try HTTPRequest(http2: fields), byteCount: block.byteCount, window: initialWindow)
        stream.hasEnded = block.endsStream
        streams[block.stream] = stream
        // A client that waits for 100 (Continue) sends no content before a response.
        let waits = limits.droppedContent == 0 || limits.droppedContent != nil && stream.request["expect"] != nil
        return block.endsStream || waits ? try complete(block.stream) : nil
    }

    private mutating func receiveTrailers(_ fields: [HPACKField], _ block: HeaderBlock) throws(HTTP2Error) -> Request? {
        guard var stream = streams[block.stream], !stream.hasEnded else {
            forget(block.stream)
            reset(block.stream, .streamClosed)
            return nil
        }
        stream.hasEnded = true
        stream.byteCount += block.byteCount
        for field in fields { stream.request.fields.append(try HTTPField(http2: field)) }
        streams[block.stream] = stream
        return stream.isComplete ? nil : try complete(block.stream)
    }

    /// Receives DATA (RFC 9113 section 6.1), and lets the client send as much again.
    mutating func receiveContent(_ frame: HTTP2Frame) throws(HTTP2Error) -> Request? {
        guard frame.stream != 0, frame.stream <= lastStream else {
            throw HTTP2Error(.protocolError, "DATA on stream \(frame.stream)")
        }
        let content = try content(of: frame)
        let update = HTTP2Frame.octets(UInt32(clamping: frame.payload.count))
        if !frame.payload.isEmpty { write(.windowUpdate, payload: update) }
        guard var stream = streams[frame.stream], !stream.hasEnded else {
            // A stream that has ended, by END_STREAM or by its response.
            forget(frame.stream)
            if !isGoingAway { reset(frame.stream, .streamClosed) }
            return nil
        }
        // Without this the dictionary keeps the content too, and each frame would copy it.
        streams[frame.stream] = nil
        stream.byteCount += HTTP2Frame.headerCount + frame.payload.count
        stream.hasEnded = frame.has(HTTP2Frame.Flag.endStream)
        var isEnough = false
        if let limit = limits.droppedContent {
            isEnough = !stream.isComplete && stream.byteCount >= limit
        } else if !stream.isComplete {
            heldContent += content.count
            guard heldContent <= limits.content else {
                throw HTTP2Error(.enhanceYourCalm, "content over \(limits.content) bytes")
            }
            stream.request.body += content
        }
        streams[frame.stream] = stream
        if stream.hasEnded || isEnough { return stream.isComplete ? nil : try complete(frame.stream) }
        if !frame.payload.isEmpty { write(.windowUpdate, stream: frame.stream, payload: update) }
        return nil
    }

    /// Returns the request of a stream, which waits for its response from now on.
    private mutating func complete(_ number: UInt32) throws(HTTP2Error) -> Request? {
        guard var stream = streams[number] else { return nil }
        let request = stream.request
        if let length = request["content-length"], limits.droppedContent == nil {
            guard Int(length) == request.body.count else {
                throw HTTP2Error(.protocolError, "content of another length than content-length")
            }
        }
        heldContent -= request.body.count
        stream.isComplete = true
        stream.request.body = []
        streams[number] = stream
        lastAnswered = max(lastAnswered, number)
        return Request(stream: number, request: request, byteCount: stream.byteCount)
    }

    /// Returns the payload without padding and priority (RFC 9113 sections 6.1 and 6.2).
    private func content(of frame: HTTP2Frame) throws(HTTP2Error) -> [UInt8] {
        var content = frame.payload[...]
        var padding = 0
        if frame.has(HTTP2Frame.Flag.padded) {
            guard let count = content.popFirst() else { throw HTTP2Error(.frameSizeError, "no length of the padding") }
            padding = Int(count)
        }
        if frame.kind == .headers, frame.has(HTTP2Frame.Flag.priority) {
            guard content.count >= 5 else { throw HTTP2Error(.frameSizeError, "a truncated priority") }
            content = content.dropFirst(5)
        }
        guard padding <= content.count else { throw HTTP2Error(.protocolError, "more padding than payload") }
        return Array(content.dropLast(padding))
    }
}
