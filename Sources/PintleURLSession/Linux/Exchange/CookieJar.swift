internal import Foundation
internal import FoundationNetworking

/// The cookies of one response, on their way into the storage.
struct CookieJar: Sendable {
    /// The limit of cookies for one host. The oldest are deleted, as in browsers.
    static let hostLimit = 180
    /// The limit of cookies for all hosts together. It stops a chain of redirects over many hosts, which would bypass
    /// the other limit.
    static let totalLimit = 3_000
    /// The limit in bytes of all cookies of all hosts. Foundation writes the whole storage to the disk for each cookie
    /// that is set.
    static let totalSizeLimit = 1_000_000

    private let storage: HTTPCookieStorage
    private let url: URL
    private let page: URL?
    private let isSecure: Bool
    private let head: ResponseHead
    /// The cookies that are not stored yet; `nil` before the fields are parsed.
    private var cookies: ArraySlice<HTTPCookie>?

    /// Returns `nil` if the response sets no cookie, or if the settings do not allow cookies.
    init?(
        for head: ResponseHead, from server: CurlURL, to request: URLRequest,
        under configuration: URLSessionConfiguration
    ) {
        guard head.has("set-cookie"), configuration.httpShouldSetCookies, request.httpShouldHandleCookies,
            let url = request.url, server.isSameHost(as: url),
            let storage = configuration.httpCookieStorage,
            configuration.httpCookieAcceptPolicy.accepts(from: url, for: request.mainDocumentURL)
        else { return nil }
        self.storage = storage
        self.url = url
        self.head = head
        page = request.mainDocumentURL
        isSecure = server.scheme == .https
    }

    /// Stores cookies until a deadline, at least one of them, and deletes the oldest beyond the limits.
    ///
    /// - Parameter deadline: The system uptime in seconds.
    /// - Returns: `true` once all cookies are stored.
    mutating func store(until deadline: Double) -> Bool {
        var cookies = cookies ?? head.cookies(for: url)[...]
        defer { self.cookies = cookies }
        // Both again in each turn, because other hosts had theirs: they may have set a secure cookie of the same name,
        // and without eviction they could fill the storage together.
        if !isSecure { removeOverlays(from: &cookies) }
        deleteOldest()
        while let cookie = cookies.popFirst() {
            storage.setCookies([cookie], for: url, mainDocumentURL: page)
            guard cookies.isEmpty || ProcessInfo.processInfo.systemUptime < deadline else { return false }
        }
        deleteOldest()
        return true
    }

    private func removeOverlays(from cookies: inout ArraySlice<HTTPCookie>) {
        guard !cookies.isEmpty else { return }
        let names = Set(cookies.map(\.name))
        let secure = (storage.cookies ?? []).filter {
            $0.needsTLS && names.contains($0.name) && !$0.isExpired()
        }
        cookies.removeAll { cookie in secure.contains { cookie.overlays($0) } }
    }

    private func deleteOldest() {
        for cookie in (storage.cookies(for: url) ?? []).oldest(beyond: Self.hostLimit, size: .max) {
            storage.deleteCookie(cookie)
        }
        for cookie in (storage.cookies ?? []).oldest(beyond: Self.totalLimit, size: Self.totalSizeLimit) {
            storage.deleteCookie(cookie)
        }
    }
}

extension [HTTPCookie] {
    /// Returns the cookies to delete, so that at most `limit` cookies with at most `sizeLimit` bytes remain. Secure
    /// cookies are deleted last, so that responses over plain HTTP cannot evict them (RFC 6265bis section 5.7).
    fileprivate func oldest(beyond limit: Int, size sizeLimit: Int) -> ArraySlice<HTTPCookie> {
        var size = reduce(0) { $0 + $1.size }
        guard count > limit || size > sizeLimit else { return [] }
        // Foundation's own key, which has no public constant.
        let created = HTTPCookiePropertyKey("Created")
        let byAge = map { (($0.needsTLS ? 1 : 0, $0.properties?[created] as? Double ?? 0), $0) }
            .sorted { $0.0 < $1.0 }.map(\.1)
        var excess = 0
        while excess < count, count - excess > limit || size > sizeLimit {
            size -= byAge[excess].size
            excess += 1
        }
        return byAge.prefix(excess)
    }
}

extension HTTPCookie {
    /// The size in bytes of all properties whose length a server chooses.
    fileprivate var size: Int {
        (properties ?? [:]).values.reduce(0) { $0 + (($1 as? String)?.utf8.count ?? 0) }
    }
}
