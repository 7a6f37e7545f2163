internal import Foundation
internal import FoundationNetworking

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
