/// Guesses the protocol of a server that does not speak TLS, from the first bytes that it sent.
package enum ForeignProtocol {
    /// Returns the name of the protocol; `nil` if it is not known.
    package static func name(_ bytes: [UInt8]) -> String? {
        [("HTTP/", "plain HTTP"), ("<", "plain HTTP"), ("SSH-", "SSH"), ("220", "SMTP or FTP")]
            .first { bytes.starts(with: $0.0.utf8) }?.1
    }

    /// Returns a predicate that follows "it": `answered in plain HTTP ("HTTP/1.1 400 Bad Request")`.
    package static func describe(_ bytes: [UInt8]) -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let quoted = "(\"\(printable(line, limit: 40))\")"
        return name(bytes).map { "answered in \($0) \(quoted)" } ?? "answered \(quoted)"
    }
}
