/// Counts the bytes of requests among the bytes that a client sends over HTTP/2.
///
/// Only whole frames of the types HEADERS, CONTINUATION and DATA count, with their nine bytes of header. The preface,
/// SETTINGS, WINDOW_UPDATE, PRIORITY and PING tell a server nothing about the request. From the first bytes on that are
/// not HTTP/2, all bytes count: such a client may have sent anything.
struct HTTP2RequestMeter: Sendable {
    private enum Phase: Sendable {
        /// The number of bytes of the preface that have come.
        case preface(Int)
        /// The beginning of a frame's header.
        case header([UInt8])
        /// The number of bytes missing from the payload.
        case payload(Int, counts: Bool)
        case malformed
    }

    private var phase = Phase.preface(0)

    /// Returns the number of bytes that count among these, and earlier ones whose type these reveal.
    mutating func count(_ bytes: [UInt8]) -> Int {
        var rest = bytes[...]
        var result = 0
        while let first = rest.first {
            switch phase {
            case .preface(let count):
                guard HTTP2Frame.preface.indices.contains(count), HTTP2Frame.preface[count] == first else {
                    phase = .malformed
                    result += count
                    continue
                }
                rest.removeFirst()
                phase = count + 1 == HTTP2Frame.preface.count ? .header([]) : .preface(count + 1)
            case .header(let begun):
                let piece = rest.prefix(HTTP2Frame.headerCount - begun.count)
                rest = rest.dropFirst(piece.count)
                result += frame(begun + piece)
            case .payload(let missing, let counts):
                let piece = rest.prefix(missing)
                rest = rest.dropFirst(piece.count)
                if counts { result += piece.count }
                phase = piece.count == missing ? .header([]) : .payload(missing - piece.count, counts: counts)
            case .malformed:
                return result + rest.count
            }
        }
        return result
    }

    /// Begins the frame if its header is complete. Returns the number of the header's bytes that count.
    private mutating func frame(_ bytes: [UInt8]) -> Int {
        guard let header = HTTP2Frame.Header(bytes[...]) else {
            phase = .header(bytes)
            return 0
        }
        guard header.length <= HTTP2Frame.payloadLimit else {
            phase = .malformed
            return bytes.count
        }
        let counts = HTTP2Frame.Kind(rawValue: header.type)?.carriesRequest ?? false
        phase = header.length == 0 ? .header([]) : .payload(header.length, counts: counts)
        return counts ? bytes.count : 0
    }
}
