/// A connection that bytes go through, plain or encrypted. Calls block; one thread at a time.
public protocol ByteStream: AnyObject {
    /// Waits for bytes and returns at most `count` of them; none where the peer has ended its side.
    func read(upTo count: Int) throws(StreamError) -> [UInt8]
    /// Writes all the bytes.
    func write(_ bytes: [UInt8]) throws(StreamError)
}

/// A connection over TLS 1.3 whose server can change its keys.
package protocol RekeyingStream: ByteStream {
    /// Sends so many KeyUpdate messages (RFC 8446 section 4.6.3) at once.
    func updateKeys(times count: Int) throws(StreamError)
}

extension ByteStream {
    /// Returns exactly `count` bytes; throws where the peer ends before.
    public func read(exactly count: Int) throws(StreamError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try read(upTo: count - bytes.count)
            guard !more.isEmpty else {
                throw StreamError(reason: "the peer ended after \(bytes.count) of \(count) bytes")
            }
            bytes.append(contentsOf: more)
        }
        return bytes
    }
}

/// A connection that can carry nothing more.
public struct StreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why, in a few words.
    public let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    /// The same as ``reason``.
    public var description: String { reason }

    /// A server that others reach waits no longer.
    package static let tooSlow = StreamError(reason: "nothing came in time")
    static let serverClosed = StreamError(reason: "the server was closed")
}
