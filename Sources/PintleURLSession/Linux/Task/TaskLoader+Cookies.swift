internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import Synchronization

/// Cookies that servers set.
extension TaskLoader {
    /// Cookies that are kept for one host; beyond that the oldest go, as in browsers.
    static let storedCookieLimit = 180
    /// Of all hosts together, so that a chain of redirects over many is no way around that.
    static let totalCookieLimit = 3_000
    /// In bytes of their texts, of all hosts together: what is on the disk is written anew for each cookie.
    static let totalCookieSizeLimit = 1_000_000

    /// Keeps what a response sets, if it sets anything, on a queue of the session's own: Foundation's default storage writes
    /// all that it holds to the disk for each single cookie, and everybody would wait with the transport's thread.
    ///
    /// - Parameter goOn: called on that queue once they are kept, unless the task is over by then.
    /// - Returns: false where there is nothing to keep; then nothing is called.
    func keepCookies(
        _ head: ResponseHead, of transfer: Transfer, to request: URLRequest,
        then goOn: @escaping @Sendable () -> Void
    ) -> Bool {
        let configuration = session.settings
        guard configuration.httpShouldSetCookies, request.httpShouldHandleCookies, let url = request.url,
            !head.values(of: "set-cookie").isEmpty, transfer.request.url.isSameHost(as: url),
            let storage = configuration.httpCookieStorage,
            configuration.httpCookieAcceptPolicy.accepts(from: url, for: request.mainDocumentURL)
        else { return false }
        let page = request.mainDocumentURL
        session.cookieQueue.addOperation { [self] in
            // Of a task that is over by now nobody waits for them, and others do.
            guard state.withLock({ $0.awaits(transfer) }) else { return }
            var cookies = head.cookies(for: url)
            if !cookies.isEmpty, transfer.request.url.scheme == .http {
                let names = Set(cookies.map(\.name))
                let secure = (storage.cookies ?? []).filter { $0.isSecure && names.contains($0.name) }
                cookies.removeAll { cookie in secure.contains { cookie.overlays($0) } }
            }
            if !cookies.isEmpty {
                storage.setCookies(cookies, for: url, mainDocumentURL: page)
                Self.dropOldest(of: url, in: storage)
            }
            goOn()
        }
        return true
    }

    private static func dropOldest(of url: URL, in storage: HTTPCookieStorage) {
        for cookie in (storage.cookies(for: url) ?? []).oldest(beyond: storedCookieLimit, size: .max) {
            storage.deleteCookie(cookie)
        }
        for cookie in (storage.cookies ?? []).oldest(beyond: totalCookieLimit, size: totalCookieSizeLimit) {
            storage.deleteCookie(cookie)
        }
    }
}

extension [HTTPCookie] {
    /// Returns those that have to go, so that no more than so many with so many bytes stay. Secure cookies go last, so that
    /// answers over plain http cannot push them out (RFC 6265bis section 5.7).
    fileprivate func oldest(beyond limit: Int, size limitOfSize: Int) -> ArraySlice<HTTPCookie> {
        var size = reduce(0) { $0 + $1.size }
        guard count > limit || size > limitOfSize else { return [] }
        // Foundation's own key, which it does not show.
        let created = HTTPCookiePropertyKey("Created")
        let byAge = map { (($0.isSecure ? 1 : 0, $0.properties?[created] as? Double ?? 0), $0) }
            .sorted { $0.0 < $1.0 }.map(\.1)
        var excess = 0
        while excess < count, count - excess > limit || size > limitOfSize {
            size -= byAge[excess].size
            excess += 1
        }
        return byAge.prefix(excess)
    }
}

extension HTTPCookie {
    /// In bytes of everything that a server may make long.
    fileprivate var size: Int {
        (properties ?? [:]).values.reduce(0) { $0 + (($1 as? String)?.utf8.count ?? 0) }
    }
}
