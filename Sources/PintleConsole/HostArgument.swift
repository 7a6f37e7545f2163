package import Pintle
internal import PintleText

/// A server on the command line: `host`, `host:port` or an https URL.
package enum HostArgument {
    package static func endpoint(_ text: String, defaultPort: UInt16 = 443) throws(ToolError) -> ServerEndpoint {
        // A search for one byte is much faster than one for a string, and lists have millions of hosts.
        if text.utf8.contains(UInt8(ascii: "/")), text.contains("://") { return try endpoint(url: text) }
        if let endpoint = ServerEndpoint(text, defaultPort: defaultPort) { return endpoint }
        throw problem(ofAuthority: text)
    }

    private static func endpoint(url: String) throws(ToolError) -> ServerEndpoint {
        if let endpoint = ServerEndpoint(httpsURL: url) { return endpoint }
        guard url.prefix(8).lowercased() == "https://" else {
            throw .unusable(
                "invalid-url", "\"\(url)\" is not an https URL", hint: "write it as https://HOST[:PORT]/...")
        }
        let rest = url.dropFirst(8)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard rest.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else {
            throw .unusable(
                "invalid-url", "\"\(url)\" has characters that programs read differently from one another",
                hint: "write blanks and other characters percent-encoded, and the host as A-labels (xn--...)")
        }
        guard !authority.contains("@") else {
            throw .unusable(
                "invalid-url", "the URL has user-info before the host", hint: "leave out what stands before @")
        }
        throw problem(ofAuthority: String(authority))
    }

    /// Returns the error for a text that is not `HOST[:PORT]`.
    private static func problem(ofAuthority text: String) -> ToolError {
        let isIPv6 = text.hasPrefix("[") || text.count(where: { $0 == ":" }) > 1
        let host =
            if let bracket = text.lastIndex(of: "]") {
                text[...bracket]
            } else if !isIPv6, let colon = text.lastIndex(of: ":") {
                text[..<colon]
            } else {
                text[...]
            }
        do {
            _ = try ServerName(host)
        } catch {
            return .unusable("invalid-host", error.description, hint: error.hint)
        }
        return .unusable(
            "invalid-port", "\"\(text)\" has no port from 1 to 65535", hint: "write HOST or HOST:PORT")
    }
}

extension ValueFormat<ServerEndpoint> {
    /// A host, host:port or https URL.
    package static func server(_ placeholder: String) -> ValueFormat {
        .reading(placeholder) { text throws(ToolError) in try HostArgument.endpoint(text) }
    }
}
