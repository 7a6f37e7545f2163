internal import Foundation
internal import FoundationNetworking

/// One way to answer a 401 that this session knows.
enum AuthenticationOffer: Sendable {
    case basic(realm: String?)
    case digest(DigestChallenge)

    /// The strongest first, as RFC 9110 section 11.6.1 asks for.
    ///
    /// - Parameter values: of `WWW-Authenticate`.
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

    /// Whether what was answered before was good and only its nonce too old. Where anything else differs, the
    /// credential would go to another realm, or be hashed in another way, and nobody has said that it may.
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

/// A credential on its way to the one origin that it is for.
struct Authorization: Sendable {
    let origin: CurlURL
    let space: URLProtectionSpace
    let credential: URLCredential
    var offer: AuthenticationOffer
    /// Requests under the nonce of the offer.
    private var count: UInt32 = 0

    init(_ credential: URLCredential, for offer: AuthenticationOffer, in space: URLProtectionSpace, at origin: CurlURL)
    {
        self.credential = credential
        self.offer = offer
        self.space = space
        self.origin = origin
    }

    /// The same credential under another nonce.
    mutating func renew(_ offer: AuthenticationOffer) {
        self.offer = offer
        count = 0
    }

    /// The field's value for one more request; `nil` for another origin.
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
