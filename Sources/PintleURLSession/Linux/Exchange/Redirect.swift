internal import Foundation
internal import FoundationNetworking

/// The request that a redirect asks for (RFC 9110 section 15.4).
enum Redirect {
    /// The number of redirects that browsers follow.
    static let limit = 20

    /// - Returns: `nil` where the response is not a redirect.
    static func request(
        after response: HTTPURLResponse, to request: URLRequest
    ) throws(SessionRefusal) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location"), let base = request.url,
            let target = URL(string: location, relativeTo: base)?.absoluteURL
        else { return nil }
        try refuseDowngrade(from: base, to: target)
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
        if try CurlURL(base.absoluteString).hasSameOrigin(as: CurlURL(target.absoluteString)) == false {
            // A host's name, given by hand, would have another server answer for it.
            for name in ["Authorization", "Cookie", "Host", "Proxy-Authorization"] {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return next
    }

    /// - Throws: where the next request would go without TLS, at the wish of a server or of a delegate.
    static func refuseDowngrade(from base: URL?, to target: URL?) throws(SessionRefusal) {
        guard base?.scheme?.lowercased() == "https", target?.scheme?.lowercased() != "https" else { return }
        throw SessionRefusal(
            .insecureRedirect,
            "\(base?.host ?? "the server") redirects from https to \(target?.scheme ?? "nowhere")",
            hint: "have the server redirect to https")
    }
}
