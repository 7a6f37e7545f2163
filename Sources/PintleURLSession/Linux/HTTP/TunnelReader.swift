/// A reader of the head of a proxy's response to CONNECT.
struct TunnelReader {
    /// The limit in bytes for all responses of a proxy. libcurl reads them byte by byte, with a system call for each.
    static let limit = 32 << 10

    private var size = 0

    /// Reads a line. The status line of a response that opens no tunnel is a fault.
    ///
    /// libcurl 7.88 would read the content of a 407 byte by byte inside one call, for as long as the socket has more of
    /// it. Another attempt would be pointless: the only scheme is Basic, whose credentials go with the first CONNECT.
    ///
    /// - Returns: A description of the fault for an error's text; `nil` if there is none.
    mutating func read(_ line: UnsafeRawBufferPointer) -> String? {
        size += line.count
        guard size <= Self.limit else {
            return "the proxy's answer to CONNECT is longer than \(Self.limit >> 10) KiB"
        }
        switch HeadLine(line) {
        case .status(_, 407): return "the proxy answered CONNECT with status 407: it wants other credentials"
        case .status(_, let status) where status >= 300: return "the proxy answered CONNECT with status \(status)"
        case .status: return nil
        // libcurl accepts more spellings of a status than the standard, such as `HTTP/1.1 0407`.
        case _ where line.starts(with: "HTTP/".utf8):
            return "the proxy answered CONNECT with a status line that is not valid"
        default: return nil
        }
    }
}
