/// An endless HTTP response of gzip inside gzip (RFC 1952), which decodes to nothing.
///
/// Each step adds an empty stored block (RFC 1951 section 3.2.4) to the innermost layer, and a stored block to each layer
/// around it. A decoder takes all of it and never gives a byte, so a time limit for each read does not end the client. The
/// response grows by some kilobytes a second: it costs the machine no memory, whatever the client collects.
struct EmptyGzipStack {
    /// The number of layers.
    let depth: Int

    /// Deflate, no flags, no time, unknown system.
    private static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    /// A stored block without content that is not the last block.
    private static let emptyBlock: [UInt8] = [0, 0, 0, 0xFF, 0xFF]

    /// The headers of all layers.
    var beginning: [UInt8] { around(Self.head) { Self.head + Self.stored($0) } }

    /// The bytes of one step.
    var step: [UInt8] { around(Self.emptyBlock, Self.stored) }

    /// Answers one request. Returns when the client or the server ends the connection.
    func answer(_ stream: any ByteStream) {
        var reader = HTTPReader(stream)
        guard let request = try? reader.head() else { return }
        let encodings = Array(repeating: "gzip", count: depth).joined(separator: ", ")
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(encodings)\r\nConnection: close\r\n\r\n"
        do {
            try stream.write(Array(head.utf8))
            guard request.method != "HEAD" else { return }
            try stream.write(beginning)
            while true {
                try stream.write(step)
                // Without a pause the loop would not notice that the server closes, and the response would fill the client.
                guard let stream = stream as? any PausingStream else { return }
                try stream.pause(seconds: 0.01)
            }
        } catch {
            // The client or the server has ended the connection.
        }
    }

    private func around(_ innermost: [UInt8], _ wrap: ([UInt8]) -> [UInt8]) -> [UInt8] {
        (1..<max(depth, 1)).reduce(innermost) { content, _ in wrap(content) }
    }

    /// Returns a stored block that is not the last block. The content must be shorter than 64 KiB.
    private static func stored(_ content: [UInt8]) -> [UInt8] {
        let count = UInt16(clamping: content.count)
        return [0] + [count, ~count].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            + content
    }
}
