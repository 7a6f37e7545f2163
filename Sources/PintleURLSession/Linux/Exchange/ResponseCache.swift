internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The configuration's `URLCache`, as far as a pinned session believes it.
///
/// A cached response replaces one of the server. So it is used only if it is the same object that this session has stored,
/// for this URL, under the policy that is still in force, and if the verdict on
/// the connection that brought it has not run out, nor the clock been set back since: before a certificate was
/// valid the verdict would be another. Foundation's own look-up by host, port and path is not
/// enough: it is blind to scheme and query, others may write to the same cache, and a file on the disk does not
/// say who put it there.
///
/// Because of this look-up, answers to two queries of one path would take each other's place. An answer to a URL with a
/// query is therefore stored twice: where the app finds it, and where only its whole URL leads. It is used as long as
/// both are there, so that removing it in the app's own `URLCache` counts.
final class ResponseCache: Sendable {
    private struct Entry {
        weak var response: URLResponse?
        /// The number of the ``PolicyGeneration`` that the response came under.
        let serial: Int
        let received: Date
        /// The end of its freshness; `nil` for a response that never was fresh.
        let end: Date?
        /// A Boolean value that indicates whether the answer is for requests with the same `Accept-Encoding` only.
        let varies: Bool
        let acceptedCodings: String?
    }

    let urlCache: URLCache?
    private let entries = Mutex<[URL: Entry]>([:])

    /// With more entries, the `URLCache` has evicted the oldest responses already.
    private static let entryLimit = 4_096
    /// `URLCache` for Linux traps where something is stored over something else: see `store(_:as:)`.
    private static let access = Mutex(())

    init(_ urlCache: URLCache?) {
        self.urlCache = urlCache
    }

    /// The most content that is worth keeping: a twentieth, as on Apple's systems.
    var sizeLimit: Int { (urlCache?.memoryCapacity ?? 0) / 20 }

    /// Returns `true` if there may be a response. Most sessions never store one.
    func knows(_ request: URLRequest) -> Bool {
        guard urlCache != nil, let url = request.url else { return false }
        return entries.withLock { $0[url] != nil }
    }

    /// - Parameter wantsFresh: false where any answer is better than none.
    func answer(
        to request: URLRequest, accepting codings: String? = nil, in generation: PolicyGeneration, wantsFresh: Bool,
        at now: Date
    ) -> CachedURLResponse? {
        guard let store = urlCache, let url = request.url, let entry = entries.withLock({ $0[url] }),
            entry.serial == generation.serial, entry.received <= now,
            !wantsFresh || entry.end.map({ now < $0 }) ?? false, !entry.varies || entry.acceptedCodings == codings
        else { return nil }
        guard let first = store.cachedResponse(for: request) else {
            // The app has removed it: the content does not stay under the whole URL either.
            forget(url)
            return nil
        }
        guard first.response is PinnedHTTPURLResponse,
            let cached = Self.exactRequest(for: url).map({ store.cachedResponse(for: $0) }) ?? first,
            let response = cached.response as? PinnedHTTPURLResponse,
            response === entry.response, response.receipt.map({ now < $0.validUntil }) ?? true
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

    /// A request whose path is the whole URL, which is what Foundation looks up by. `nil` for a URL without a query.
    private static func exactRequest(for url: URL) -> URLRequest? {
        guard url.query != nil else { return nil }
        var components = URLComponents()
        (components.scheme, components.host) = ("https", "pintle.invalid")
        components.path = "/" + url.absoluteString
        return components.url.map { URLRequest(url: $0) }
    }

    /// Removes the content of a URL, because it has changed.
    func forget(_ url: URL) {
        _ = entries.withLock { $0.removeValue(forKey: url) }
        guard let store = urlCache, let exact = Self.exactRequest(for: url) else { return }
        Self.access.withLock { _ in store.removeCachedResponse(for: exact) }
    }
}
