internal import Pintle
internal import PintleOpenSSL

extension ProxyTunnel {
    /// The size limit of an answer's head: many headers fit, but an endless head does not.
    private static let headLimit = 16_384

    /// - Throws: `proxy-refused`, `proxy-authentication-required`, `proxy-protocol`, `proxy-timeout`.
    borrowing func openByConnect(
        to destination: ServerEndpoint, credentials: ProxyCredentials?
    ) throws(HandshakeError) {
        var request = "CONNECT \(destination) HTTP/1.1\r\nHost: \(destination)\r\n"
        if let credentials {
            let basic = Base64.encode("\(credentials.user):\(credentials.password)".utf8)
            request += "Proxy-Authorization: Basic \(basic)\r\n"
        }
        try send(Array((request + "\r\n").utf8))

        let status = try readStatusLine()
        switch status.code {
        case 200..<300: return
        case 407: throw unauthenticated(credentials != nil)
        default: throw refused(destination, status.line)
        }
    }

    private borrowing func readStatusLine() throws(HandshakeError) -> (code: Int, line: String) {
        var head: [UInt8] = []
        var end: Int?
        while end == nil {
            guard head.count < Self.headLimit else { throw mismatch("its answer has no end after 16 KiB") }
            let scanned = max(0, head.count - 3)
            head += try receive(atMost: Self.headLimit - head.count)
            guard "HTTP/1.".utf8.elementsEqual(head.prefix(7)) || head.count < 7 else {
                throw mismatch("it does not speak HTTP (\"\(printable(head, limit: 40))\")")
            }
            end = Self.endOfHead(head, from: scanned)
        }
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count >= 2, fields[1].count == 3, let code = Int(String(decoding: fields[1], as: UTF8.self)),
            (100...599).contains(code)
        else { throw mismatch("it does not speak HTTP (\"\(printable(line, limit: 40))\")") }
        // In TLS the client speaks first, so bytes after a 2xx head come from the proxy, not from the server.
        if (200..<300).contains(code), head.count != end {
            throw mismatch("it sent data of its own after \"\(printable(line, limit: 40))\"")
        }
        return (code, printable(line))
    }

    /// Returns the index after the empty line, searching from `start`.
    private static func endOfHead(_ head: [UInt8], from start: Int) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard head.count >= mark.count else { return nil }
        for index in start...max(start, head.count - mark.count) where head[index...].starts(with: mark) {
            return index + mark.count
        }
        return nil
    }
}
