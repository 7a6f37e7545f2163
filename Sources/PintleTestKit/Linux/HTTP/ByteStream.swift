/// A connection of a loopback server, plain or encrypted. Calls block; use it from one thread at a time.
public protocol ByteStream: AnyObject {
    /// Waits for bytes and returns them. The array is empty when the peer has ended its side.
    ///
    /// - Parameter count: the most bytes to return.
    /// - Throws: an error after a time-out, when the connection breaks, and when the server is closed.
    func read(upTo count: Int) throws -> [UInt8]
    /// Writes all bytes.
    ///
    /// - Parameter bytes: the bytes to send.
    /// - Throws: an error after a time-out, when the connection breaks, and when the server is closed.
    func write(_ bytes: [UInt8]) throws
}

extension ByteStream {
    /// Waits for a number of bytes and returns them.
    ///
    /// - Parameter count: the number of bytes to return.
    /// - Throws: an error as ``read(upTo:)`` does, and when the peer ends its side too early.
    public func read(exactly count: Int) throws -> [UInt8] {
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

/// A connection that its server keeps after a response.
protocol KeptStream: ByteStream {
    /// Records whether the server has answered every request so far. If so, an observer gets what the connection has
    /// brought.
    func setAnswered(_ isAnswered: Bool)
    /// A Boolean value that indicates whether more than half of the server's connections are taken.
    var isCrowded: Bool { get }
    /// Limits the time for all further reads together.
    func limitReading(seconds: Double)
}

/// The error of a connection that is closed, broken or too slow.
package struct StreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause, in a few words.
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    package var description: String { reason }

    /// The peer took longer than the server's time limit.
    package static let tooSlow = StreamError(reason: "the peer was too slow")
    static let serverClosed = StreamError(reason: "the server was closed")
}
