internal import Foundation
internal import FoundationNetworking

extension ResponseHead {
    /// What a server wants to be sent again.
    func cookies(for url: URL) -> [HTTPCookie] {
        let values = values(of: "set-cookie")
        guard !values.isEmpty else { return [] }
        // Foundation finds out where one ends and the next begins.
        return HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": values.joined(separator: ", ")], for: url)
    }
}
