internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL
internal import PintleSuffixes

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

    /// Returns the cookies that the server sets and is allowed to set. An expired cookie deletes the stored one.
    ///
    /// Ignores fields that have control characters (RFC 6265bis section 5.6).
    func cookies(for url: URL, suffixes: PublicSuffixList = .system, at now: Date = Date()) -> [HTTPCookie] {
        guard let server = CookieServer(url, suffixes: suffixes) else { return [] }
        var cookies: [HTTPCookie] = []
        var left = Self.cookieLimit
        let values = fields.lazy.filter { $0.name.isField("set-cookie") }.map(\.value).prefix(Self.cookieLimit)
        for value in values where left > 0 && Self.isCookie(value) {
            let parts = SetCookie.split(value.text, limit: left)
            left -= parts.count
            cookies += parts.compactMap { part in
                SetCookie(part, at: now).flatMap { server.accept($0, isLatin1: value.isLatin1) }
            }
        }
        return cookies
    }

    private static func isCookie(_ value: FieldValue) -> Bool {
        (value.isLatin1 ? value.text.unicodeScalars.count : value.text.utf8.count) <= cookieSizeLimit
            && value.text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

/// A server that sets cookies.
private struct CookieServer {
    private let url: URL
    private let host: String
    private let name: ServerName
    private let isSecure: Bool
    private let suffixes: PublicSuffixList

    /// Returns `nil` if the URL has no host.
    init?(_ url: URL, suffixes: PublicSuffixList) {
        guard let host = url.host, let name = try? ServerName(host) else { return nil }
        self.url = url
        self.host = host.lowercased()
        self.name = name
        self.suffixes = suffixes
        isSecure = url.scheme?.lowercased() == "https"
    }

    /// Returns the cookie for Foundation's storage, or `nil` if the server may not set it (RFC 6265bis section 5.7).
    ///
    /// - Parameter isLatin1: A Boolean value that indicates whether the cookie was read as Latin-1.
    func accept(_ cookie: SetCookie, isLatin1: Bool) -> HTTPCookie? {
        // Only a secure connection may set secure cookies.
        guard isSecure || !cookie.isSecure, cookie.hasValidPrefix, let domain = domain(of: cookie) else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .domain: domain, .path: cookie.path ?? "/", .originURL: url,
            .discard: cookie.expiry == nil ? "TRUE" : "FALSE",
        ]
        properties[.expires] = cookie.expiry
        if cookie.isSecure { properties[.secure] = "TRUE" }
        let lost = [cookie.isSecure ? HTTPCookie.secureMark : nil, isLatin1 ? HTTPCookie.latin1Mark : nil]
        let comment = lost.compactMap(\.self).joined(separator: "; ")
        if !comment.isEmpty { properties[.comment] = comment }
        // Foundation's own key, which has no public constant.
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        return HTTPCookie(properties: properties)
    }

    /// Returns the hosts that get a cookie, as Foundation writes them: a dot in front includes sub-domains.
    private func domain(of cookie: SetCookie) -> String? {
        guard let domain = cookie.domain else { return host }
        let suffix = domain.hasPrefix(".") ? String(domain.dropFirst()) : domain
        guard let parent = try? ServerName(suffix) else { return nil }
        let isAddress = name.ipAddress != nil || parent.ipAddress != nil
        // Foundation for Linux compares only the ends of names, and would accept a cookie for all of `com`.
        if !isAddress, suffixes.allowsCookie(of: name.description, for: parent.description) {
            return ".\(suffix.lowercased())"
        }
        // If the server's own name may be a public suffix, its cookie is for this one host.
        return parent == name ? host : nil
    }
}

extension SetCookie {
    /// A Boolean value that indicates whether the cookie keeps the promise of a `__Secure-` or `__Host-` prefix in
    /// upper or lower case (RFC 6265bis sections 4.1.3 and 5.7).
    fileprivate var hasValidPrefix: Bool {
        // Bytes: a combining character behind the prefix would join its last character.
        func hasPrefix(_ prefix: String) -> Bool {
            String(decoding: name.utf8.prefix(prefix.utf8.count), as: UTF8.self).isField(prefix)
        }
        if hasPrefix("__Secure-") { return isSecure }
        return !hasPrefix("__Host-") || isSecure && domain == nil && path == "/"
    }
}

extension HTTPCookie {
    // Foundation's storage has no place for an encoding, and loses `Secure` when it reads its file. It keeps the
    // comment, so these marks go there. A server cannot set them, because the attribute is not read.
    fileprivate static let latin1Mark = "ISO-8859-1"
    fileprivate static let secureMark = "Secure"

    private func hasMark(_ mark: String) -> Bool { comment?.components(separatedBy: "; ").contains(mark) == true }

    /// A Boolean value that indicates whether the cookie goes over TLS only, also after the program was started again.
    var needsTLS: Bool { isSecure || hasMark(Self.secureMark) }

    /// Returns the value of `Cookie` in the bytes that the servers sent; `nil` if all of them are UTF-8.
    static func latin1Field(of cookies: [HTTPCookie]) -> [UInt8]? {
        guard cookies.contains(where: { $0.hasMark(latin1Mark) }) else { return nil }
        return Array(
            cookies.map { cookie in
                let pair = "\(cookie.name)=\(cookie.value)"
                return cookie.hasMark(latin1Mark) ? pair.latin1Bytes : Array(pair.utf8)
            }.joined(separator: "; ".utf8))
    }

    /// Returns `true` if a cookie must not be sent any more (RFC 6265bis section 5.7). Foundation's storage deletes
    /// such cookies only when another one is set.
    func isExpired(at now: Date = Date()) -> Bool { expiresDate.map { $0 <= now } ?? false }

    /// Returns `true` if a connection without TLS must not set this cookie, because a secure cookie of the same name
    /// goes to the same host and path (RFC 6265bis section 5.7).
    func overlays(_ secure: HTTPCookie) -> Bool {
        func matches(_ domain: String, _ other: String) -> Bool {
            let (name, suffix) = (domain.drop { $0 == "." }.lowercased(), other.drop { $0 == "." }.lowercased())
            return name == suffix || name.hasSuffix(".\(suffix)")
        }
        return secure.needsTLS && name == secure.name && Self.path(secure.path, covers: path)
            && (matches(domain, secure.domain) || matches(secure.domain, domain))
    }

    /// Returns `true` if a cookie's path matches the path of a request (RFC 6265 section 5.1.4).
    static func path(_ cookiePath: String, covers path: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }
}
