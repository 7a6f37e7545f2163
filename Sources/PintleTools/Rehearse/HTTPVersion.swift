/// The versions of HTTP by their names in ALPN (RFC 7301 section 6).
enum HTTPVersion {
    static func isHTTP2(_ protocolName: String?) -> Bool { protocolName == "h2" }

    /// Returns the usual name, such as `HTTP/2`.
    static func name(of protocolName: String) -> String {
        isHTTP2(protocolName) ? "HTTP/2" : protocolName.uppercased()
    }
}
