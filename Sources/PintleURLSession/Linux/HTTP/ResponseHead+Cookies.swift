internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL

extension HTTPCookie.AcceptPolicy {
    /// Returns `true` if a server may set cookies while the user visits a page: the page is on the same host or on a
    /// sub-domain of it. Foundation's storage checks only its own policy.
    func accepts(from url: URL, for page: URL?) -> Bool {
        switch self {
        case .never: return false
        case .onlyFromMainDocumentDomain:
            guard let page, let host = url.host?.lowercased() else { return true }
            let pageHost = page.host?.lowercased() ?? ""
            return pageHost == host || pageHost.hasSuffix(".\(host)")
        default: return true
        }
    }
}

extension ResponseHead {
    /// The limit of cookies in one response, including refused ones, as in libcurl. Browsers keep at least as many for
    /// a host (RFC 6265 section 6.1).
    static let cookieLimit = 50
    /// The limit of a field in bytes. Longer fields are ignored, as in libcurl.
    static let cookieSizeLimit = 5_000
    /// The limit of commas and semicolons in all `Set-Cookie` fields of one response. A field over the limit is
    /// ignored: each separator costs Foundation's parser as much as hundreds of other characters, and other responses
    /// wait meanwhile.
    static let cookieSeparatorLimit = 1_000

    /// Returns the cookies that the server sets and is allowed to set.
    ///
    /// Ignores fields that are not ASCII (RFC 6265 section 4.1.1) or that have control characters, because some of them
    /// make Foundation's cookie parser trap.
    func cookies(for url: URL, suffixes: PublicSuffixList = .system) -> [HTTPCookie] {
        guard let host = url.host, let server = try? ServerName(host) else { return [] }
        let isSecure = url.scheme?.lowercased() == "https"
        var cookies: [HTTPCookie] = []
        var (left, separators) = (Self.cookieLimit, Self.cookieSeparatorLimit)
        for value in values(of: "set-cookie").prefix(Self.cookieLimit) where left > 0 && Self.isCookie(value) {
            let (field, count) = Self.cut(value, after: left)
            let cost = field.utf8.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
            guard cost <= separators else { continue }
            (left, separators) = (left - count, separators - cost)
            let found = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": String(field)], for: url)
            // Foundation reports a path even if the server set none. With several cookies in a field, it is unknown to
            // which one a path belongs.
            let hasPath = found.count == 1 && Self.hasPath(field)
            cookies += found.compactMap {
                $0.allowed(by: server, isSecure: isSecure, hasPath: hasPath, suffixes: suffixes)
            }
        }
        return cookies
    }

    /// Returns the first cookies of a field and an upper bound of their number.
    ///
    /// A field should have one cookie (RFC 6265 section 3). But Foundation starts another one at a comma if a name and
    /// an equals sign follow. A date has no equals sign after its comma.
    private static func cut(_ value: String, after limit: Int) -> (Substring, Int) {
        var count = 1
        var comma: String.Index?
        for index in value.utf8.indices {
            switch value.utf8[index] {
            case UInt8(ascii: ","): comma = index
            case UInt8(ascii: ";"): comma = nil
            case UInt8(ascii: "="):
                guard let start = comma else { continue }
                guard count < limit else { return (value[..<start], count) }
                (count, comma) = (count + 1, nil)
            default: break
            }
        }
        return (value[...], count)
    }

    /// Returns `true` if a cookie has a `Path` attribute, in upper or lower case (RFC 6265bis section 5.6).
    private static func hasPath(_ field: Substring) -> Bool {
        field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).dropFirst().contains {
            let name = $0.prefix { $0 != UInt8(ascii: "=") }
            return String(decoding: name, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased() == "path"
        }
    }

    private static func isCookie(_ value: String) -> Bool {
        value.utf8.count <= cookieSizeLimit && value.utf8.allSatisfy { 0x20...0x7E ~= $0 || $0 == 0x09 }
    }
}

extension HTTPCookie {
    /// Returns the cookie, a copy for this host only, or `nil` if the server may not set it (RFC 6265bis section 5.7).
    ///
    /// - Parameter hasPath: `true` if the server has set a path.
    fileprivate func allowed(
        by server: ServerName, isSecure isSecureConnection: Bool, hasPath: Bool, suffixes: PublicSuffixList
    ) -> HTTPCookie? {
        // Only a secure connection may set secure cookies.
        guard isSecureConnection || !isSecure, hasValidPrefix(hasPath: hasPath) else { return nil }
        guard domain.hasPrefix(".") else { return self }
        guard let parent = try? ServerName(domain.dropFirst()) else { return nil }
        if server.ipAddress != nil || parent.ipAddress != nil { return parent == server ? self : nil }
        let (host, suffix) = (server.description, parent.description)
        // Foundation for Linux compares only the ends of names, and would accept a cookie for all of `com`.
        if suffixes.allowsCookie(of: host, for: suffix) { return self }
        // If the server's own name may be a public suffix, its cookie is for this one host.
        return parent == server ? hostOnly(host) : nil
    }

    /// Returns `true` if the cookie keeps the promise of a `__Secure-` or `__Host-` prefix in upper or lower case (RFC
    /// 6265bis sections 4.1.3 and 5.7).
    private func hasValidPrefix(hasPath: Bool) -> Bool {
        // A server that reads "=__Host-a=b" may use the text after the first equals sign as the name.
        let start = (name.isEmpty ? value : name).prefix(9).lowercased()
        if start.hasPrefix("__secure-") { return !name.isEmpty && isSecure }
        if start.hasPrefix("__host-") {
            return !name.isEmpty && isSecure && !domain.hasPrefix(".") && hasPath && path == "/"
        }
        return true
    }

    private func hostOnly(_ host: String) -> HTTPCookie? {
        var properties = properties ?? [:]
        properties[.domain] = host
        // Foundation for Linux returns a Boolean value for this key, but expects a string.
        properties[.secure] = isSecure ? "TRUE" : nil
        return HTTPCookie(properties: properties)
    }

    /// Returns `true` if a connection without TLS must not set this cookie, because a secure cookie of the same name
    /// goes to the same host and path (RFC 6265bis section 5.7).
    func overlays(_ secure: HTTPCookie) -> Bool {
        func matches(_ domain: String, _ other: String) -> Bool {
            let (name, suffix) = (domain.drop { $0 == "." }.lowercased(), other.drop { $0 == "." }.lowercased())
            return name == suffix || name.hasSuffix(".\(suffix)")
        }
        return secure.isSecure && name == secure.name && Self.path(secure.path, covers: path)
            && (matches(domain, secure.domain) || matches(secure.domain, domain))
    }

    /// Returns `true` if a cookie's path matches the path of a request (RFC 6265 section 5.1.4).
    static func path(_ cookiePath: String, covers path: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }
}
