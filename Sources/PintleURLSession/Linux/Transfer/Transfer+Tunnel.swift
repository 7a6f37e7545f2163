internal import CCurl

/// A proxy's answer to CONNECT.
extension Transfer {
    /// Takes a line of the answer's head. Ends the transfer at the status line of an answer that makes no tunnel.
    ///
    /// libcurl 7.88 reads the content of a 407 byte by byte inside one call, for as long as the socket has more of it. No
    /// second round could follow: the only scheme is Basic, whose credentials go with the first CONNECT.
    func takeTunnelLine(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        attempt.tunnelHeadSize += count
        guard attempt.tunnelHeadSize <= Self.tunnelHeadLimit else {
            attempt.tunnelFault = "the proxy's answer to CONNECT is longer than \(Self.tunnelHeadLimit >> 10) KiB"
            return 0
        }
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        switch HeadLine(line) {
        case .status(_, 407):
            attempt.tunnelFault = "the proxy answered CONNECT with status 407: it wants other credentials"
        case .status(_, let status) where status >= 300:
            attempt.tunnelFault = "the proxy answered CONNECT with status \(status)"
        case .status: break
        // libcurl reads a status in more spellings than the standard has, such as `HTTP/1.1 0407`.
        case _ where line.starts(with: "HTTP/".utf8):
            attempt.tunnelFault = "the proxy answered CONNECT with a status line that is not valid"
        default: break
        }
        return attempt.tunnelFault == nil ? count : 0
    }
}
