internal import FoundationNetworking

/// A 401 response that waits for a credential.
struct PendingChallenge: Sendable {
    let response: HTTPURLResponse
    let url: CurlURL
    /// The offers that the delegate has not rejected, the strongest first.
    var offers: [AuthenticationOffer]
}
