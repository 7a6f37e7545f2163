package import PintleTestKit

/// The bytes that one connection brought to a server of an attack, after decryption.
package struct Transcript: Sendable {
    /// The record of the connection; `nil` for plain HTTP.
    package let record: TLSConnectionRecord?
    /// The first bytes that the server received, at most ``limit``.
    package let received: [UInt8]

    /// The number of bytes that are kept of each connection.
    package static let limit = 64 << 10

    /// The requests among the bytes, each with the content that was received, and the bytes that are no request.
    package var requests: (requests: [HTTPRequest], rest: [UInt8]) {
        if record?.applicationProtocol == "h2" { return http2 }
        var reader = HTTPReader(ReceivedBytes(received))
        guard var request = try? reader.head() else { return ([], received) }
        request.body = reader.unread
        return ([request], [])
    }

    /// The requests of an HTTP/2 connection, with their contents if all of them were received.
    private var http2: (requests: [HTTPRequest], rest: [UInt8]) {
        let (heads, whole) = (http2Requests(droppingContent: 0), http2Requests(droppingContent: nil))
        return (whole.count == heads.count ? whole : heads, heads.isEmpty ? received : [])
    }

    private func http2Requests(droppingContent limit: Int?) -> [HTTPRequest] {
        var requests: [HTTPRequest] = []
        let handler = { (request: HTTPRequest) -> HTTPResponse in
            requests.append(request)
            return .ok
        }
        var service = HTTP2Service(handler: handler)
        service.droppedContent = limit
        service.serve(ReceivedBytes(received))
        return requests
    }
}

/// A stream of bytes that were received before.
private final class ReceivedBytes: ByteStream {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func read(upTo count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    func write(_ bytes: [UInt8]) {}
}
