/// The HTTP/2 frames that the tests need (RFC 9113 section 6). All are about stream 1 unless they say otherwise.
enum Frame {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let settings = frame(4, stream: 0, [])

    /// Returns SETTINGS with a limit of streams that are open at a time.
    static func settings(streams limit: UInt8) -> [UInt8] { frame(4, stream: 0, [0, 3, 0, 0, 0, limit]) }

    /// `:status 200` is entry 8 of the static table (RFC 7541).
    static let head = frame(1, flags: 4, stream: 1, [0x88])

    /// Returns a head with `content-length` (entry 28 of the static table) of one digit.
    static func head(length: Int) -> [UInt8] {
        frame(1, flags: 4, stream: 1, [0x88, 0x0F, 0x0D, 1, UInt8(truncatingIfNeeded: 0x30 + length)])
    }

    static func data(_ text: String, isLast: Bool = false) -> [UInt8] {
        frame(0, flags: isLast ? 1 : 0, stream: 1, Array(text.utf8))
    }

    /// Returns a response with encoded content, in frames of 16 KiB.
    static func response(_ content: [UInt8], coding: String, stream: UInt8) -> [UInt8] {
        // `content-encoding` is entry 26.
        let field = [0x88, 0x0F, 0x0B, UInt8(truncatingIfNeeded: coding.utf8.count)] + Array(coding.utf8)
        var frames = frame(1, flags: 4, stream: stream, field)
        for start in stride(from: 0, to: content.count, by: 16_384) {
            let end = min(start + 16_384, content.count)
            frames += frame(0, flags: end == content.count ? 1 : 0, stream: stream, Array(content[start..<end]))
        }
        return frames
    }

    /// Returns a response with or without `content-length`, of at most one digit.
    static func response(_ text: String, length: UInt8?, isLast: Bool, stream: UInt8) -> [UInt8] {
        // `content-length` is entry 28.
        let field: [UInt8] = length.map { [0x0F, 0x0D, 1, UInt8(ascii: "0") + $0] } ?? []
        return frame(1, flags: 4, stream: stream, [0x88] + field)
            + frame(0, flags: isLast ? 1 : 0, stream: stream, Array(text.utf8))
    }

    /// Returns a head after which content follows.
    static func head(stream: UInt8) -> [UInt8] { frame(1, flags: 4, stream: stream, [0x88]) }

    /// A PING. A client answers it once it has read everything before it.
    static let ping = frame(6, stream: 0, [UInt8](repeating: 0, count: 8))

    /// Returns a response without content.
    static func empty(stream: UInt8) -> [UInt8] { frame(1, flags: 5, stream: stream, [0x88]) }

    static func reset(code: UInt8, stream: UInt8 = 1) -> [UInt8] { frame(3, stream: stream, [0, 0, 0, code]) }

    static func goAway(last: UInt8) -> [UInt8] { frame(7, stream: 0, [0, 0, 0, last, 0, 0, 0, 0]) }

    /// Returns WINDOW_UPDATE frames that allow this many more bytes, for the stream and for the connection.
    static func room(_ count: Int) -> [UInt8] {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
        return frame(8, stream: 0, bytes) + frame(8, stream: 1, bytes)
    }

    /// Returns a head of any size, in frames that fill a TLS record each. Its field names have up to 126 bytes.
    static func head(
        _ status: Int, _ fields: [(name: String, value: String)], isLast: Bool = false, stream: UInt8
    ) -> [[UInt8]] {
        // Literals without indexing (RFC 7541 section 6.2.2). `:status` is entry 8.
        var block = [8, 3] + Array("\(status)".utf8)
        for (name, value) in fields {
            block += [0, UInt8(truncatingIfNeeded: name.utf8.count)] + Array(name.utf8)
            // An integer with a prefix of 7 bits (section 5.1).
            var rest = value.utf8.count - 127
            block.append(UInt8(truncatingIfNeeded: min(rest + 127, 127)))
            while rest >= 128 {
                block.append(UInt8(truncatingIfNeeded: rest) | 128)
                rest >>= 7
            }
            block += (rest >= 0 ? [UInt8(truncatingIfNeeded: rest)] : []) + Array(value.utf8)
        }
        let size = 16_384 - 9
        return stride(from: 0, to: block.count, by: size).map { start in
            let flags: UInt8 = (start + size >= block.count ? 4 : 0) | (start == 0 && isLast ? 1 : 0)
            let piece = Array(block[start..<min(start + size, block.count)])
            return frame(start == 0 ? 1 : 9, flags: flags, stream: stream, piece)
        }
    }

    static func data(_ text: String, isLast: Bool, stream: UInt8) -> [UInt8] {
        frame(0, flags: isLast ? 1 : 0, stream: stream, Array(text.utf8))
    }

    /// A CONTINUATION frame that ends a head.
    static func continuation(_ block: [UInt8], stream: UInt8) -> [UInt8] {
        frame(9, flags: 4, stream: stream, block)
    }

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
        return length + [type, flags, 0, 0, 0, stream] + payload
    }
}
