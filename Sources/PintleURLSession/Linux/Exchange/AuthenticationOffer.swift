internal import Foundation
internal import FoundationNetworking

/// An authentication scheme that a 401 response offers and that this session supports.
enum AuthenticationOffer: Sendable {
    case basic(realm: String?)
    case digest(DigestChallenge)

    /// Parses the offers, the strongest first, as RFC 9110 section 11.6.1 requires.
    ///
    /// - Parameter values: The values of `WWW-Authenticate`.
    static func offers(in values: [String]) -> [AuthenticationOffer] {
        let offers = AuthenticationChallenges(values).all.compactMap { challenge -> AuthenticationOffer? in
            if challenge.scheme == "basic" { return .basic(realm: challenge.parameters["realm"]) }
            return DigestChallenge(challenge).map { .digest($0) }
        }
        return (0...DigestChallenge.Algorithm.allCases.count).reversed().flatMap { strength in
            offers.filter { $0.strength == strength }
        }
    }

    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge):
            1 + (DigestChallenge.Algorithm.allCases.firstIndex(of: challenge.algorithm) ?? 0)
        }
    }

    /// Returns `true` if the server accepted the last answer and only its nonce has expired.
    ///
    /// If anything else differs, the credential would go to another realm or be hashed in another way, and the delegate
    /// has not agreed to that.
    func renews(_ known: AuthenticationOffer) -> Bool {
        guard case .digest(let next) = self, case .digest(let last) = known, next.isStale else { return false }
        return next.realm == last.realm && next.algorithm == last.algorithm && next.isSession == last.isSession
            && next.hasQuality == last.hasQuality
    }

    func protectionSpace(of url: CurlURL) -> URLProtectionSpace {
        let (realm, method): (String?, String) =
            switch self {
            case .basic(let realm): (realm, NSURLAuthenticationMethodHTTPBasic)
            case .digest(let challenge): (challenge.realm, NSURLAuthenticationMethodHTTPDigest)
            }
        return URLProtectionSpace(
            host: url.endpoint.host.description, port: Int(url.endpoint.port), protocol: url.scheme.rawValue,
            realm: realm, authenticationMethod: method)
    }
}

/// A 401 response that waits for a credential.
struct PendingChallenge: Sendable {
    let response: HTTPURLResponse
    let url: CurlURL
    /// The offers that the delegate has not rejected, the strongest first.
    var offers: [AuthenticationOffer]
}
