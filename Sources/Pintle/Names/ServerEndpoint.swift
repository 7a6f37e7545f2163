#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server's host and port.
public struct ServerEndpoint: Sendable, Hashable {
    /// The host: a DNS name or an IP address.
    public let host: ServerName
    /// The TCP port.
    public let port: UInt16

    /// Creates an endpoint.
    public init(host: ServerName, port: UInt16 = 443) {
        self.host = host
        self.port = port
    }
}

extension ServerEndpoint: CustomStringConvertible {
    /// The host and port: `example.com:443`. IPv6 addresses are in brackets.
    public var description: String {
        host.ipAddress?.isIPv6 == true ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ServerEndpoint {
    /// Creates the endpoint of an `https` or `wss` URL, with port 443 if the URL has none.
    ///
    ///     let server = try ServerEndpoint(url: url) // https://api.example.com/v1
    ///
    /// This is not a full URL parser (RFC 3986). It accepts only the plain form `https://HOST[:PORT][/...]` and refuses
    /// everything on which URL parsers disagree: user-info, backslashes, blanks, control characters and non-ASCII
    /// characters. A URL that is relative to a base is resolved first.
    ///
    /// - Throws: the reason, which names the place and the remedy.
    public init(url: URL) throws(ServerNameError) {
        try self.init(url: url.absoluteString, schemes: ["https", "wss"])
    }

    /// Creates the endpoint of an `https` URL as ``init(url:)`` does, or `nil` for any other text.
    package init?(httpsURL url: some StringProtocol) {
        do throws(ServerNameError) { try self.init(url: url, schemes: ["https"]) } catch { return nil }
    }

    private init(url: some StringProtocol, schemes: [String]) throws(ServerNameError) {
        let scheme = url.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" && $0 != "@" }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.hasPrefix("://") ? rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" } : ""
        func error(
            _ reason: ServerNameError.Reason, hint: String, _ description: (String) -> String
        ) -> ServerNameError {
            var text = String(scheme.prefix(16))
            // Without what stands before @, which may be a password.
            let server = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            if rest.hasPrefix("://") { text += "://\(server.prefix(256))" } else if !rest.isEmpty { text += ":…" }
            return ServerNameError(reason, in: text, description: description("\"\(text)\""), hint: hint)
        }
        guard url.utf8.count <= 8192 else {
            throw error(.tooLong, hint: "a URL has at most 8192 bytes here") { "\($0) is too long" }
        }
        guard schemes.contains(scheme.lowercased()), rest.hasPrefix("://") else {
            throw error(.scheme, hint: "write https://HOST[:PORT]/... or wss://HOST[:PORT]/...") {
                "\($0) is not an https or wss URL"
            }
        }
        guard !authority.contains("@") else {
            throw error(.userInfo, hint: "leave out what stands before @") {
                "the URL of \($0) has user-info before the host"
            }
        }
        guard rest.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else {
            throw error(
                .character,
                hint: "percent-encode blanks and other characters, and write the host as A-labels (xn--...)"
            ) { "\($0) has characters that programs read differently from one another" }
        }
        // Without brackets, the last group of an IPv6 address would be taken for a port.
        let isBareAddress = !authority.hasPrefix("[") && authority.count(where: { $0 == ":" }) > 1
        if !isBareAddress, let endpoint = ServerEndpoint(authority) {
            self = endpoint
            return
        }
        let colon = isBareAddress ? nil : authority.lastIndex(of: ":")
        let host = authority.lastIndex(of: "]").map { authority[...$0] } ?? authority[..<(colon ?? authority.endIndex)]
        _ = try ServerName(host)
        if isBareAddress { throw .malformedAddress(String(host)) }
        throw error(.port, hint: "write a port from 1 to 65535, or none") { "\($0) has no port from 1 to 65535" }
    }

    /// Parses `HOST[:PORT]`, by default with port 443. An IPv6 address with a port must be in brackets.
    package init?(_ authority: some StringProtocol, defaultPort: UInt16 = 443) {
        var host = Substring(authority)
        var port = defaultPort
        let isBareIPv6 = !host.hasPrefix("[") && host.filter({ $0 == ":" }).count > 1
        if !isBareIPv6, let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
            let digits = host[host.index(after: colon)...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(digits),
                number > 0
            else { return nil }
            port = number
            host = host[..<colon]
        }
        guard let name = try? ServerName(host) else { return nil }
        self.init(host: name, port: port)
    }
}
