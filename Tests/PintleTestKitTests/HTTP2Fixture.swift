@testable import PintleTestKit

/// Frames of a client, and a server without a network.
enum HTTP2Fixture {
    static let settings = HTTP2Frame(.settings).bytes
    /// `GET https://a/`
    static let head: [UInt8] = [0x82, 0x87, 0x84, 0x41, 1, 0x61]

    static func headers(
        _ block: [UInt8] = HTTP2Fixture.head, stream: UInt32 = 1,
        flags: UInt8 = HTTP2Frame.Flag.endHeaders | HTTP2Frame.Flag.endStream
    ) -> [UInt8] {
        HTTP2Frame(.headers, flags: flags, stream: stream, payload: block).bytes
    }

    static func data(_ count: Int, stream: UInt32 = 1, flags: UInt8 = 0) -> [UInt8] {
        HTTP2Frame(.data, flags: flags, stream: stream, payload: [UInt8](repeating: 0x78, count: count)).bytes
    }

    static func literal(_ name: String, _ value: String) -> [UInt8] {
        HPACKEncoder.block([HPACKField(name, value)])
    }

    /// A server that answers each request.
    struct Exchange {
        var connection: HTTP2ServerConnection
        var response = HTTPResponse(status: 200)
        var requests: [HTTP2ServerConnection.Request] = []
        var sent: [HTTP2Frame] = []

        init(_ limits: HTTP2Limits = HTTP2Limits()) {
            connection = HTTP2ServerConnection(limits)
        }

        /// Receives bytes in pieces of a length.
        mutating func receive(_ bytes: [UInt8], pieces: Int = .max) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                connection.append(Array(rest.prefix(pieces)))
                rest = rest.dropFirst(pieces)
                while let request = connection.next() {
                    requests.append(request)
                    connection.respond(to: request.stream, response)
                }
            }
            // The reader of a client's frames also reads a server's, after a preface.
            var reader = HTTP2FrameReader()
            reader.append(HTTP2Frame.preface + connection.takeOutput())
            while let frame = try reader.next() { sent.append(frame) }
        }

        func sent(_ kind: HTTP2Frame.Kind) -> [HTTP2Frame] { sent.filter { $0.kind == kind } }

        /// The error code of GOAWAY.
        var endCode: UInt32? { sent(.goAway).first.map { HTTP2Frame.number($0.payload.dropFirst(4)) } }
    }

    static func exchange(
        _ frames: [UInt8], limits: HTTP2Limits = HTTP2Limits(), pieces: Int = .max
    ) throws -> Exchange {
        var exchange = Exchange(limits)
        try exchange.receive(HTTP2Frame.preface + settings + frames, pieces: pieces)
        return exchange
    }

    static func frame(
        _ kind: HTTP2Frame.Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        HTTP2Frame(kind, flags: flags, stream: stream, payload: payload).bytes
    }
}
