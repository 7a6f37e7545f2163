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
    let response: PinnedHTTPURLResponse
    let url: CurlURL
    /// The offers that the delegate has not rejected, the strongest first.
    var offers: [AuthenticationOffer]
}

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

/// The challenges of one task so far, and the credential for them.
struct AuthenticationState: Sendable {
    /// The number of challenges after which a task stops answering. It is higher than a user needs for typing errors,
    /// and stops a delegate that never gives up.
    static let challengeLimit = 20

    enum Reaction {
        /// The delegate chooses a credential.
        case ask
        /// The server only needs a new nonce: the same credential is sent again.
        case renewed
        /// The limit is reached: the 401 becomes the final response.
        case giveUp
    }

    /// The credential that goes with each request to its origin; `nil` before there is one.
    var authorization: Authorization?
    /// The number of challenges of all servers, renewals of a nonce included.
    private var challenges = 0
    /// The number of credentials that were sent for each protection space.
    private var attempts: [[String]: Int] = [:]

    /// Counts a challenge and returns the reaction to it.
    mutating func receiveChallenge(_ offers: [AuthenticationOffer], from url: CurlURL) -> Reaction {
        challenges += 1
        guard challenges <= Self.challengeLimit else { return .giveUp }
        guard let known = authorization, known.origin.hasSameOrigin(as: url),
            let renewal = offers.first(where: { $0.renews(known.offer) })
        else { return .ask }
        authorization?.renew(renewal)
        return .renewed
    }

    /// Uses a credential for all further requests to its origin.
    mutating func use(_ authorization: Authorization) {
        attempts[authorization.space.parts, default: 0] += 1
        self.authorization = authorization
    }

    /// Returns the authorization that the server of a URL has accepted with its response.
    func accepted(by url: CurlURL) -> Authorization? {
        guard let authorization, authorization.origin.hasSameOrigin(as: url) else { return nil }
        return authorization
    }

    /// Returns the credential that the server has just refused.
    func refusedCredential(of url: CurlURL) -> URLCredential? { accepted(by: url)?.credential }

    /// Returns the number of credentials that were sent for a protection space.
    func failureCount(in space: URLProtectionSpace) -> Int { attempts[space.parts] ?? 0 }
}

extension URLProtectionSpace {
    /// The parts of a protection space, for use as a key. Foundation for Linux compares spaces by identity.
    fileprivate var parts: [String] {
        [`protocol` ?? "", host.lowercased(), "\(port)", realm ?? "", authenticationMethod]
    }
}

/// The credentials of a configuration.
///
/// Foundation for Linux compares protection spaces by identity, so this type searches the storage for an equal space.
struct CredentialStore: Sendable {
    let storage: URLCredentialStorage?

    /// Returns the default credential for a space, or else the first by user name.
    func credential(for space: URLProtectionSpace) -> URLCredential? {
        guard let storage else { return nil }
        let stored = stored(space)
        if let credential = storage.defaultCredential(for: stored) { return credential }
        return storage.credentials(for: stored)?.min { $0.key < $1.key }?.value
    }

    /// Stores a credential that a server has accepted. Its persistence decides how long it is kept.
    func store(_ credential: URLCredential, for space: URLProtectionSpace) {
        storage?.set(credential, for: stored(space))
    }

    func removeAll() {
        guard let storage else { return }
        for (space, credentials) in storage.allCredentials {
            for credential in credentials.values { storage.remove(credential, for: space) }
        }
    }

    /// Returns the equal space that the storage already has, or else the given one.
    private func stored(_ space: URLProtectionSpace) -> URLProtectionSpace {
        storage?.allCredentials.keys.first { known in
            known.host.lowercased() == space.host.lowercased() && known.port == space.port
                && known.protocol == space.protocol && known.realm == space.realm
                && known.authenticationMethod == space.authenticationMethod && !known.isProxy()
        } ?? space
    }
}
