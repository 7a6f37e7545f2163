/// A frame (RFC 9113 section 4.1): a length of 24 bits, a type, flags, the number of a stream, and the payload.
struct HTTP2Frame: Sendable, Hashable {
    /// The types of RFC 9113 section 6.
    enum Kind: UInt8, Sendable, Hashable {
        case data = 0
        case headers = 1
        case priority = 2
        case resetStream = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9

        /// A Boolean value that indicates whether frames of this kind contain parts of a request.
        var carriesRequest: Bool { self == .headers || self == .continuation || self == .data }
    }

    /// Flags, whose meaning depends on the type.
    enum Flag {
        static let ack: UInt8 = 0x01
        static let endStream: UInt8 = 0x01
        static let endHeaders: UInt8 = 0x04
        static let padded: UInt8 = 0x08
        static let priority: UInt8 = 0x20
    }

    /// The bytes that a client sends first (RFC 9113 section 3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let headerCount = 9
    /// The longest payload, SETTINGS_MAX_FRAME_SIZE by default (RFC 9113 section 6.5.2).
    static let payloadLimit = 16_384

    /// The type on the wire. Receivers ignore types that they do not know.
    var type: UInt8
    var flags: UInt8 = 0
    /// The number of the stream; 0 for the connection.
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) {
        type = kind.rawValue
        (self.flags, self.stream, self.payload) = (flags, stream, payload)
    }

    fileprivate init(_ header: Header, payload: [UInt8]) {
        (type, flags, stream, self.payload) = (header.type, header.flags, header.stream, payload)
    }

    /// The type; `nil` for one that this server does not know.
    var kind: Kind? { Kind(rawValue: type) }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// The frame on the wire.
    var bytes: [UInt8] {
        var bytes = Array(Self.octets(UInt32(truncatingIfNeeded: payload.count)).dropFirst())
        bytes += [type, flags]
        bytes += Self.octets(stream)
        return bytes + payload
    }

    /// Returns four octets, big-endian.
    static func octets(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Returns the number in big-endian octets, at most four of them.
    static func number(_ octets: some Sequence<UInt8>) -> UInt32 {
        octets.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The nine bytes before the payload.
    struct Header: Sendable, Hashable {
        let length: Int
        let type: UInt8
        let flags: UInt8
        let stream: UInt32

        /// - Returns: `nil` for fewer than nine bytes.
        init?(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count >= HTTP2Frame.headerCount else { return nil }
            let start = bytes.startIndex
            length = Int(HTTP2Frame.number(bytes[start..<start + 3]))
            type = bytes[start + 3]
            flags = bytes[start + 4]
            // The first bit is reserved.
            stream = HTTP2Frame.number(bytes[start + 5..<start + 9]) & 0x7FFF_FFFF
        }
    }
}

/// Splits a client's bytes into frames. It holds at most one incomplete frame besides the bytes of the last call.
struct HTTP2FrameReader {
    private var buffer: [UInt8] = []
    /// The number of bytes at the beginning of `buffer` that earlier frames used.
    private var used = 0
    private var hasPreface = false

    mutating func append(_ bytes: [UInt8]) {
        if used > 0 {
            buffer.removeFirst(used)
            used = 0
        }
        buffer += bytes
    }

    /// Returns the next frame, or `nil` if its bytes are not complete.
    mutating func next() throws(HTTP2Error) -> HTTP2Frame? {
        guard try readPreface() else { return nil }
        let rest = buffer[used...]
        guard let header = HTTP2Frame.Header(rest) else { return nil }
        guard header.length <= HTTP2Frame.payloadLimit else {
            throw HTTP2Error(.frameSizeError, "a frame of \(header.length) bytes")
        }
        let end = HTTP2Frame.headerCount + header.length
        guard rest.count >= end else { return nil }
        let start = used
        used += end
        return HTTP2Frame(header, payload: Array(buffer[start + HTTP2Frame.headerCount..<used]))
    }

    private mutating func readPreface() throws(HTTP2Error) -> Bool {
        if hasPreface { return true }
        let preface = HTTP2Frame.preface
        guard buffer.prefix(preface.count).elementsEqual(preface.prefix(buffer.count)) else {
            throw HTTP2Error(.protocolError, "no connection preface")
        }
        guard buffer.count >= preface.count else { return false }
        hasPreface = true
        used = preface.count
        return true
    }
}
