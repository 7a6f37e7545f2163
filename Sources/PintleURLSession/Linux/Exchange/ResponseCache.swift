internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// A cache over the configuration's `URLCache` that does not trust all of its content.
///
/// A cached response replaces one of the server. So a response is used only if all of the following hold:
///
/// - It is the same object that this session stored, for exactly this URL.
/// - The policy that it was received under is still in force.
/// - The verdict on its connection has not expired.
/// - The clock has not been set back since. Before a certificate is valid, for example, the verdict would be different.
///
/// Foundation's own look-up by host, port and path is not enough. It ignores scheme and query, other code may write to
/// the same cache, and a file on the disk does not tell which program wrote it.
///
/// With Foundation's look-up, two queries of one path would overwrite each other. So a response to a URL with a query
/// is stored twice: under the key that the app uses, and under a key made of the whole URL. It is used only while both
/// entries exist, so that the app can remove it through its own `URLCache`.
final class ResponseCache: Sendable {
    private struct Entry {
        weak var response: URLResponse?
        /// The serial number of the ``PolicyGeneration`` that the response was received under.
        let serial: Int
        let received: Date
        /// The end of the response's freshness; `nil` for a response that was never fresh.
        let end: Date?
        /// A Boolean value that indicates whether the response is only for requests with the same `Accept-Encoding`.
        let varies: Bool
        let acceptedCodings: String?
    }

    let urlCache: URLCache?
    private let entries = Mutex<[URL: Entry]>([:])

    /// The limit of entries. With more entries the `URLCache` has already evicted the oldest responses.
    private static let entryLimit = 4_096
    /// A lock around changes: `URLCache` for Linux traps when an entry is overwritten; see `store(_:as:)`.
    private static let access = Mutex(())

    init(_ urlCache: URLCache?) {
        self.urlCache = urlCache
    }

    /// The size in bytes of the largest content that is stored: a twentieth of the cache, as on Apple's systems.
    var sizeLimit: Int { (urlCache?.memoryCapacity ?? 0) / 20 }

    /// Returns `true` if the cache may have a response. This check is cheap, because most sessions never store one.
    func knows(_ request: URLRequest) -> Bool {
        guard urlCache != nil, let url = request.url else { return false }
        return entries.withLock { !$0.isEmpty && $0[url] != nil }
    }

    /// Returns a response from the cache, if one may be used.
    ///
    /// - Parameter wantsFresh: `false` if a stale response may be used too.
    func answer(
        to request: URLRequest, accepting codings: String? = nil, in generation: PolicyGeneration, wantsFresh: Bool,
        at now: Date
    ) -> CachedURLResponse? {
        guard let store = urlCache, let url = request.url, let entry = entries.withLock({ $0[url] }),
            entry.serial == generation.serial, entry.received <= now,
            !wantsFresh || entry.end.map({ now < $0 }) ?? false, !entry.varies || entry.acceptedCodings == codings
        else { return nil }
        guard let first = store.cachedResponse(for: request) else {
            // The app has removed the response. Also remove the entry under the whole URL.
            forget(url)
            return nil
        }
        guard first.response is PinnedHTTPURLResponse,
            let cached = Self.exactRequest(for: url).map({ store.cachedResponse(for: $0) }) ?? first,
            let response = cached.response as? PinnedHTTPURLResponse,
            response === entry.response, response.head.receipt.map({ now < $0.validUntil }) ?? true
        else { return nil }
        return cached
    }

    func store(_ cached: CachedURLResponse, as candidate: CacheCandidate) {
        let request = candidate.request
        guard let store = urlCache, let url = request.url, cached.storagePolicy != .notAllowed else { return }
        Self.access.withLock { _ in
            store.removeCachedResponse(for: request)
            store.storeCachedResponse(cached, for: request)
            if let exact = Self.exactRequest(for: url) {
                store.removeCachedResponse(for: exact)
                store.storeCachedResponse(cached, for: exact)
            }
        }
        entries.withLock { entries in
            if entries.count >= Self.entryLimit { entries.removeAll() }
            entries[url] = Entry(
                response: cached.response, serial: candidate.generation.serial, received: candidate.received,
                end: candidate.end, varies: candidate.varies, acceptedCodings: candidate.acceptedCodings)
        }
    }

    /// Returns a request whose path is the whole URL, because Foundation looks up by path. Returns `nil` for a URL
    /// without a query.
    private static func exactRequest(for url: URL) -> URLRequest? {
        guard url.query != nil else { return nil }
        var components = URLComponents()
        (components.scheme, components.host) = ("https", "pintle.invalid")
        components.path = "/" + url.absoluteString
        return components.url.map { URLRequest(url: $0) }
    }

    /// Removes the response to a URL whose content has changed.
    func forget(_ url: URL) {
        _ = entries.withLock { $0.removeValue(forKey: url) }
        guard let store = urlCache, let exact = Self.exactRequest(for: url) else { return }
        Self.access.withLock { _ in store.removeCachedResponse(for: exact) }
    }
}

/// A response that may go into the cache once its content is complete.
struct CacheCandidate {
    let response: HTTPURLResponse
    let request: URLRequest
    let generation: PolicyGeneration
    let received: Date
    let end: Date?
    let varies: Bool
    let acceptedCodings: String?
    /// A copy of the content that the delegate gets; `nil` if the loader keeps the content anyway.
    var content: Data?
}
