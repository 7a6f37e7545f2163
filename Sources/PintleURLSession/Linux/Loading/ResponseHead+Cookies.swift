internal import Foundation
internal import FoundationNetworking

extension HTTPCookie.AcceptPolicy {
    /// Whether cookies of a server are wanted for a page. As in Foundation, whose storage asks only its own
    /// policy: the page is the server's, or at a sub-domain of it.
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
    /// What a server wants to be sent again.
    func cookies(for url: URL) -> [HTTPCookie] {
        let values = values(of: "set-cookie")
        guard !values.isEmpty else { return [] }
        // Foundation finds out where one ends and the next begins.
        return HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": values.joined(separator: ", ")], for: url)
    }
}
