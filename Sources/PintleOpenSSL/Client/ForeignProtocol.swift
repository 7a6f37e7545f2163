/// Guesses the protocol of a server that does not speak TLS, from the first bytes that it sent.
enum ForeignProtocol {
    /// Returns a predicate that follows "it": `answered in plain HTTP ("HTTP/1.1 400 Bad Request")`.
    static func describe(_ bytes: [UInt8]) -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let quoted = "(\"\(printable(line, limit: 40))\")"
        for (prefix, name) in [("HTTP/", "plain HTTP"), ("<", "plain HTTP"), ("SSH-", "SSH"), ("220", "SMTP or FTP")]
        where bytes.starts(with: prefix.utf8) {
            return "answered in \(name) \(quoted)"
        }
        return "answered \(quoted)"
    }
}
