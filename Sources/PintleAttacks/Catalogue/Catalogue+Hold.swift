internal import PintleTestKit

extension Catalogue {
    /// Returns the servers that keep a client busy or waiting.
    static func hold(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        var stalling = TLSServerConfiguration(.init(certificates.genuine))
        // Longer than any client waits. The connection ends with the server.
        stalling.stall = .midHandshake(seconds: 86_400)
        return [
            Scenario(
                "stall-mid-handshake", "a server that stops in the middle of the handshake", .refused,
                reference: "RFC 8446 section 4.4", impact: "a server can block the client forever", .server(stalling)),
            Scenario(
                "oversized-chain", "the right certificates, followed by 5 MiB of others", .refused,
                reference: "RFC 8446 section 4.4.2", impact: "a server can fill the client's memory",
                .server(certificates.genuine.chain + (try ballast()), certificates.genuine.key)),
            Scenario(
                "name-constraint-bomb", "thousands of names below thousands of name constraints", .ended,
                reference: "RFC 5280 section 4.2.1.10", impact: "anyone on the network can keep the client busy",
                .server(try certificates.constraintBomb())),
            Scenario(
                "stacked-encodings", "the right server answers with endless gzip inside gzip", .ended,
                reference: "RFC 9110 section 17.5", impact: "a server can block the client forever",
                .application(.init(certificates.genuine)) { EmptyGzipStack(depth: 12).answer($0) }),
        ]
    }

    private static func ballast() throws(MintingError) -> [[UInt8]] {
        let fat = try Identity.selfSigned(hosts: ["h.invalid"]) {
            let octets = [UInt8](repeating: 0, count: 1 << 20)
            $0.extraExtensions = [CertificateExtension([2, 999, 2]) { $0.octetString(octets) }]
        }
        return Array(repeating: fat.certificate.der, count: 5)
    }
}

extension Certificates {
    /// Returns the right key in a valid path with 27 million pairs of a name and an excluded name.
    ///
    /// The certificates stay below 100 KiB, because OpenSSL accepts no longer message by default. A client may accept
    /// or refuse them.
    fileprivate func constraintBomb() throws(MintingError) -> Identity {
        func names(_ numbers: Range<Int>) -> [CertificateTemplate.GeneralName] {
            numbers.map { .dns(String($0, radix: 16) + "." + Authorities.bombSuffix) }
        }
        let authority = try authority.intermediate(name: "Constraints") {
            $0.nameConstraints = .nameConstraints(excluded: names(0x8000..<0x8000 + 5_000))
        }
        return try authority.issue(hosts: [host], key: genuine.key) {
            $0.subjectAltNames += names(0x1000..<0x1000 + 5_500)
        }
    }
}

/// An endless HTTP response of gzip inside gzip (RFC 1952), which decodes to nothing.
///
/// Each step adds an empty stored block (RFC 1951 section 3.2.4) to the innermost layer, and a stored block to each
/// layer around it. A decoder takes all of it and never gives a byte, so a time limit for each read does not end the
/// client. The response grows by some kilobytes a second: it costs the machine no memory, whatever the client collects.
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
                // Without a pause the loop would not notice that the server closes, and the response would fill the
                // client.
                guard let stream = stream as? TLSServerConnection else { return }
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
