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
    ///
    /// Only what is ASCII, as cookies are (RFC 6265 section 4.1.1), and has no control characters: some of the rest makes
    /// Foundation's parser of cookies trap.
    func cookies(for url: URL) -> [HTTPCookie] {
        let values = values(of: "set-cookie").filter { $0.utf8.allSatisfy { 0x20...0x7E ~= $0 || $0 == 0x09 } }
        guard !values.isEmpty else { return [] }
        // Foundation finds out where one ends and the next begins.
        return HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": values.joined(separator: ", ")], for: url)
    }
}
