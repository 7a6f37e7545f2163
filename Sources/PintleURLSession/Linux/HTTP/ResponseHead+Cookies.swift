internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL

extension HTTPCookie.AcceptPolicy {
    /// Returns `true` if cookies of a server are accepted for a page: the page is at the server, or at a sub-domain of it.
    /// Foundation's storage asks only its own policy.
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
    /// Cookies of one response, refused ones included, as in libcurl. Browsers keep at least as many of a host (RFC 6265
    /// section 6.1).
    static let cookieLimit = 50
    /// In bytes of the field. Longer fields are ignored, as in libcurl.
    static let cookieSizeLimit = 5_000
    /// Commas and semicolons in what one response sets. A field with more than are left is none: each costs Foundation's
    /// parser as much as hundreds of other characters, and others wait.
    static let cookieSeparatorLimit = 1_000

    /// Returns the cookies that the server sets and may set.
    ///
    /// Only what is ASCII, as cookies are (RFC 6265 section 4.1.1), and has no control characters: some of the rest makes
    /// Foundation's parser of cookies trap.
    func cookies(for url: URL) -> [HTTPCookie] {
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
            // Foundation shows a path whether or not one was set. Of several cookies in a field it does not say whose it is.
            let hasPath = found.count == 1 && Self.hasPath(field)
            cookies += found.compactMap { $0.allowed(by: server, isSecure: isSecure, hasPath: hasPath) }
        }
        return cookies
    }

    /// The first cookies of a field, and how many they are at most. A field should have one (RFC 6265 section 3), and
    /// Foundation still begins another at a comma that a name and an equals sign follow, as none does in a date.
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

    /// Returns whether a cookie comes with an attribute `Path`, in any case (RFC 6265bis section 5.6).
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
    /// Returns the cookie, or one for the server only, or `nil` where the server may not set it (RFC 6265bis section 5.7).
    ///
    /// - Parameter hasPath: whether the server has set a path.
    fileprivate func allowed(
        by server: ServerName, isSecure isSecureConnection: Bool, hasPath: Bool
    ) -> HTTPCookie? {
        // Only a secure connection sets cookies for secure connections.
        guard isSecureConnection || !isSecure, hasValidPrefix(hasPath: hasPath) else { return nil }
        guard domain.hasPrefix(".") else { return self }
        guard let parent = try? ServerName(domain.dropFirst()) else { return nil }
        if server.ipAddress != nil || parent.ipAddress != nil { return parent == server ? self : nil }
        let (host, suffix) = (server.description, parent.description)
        // Without a list: Foundation for Linux compares the ends of the names, and would take a cookie for all of `com`.
        let isAllowed =
            PublicSuffixList.allowsCookie(of: host, for: suffix)
            ?? (parent == server || suffix.contains("."))
        if isAllowed { return self }
        // A public suffix that is itself the server sets cookies for this one host.
        return parent == server ? hostOnly(host) : nil
    }

    /// Returns whether the cookie has what the prefix of its name promises, in whatever case the prefix is (RFC 6265bis
    /// sections 4.1.3 and 5.7).
    private func hasValidPrefix(hasPath: Bool) -> Bool {
        // A server that reads "=__Host-a=b" may take what follows the first sign for the name.
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
        // Foundation for Linux shows a Boolean value here, and reads a text.
        properties[.secure] = isSecure ? "TRUE" : nil
        return HTTPCookie(properties: properties)
    }

    /// A Boolean value that indicates whether a connection without TLS must not set this cookie, because a secure cookie
    /// of the same name goes to the same host and path (RFC 6265bis section 5.7).
    func overlays(_ secure: HTTPCookie) -> Bool {
        func matches(_ domain: String, _ other: String) -> Bool {
            let (name, suffix) = (domain.drop { $0 == "." }.lowercased(), other.drop { $0 == "." }.lowercased())
            return name == suffix || name.hasSuffix(".\(suffix)")
        }
        return secure.isSecure && name == secure.name && Self.path(secure.path, covers: path)
            && (matches(domain, secure.domain) || matches(secure.domain, domain))
    }

    /// Returns `true` if a cookie's path matches that of a request (RFC 6265 section 5.1.4).
    static func path(_ cookiePath: String, covers path: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }
}
