/// A line of libcurl's verbose text that says which requests a server has not processed over HTTP/2. libcurl tells that
/// in no other way.
///
/// Versions of libcurl spell these lines differently. A line that this type does not know proves nothing, so the
/// request is then not sent again.
enum VerboseLine: Equatable {
    /// The transfer's own stream. Versions before 7.84 print another base, in which the number is never greater.
    case opened(stream: UInt32)
    /// GOAWAY on the connection that libcurl reads, for whichever transfer it reads.
    case goAway(error: UInt32, last: UInt32)
    /// The server, or GOAWAY, refused the transfer's own stream. libcurl tells this since 8.19.
    case refused(stream: UInt32)
    /// libcurl has kept in mind that a stream of the transfer was refused. The note may be about an earlier attempt.
    case retrying
    /// The server has ended the stream with HTTP_1_1_REQUIRED.
    case downgrading

    /// Reads a line without copying it; `nil` for any other line.
    init?(_ line: UnsafeRawBufferPointer) {
        var rest = Slice(base: line, bounds: line.indices)
        switch line.first {
        // 8.3 and newer write the target behind it.
        case UInt8(ascii: "["):
            guard rest.skip("[HTTP/2] ["), let stream = rest.number(), rest.skip("] OPENED stream for ") else {
                return nil
            }
            self = .opened(stream: stream)
        case UInt8(ascii: "U"):
            guard rest.skip("Using Stream ID: "), let stream = rest.number(), rest.isAtEndOfWord else { return nil }
            self = .opened(stream: stream)
        case UInt8(ascii: "r"):
            guard rest.skip("recveived GOAWAY, error=") || rest.skip("received GOAWAY, error="),
                let error = rest.number(), rest.skip(", last_stream="), let last = rest.number(), rest.isAtEndOfWord
            else { return nil }
            self = .goAway(error: error, last: last)
        case UInt8(ascii: "H"):
            guard rest.skip("HTTP/2 stream "), let stream = rest.number(), rest.skip(" refused by server") else {
                return nil
            }
            self = .refused(stream: stream)
        case UInt8(ascii: "R"):
            guard rest.skip("REFUSED_STREAM, retrying a fresh connect") else { return nil }
            self = .retrying
        case UInt8(ascii: "D"):
            guard rest.skip("Downgrades to HTTP/1.1") else { return nil }
            self = .downgrading
        default: return nil
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Removes a text from the front. Returns `false` and removes nothing if the bytes begin differently.
    fileprivate mutating func skip(_ text: StaticString) -> Bool {
        guard starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)) else {
            return false
        }
        removeFirst(text.utf8CodeUnitCount)
        return true
    }

    /// Removes a decimal number from the front; `nil` if there is none or if it is too great.
    fileprivate mutating func number() -> UInt32? {
        var value: UInt32?
        while let byte = first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            let (product, isTooGreat) = (value ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt32(byte - UInt8(ascii: "0")))
            guard !isTooGreat, !overflows else { return nil }
            value = sum
            removeFirst()
        }
        return value
    }

    fileprivate var isAtEndOfWord: Bool { first.map { $0 == 0x20 || $0 == 0x0A } ?? true }
}
