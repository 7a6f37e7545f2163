internal import Foundation
internal import FoundationNetworking

/// The challenges of one task so far, and the credential that answers them.
struct AuthenticationState: Sendable {
    /// More challenges than a person answers wrongly. A task whose delegate never gives up ends here.
    static let challengeLimit = 20

    enum Reaction {
        /// The delegate chooses a credential.
        case ask
        /// The server only wants another nonce: the same credential answers.
        case renewed
        /// The limit is reached: the response is the last one.
        case giveUp
    }

    /// The credential that goes with each request to its origin; `nil` before there is one.
    var authorization: Authorization?
    /// Challenges of all servers, renewals of a nonce included.
    private var challenges = 0
    /// How often a credential has been given, by the parts of its protection space.
    private var attempts: [[String]: Int] = [:]

    /// Counts a challenge.
    mutating func receiveChallenge(_ offers: [AuthenticationOffer], from url: CurlURL) -> Reaction {
        challenges += 1
        guard challenges <= Self.challengeLimit else { return .giveUp }
        guard let known = authorization, known.origin.hasSameOrigin(as: url),
            let renewal = offers.first(where: { $0.renews(known.offer) })
        else { return .ask }
        authorization?.renew(renewal)
        return .renewed
    }

    /// Sends a credential with all further requests to its origin.
    mutating func use(_ authorization: Authorization) {
        attempts[authorization.space.parts, default: 0] += 1
        self.authorization = authorization
    }

    /// Returns the authorization that a server has accepted with a response.
    func accepted(by url: CurlURL) -> Authorization? {
        guard let authorization, authorization.origin.hasSameOrigin(as: url) else { return nil }
        return authorization
    }

    /// Returns the credential that the server has just refused.
    func refusedCredential(of url: CurlURL) -> URLCredential? { accepted(by: url)?.credential }

    /// Returns how often a credential has been given for a space.
    func failureCount(in space: URLProtectionSpace) -> Int { attempts[space.parts] ?? 0 }
}

extension URLProtectionSpace {
    /// The key of a space. Foundation for Linux compares spaces by identity.
    fileprivate var parts: [String] {
        [`protocol` ?? "", host.lowercased(), "\(port)", realm ?? "", authenticationMethod]
    }
}
