internal import Pintle

/// A proxy's address from an environment variable: `scheme://user:password@host:port`. The scheme and the credentials
/// are optional. A path behind the port has no effect, as in curl.
struct ProxyURL {
    let configuration: ProxyConfiguration

    private static let examples = "write it as http://host:port or socks5h://host:port"

    /// - Parameters:
    ///   - text: the value of the variable.
    ///   - variable: the variable's name, for messages. A message never contains the value, which may hold a password.
    init(_ text: String, from variable: String) throws(ProxyError) {
        func invalid(_ why: String) -> ProxyError {
            ProxyError(.invalid, "\(variable) cannot be read: \(why)", hint: Self.examples)
        }
        var rest = Array(text.utf8)[...]
        guard rest.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw invalid("it has blanks, control or non-ASCII characters; percent-encode them")
        }
        var scheme = "http"
        if let (before, after) = Self.split(rest, at: "://") {
            scheme = String(decoding: before, as: UTF8.self).lowercased()
            rest = after
        }
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        // The user name would be taken for the proxy's host.
        guard !rest[authority.endIndex...].contains(UInt8(ascii: "@")) else {
            throw invalid("in a password write / ? # as %2F %3F %23")
        }
        rest = authority

        var credentials: ProxyCredentials?
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            guard let parsed = Self.credentials(rest[..<at]) else {
                throw invalid("the user name or password is not percent-encoded as it should be")
            }
            credentials = parsed
            rest = rest[(at + 1)...]
        }
        guard let (host, portText) = Self.hostAndPort(rest) else { throw invalid("it names no host") }
        let port: UInt16
        switch (portText, scheme) {
        case (let digits?, _):
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0
            else { throw invalid("the port is not a number from 1 to 65535") }
            port = number
        case (nil, "http"):
            throw invalid("it names no port, and tools do not agree on one (80, 1080, 3128)")
        case (nil, _): port = 1080
        }
        let endpoint: ServerEndpoint
        do {
            endpoint = ServerEndpoint(host: try ServerName(host), port: port)
        } catch {
            throw invalid("\"\(printable(Array(host.utf8)))\" is not a host to connect to: \(error.hint)")
        }

        switch scheme {
        case "http":
            if let user = credentials?.user, user.utf8.contains(UInt8(ascii: ":")) {
                throw invalid("a user name with a colon cannot be sent (RFC 7617)")
            }
            configuration = .http(endpoint, credentials)
        case "socks5": configuration = .socks5(endpoint, credentials, remoteDNS: false)
        case "socks5h": configuration = .socks5(endpoint, credentials, remoteDNS: true)
        case "socks4a": configuration = .socks4a(endpoint, user: credentials?.user)
        case "https":
            throw ProxyError(
                .unsupported, "\(variable) names an https:// proxy, and TLS to a proxy is not supported",
                hint: "use the proxy's http:// or socks5h:// port, or NO_PROXY for this host"
            )
        default:
            throw ProxyError(
                .unsupported,
                "\(variable) names an unknown kind of proxy (\(printable(scheme.utf8, limit: 20)))",
                hint: "use http://, socks5h://, socks5:// or socks4a://"
            )
        }
    }

    private static func split(
        _ bytes: ArraySlice<UInt8>, at mark: String
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        let mark = Array(mark.utf8)
        for index in bytes.indices where bytes[index...].starts(with: mark) {
            return (bytes[..<index], bytes[(index + mark.count)...])
        }
        return nil
    }

    private static func credentials(_ userInfo: ArraySlice<UInt8>) -> ProxyCredentials? {
        let parts = userInfo.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = parts.first.flatMap(percentDecoded),
            let password = parts.count == 2 ? percentDecoded(parts[1]) : ""
        else { return nil }
        return ProxyCredentials(user: user, password: password)
    }

    /// Decodes percent escapes. Returns `nil` for a stray `%` or if the result is not UTF-8: wrong credentials could
    /// lock the account.
    private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            decoded.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hostAndPort(_ bytes: ArraySlice<UInt8>) -> (host: String, port: String?)? {
        func text(_ slice: ArraySlice<UInt8>) -> String { String(decoding: slice, as: UTF8.self) }
        let colon = bytes.lastIndex(of: UInt8(ascii: ":"))
        let bracket = bytes.lastIndex(of: UInt8(ascii: "]"))
        guard !bytes.isEmpty else { return nil }
        guard let colon, bracket.map({ colon > $0 }) ?? true else { return (text(bytes), nil) }
        return (text(bytes[..<colon]), text(bytes[(colon + 1)...]))
    }
}
