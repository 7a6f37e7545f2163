internal import Foundation
internal import FoundationNetworking

/// The request that a redirect asks for (RFC 9110 section 15.4).
enum Redirect {
    /// The largest number of redirects that a task follows, as in browsers.
    static let limit = 20

    /// - Parameter proxies: The session's proxies; `nil` for none.
    /// - Returns: the next request; `nil` if the response is not a redirect.
    static func request(
        after response: HTTPURLResponse, to request: URLRequest, over proxies: ProxySetting? = nil
    ) throws(SessionError) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(response.statusCode),
            let location = (response as? PinnedHTTPURLResponse)?.location
                ?? response.value(forHTTPHeaderField: "Location"), let base = request.url,
            var target = URL(string: location, relativeTo: base)?.absoluteURL
        else { return nil }
        try refuseDowngrade(from: base, to: target)
        // The fragment goes on to the next URL (RFC 9110 section 10.2.2).
        if target.fragment == nil, let start = base.absoluteString.firstIndex(of: "#") {
            target = URL(string: target.absoluteString + base.absoluteString[start...]) ?? target
        }
        let (written, resolved) = (
            try CurlURL(target.absoluteString), try CurlURL(target.absoluteString, resolvesDots: true)
        )
        if written.target != resolved.target, let url = resolved.text.flatMap({ URL(string: $0) }) { target = url }
        var next = request
        next.url = target
        let method = request.httpMethod ?? "GET"
        switch response.statusCode {
        case 301 where method == "POST", 302 where method == "POST", 303 where method != "GET" && method != "HEAD":
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding"] {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        default: break
        }
        let origin = try CurlURL(base.absoluteString)
        if !origin.hasSameOrigin(as: resolved) {
            for name in RequestFields.confidential { next.setValue(nil, forHTTPHeaderField: name) }
            if try proxies?.proxy(for: origin) != proxies?.proxy(for: resolved) {
                next.setValue(nil, forHTTPHeaderField: RequestFields.proxyCredentials)
            }
        }
        return next
    }

    /// Refuses a redirect from HTTPS to a URL without TLS, whether the server or the delegate asks for it.
    ///
    /// - Throws: an error if the next request would go without TLS.
    static func refuseDowngrade(from base: URL?, to target: URL?) throws(SessionError) {
        guard base?.scheme?.lowercased() == "https", target?.scheme?.lowercased() != "https" else { return }
        throw SessionError(
            .insecureRedirect,
            "\(base?.host ?? "the server") redirects from https to \(target?.scheme ?? "nowhere")",
            hint: "have the server redirect to https")
    }
}

/// One request of a task: the first one, or one that follows a redirect or a challenge.
///
/// A class, because each event of a transfer hands it on, and copying its request and content costs more.
final class Hop: Sendable {
    let request: URLRequest
    let content: RequestContent
    /// A Boolean value that indicates whether a redirect has left the origin that the session's credentials are for.
    let hasLeftOrigin: Bool

    init(request: URLRequest, content: RequestContent, hasLeftOrigin: Bool = false) {
        self.request = request
        self.content = content
        self.hasLeftOrigin = hasLeftOrigin
    }

    /// Returns the same request with its content in another state: a file of known size, or a stream.
    func with(_ content: RequestContent) -> Hop {
        Hop(request: request, content: content, hasLeftOrigin: hasLeftOrigin)
    }

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
