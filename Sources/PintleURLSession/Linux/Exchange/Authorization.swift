internal import Foundation
internal import FoundationNetworking

/// A credential for one origin, with the authentication scheme that it is used in.
struct Authorization: Sendable {
    let origin: CurlURL
    let space: URLProtectionSpace
    let credential: URLCredential
    var offer: AuthenticationOffer
    /// The number of requests that have used the current nonce.
    private var count: UInt32 = 0

    init(_ credential: URLCredential, for offer: AuthenticationOffer, in space: URLProtectionSpace, at origin: CurlURL)
    {
        self.credential = credential
        self.offer = offer
        self.space = space
        self.origin = origin
    }

    /// Uses the same credential with a new nonce.
    mutating func renew(_ offer: AuthenticationOffer) {
        self.offer = offer
        count = 0
    }

    /// Returns the value of `Authorization` for one more request; `nil` for another origin.
    mutating func value(for url: CurlURL, method: String) -> String? {
        guard origin.hasSameOrigin(as: url) else { return nil }
        let (user, password) = (credential.user ?? "", credential.password ?? "")
        switch offer {
        case .basic: return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        case .digest(let challenge):
            count += 1
            var generator = SystemRandomNumberGenerator()
            let nonce = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
            return challenge.answer(
                user: user, password: password, method: method, target: url.target, count: count, clientNonce: nonce)
        }
    }
}
