internal import Foundation
internal import FoundationNetworking

/// One request of a task: the first one, or one that follows a redirect or a challenge.
struct Hop: Sendable {
    let request: URLRequest
    var content: RequestContent
    /// A Boolean value that indicates whether a redirect has left the origin that the session's credentials are for.
    var hasLeftOrigin = false

    /// Returns the hop that follows this one.
    func following(with next: URLRequest) -> Hop {
        Hop(
            request: next, content: content.content(of: next, after: request),
            hasLeftOrigin: hasLeftOrigin || !Self.haveSameOrigin(request.url, next.url))
    }

    private static func haveSameOrigin(_ url: URL?, _ other: URL?) -> Bool {
        guard let url, let other, let current = try? CurlURL(url.absoluteString),
            let next = try? CurlURL(other.absoluteString)
        else { return false }
        return current.hasSameOrigin(as: next)
    }
}
