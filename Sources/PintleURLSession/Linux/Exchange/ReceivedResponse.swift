internal import FoundationNetworking

/// A response whose head is complete, and its meaning for the task.
struct ReceivedResponse: Sendable {
    enum Meaning: Sendable {
        /// The response is final, and the server has refused no credential.
        case content
        /// The server asks for another request.
        case redirect(to: URLRequest)
        /// The server asks for a credential (401). The offers that the session supports come strongest first. If there
        /// are none, the response is final.
        case challenge([AuthenticationOffer])
        /// The server asks for a redirect that must not be followed.
        case refused(SessionError)
    }

    let response: PinnedHTTPURLResponse
    /// The URL that libcurl requested.
    let url: CurlURL
    let meaning: Meaning
    /// The cookies that must be stored before the task continues.
    let cookies: CookieJar?

    /// A Boolean value that indicates whether the delegate may be asked about the next step. If not, the loader need
    /// not look for one.
    var mayAsk: Bool {
        if case .content = meaning { false } else { true }
    }

    init(
        _ response: PinnedHTTPURLResponse, from url: CurlURL, to request: URLRequest, cookies: CookieJar?,
        over proxies: ProxySetting? = nil
    ) {
        self.response = response
        self.url = url
        self.cookies = cookies
        do throws(SessionError) {
            if let next = try Redirect.request(after: response, to: request, over: proxies) {
                meaning = .redirect(to: next)
            } else if response.statusCode == 401 {
                meaning = .challenge(AuthenticationOffer.offers(in: response.head.values(of: "www-authenticate")))
            } else {
                meaning = .content
            }
        } catch {
            meaning = .refused(error)
        }
    }
}
