public import Foundation
public import Pintle

/// The decision about the connection that carried a response, at the time when the connection was made.
public struct TrustReceipt: Sendable, Hashable {
    /// The server that the request was for.
    public let endpoint: ServerEndpoint
    /// The reason for the trust: the pin and where it matched, the user's approval, or the reason why no pin was
    /// needed.
    public let basis: TrustBasis
    /// The rule that decided; `nil` if no rule covers the host.
    public let rule: MatchedRule?
    /// The path that validation found, leaf to anchor.
    public let path: ValidatedPath
    /// The generation of the policy that decided, as numbered by the session's ``/Pintle/PolicySource``. It is 1 if the
    /// session's policy never changes.
    public let generation: UInt64
    /// The instant from which no request starts on the connection: the end of a certificate of the path, of the pins or
    /// of the user's approval, whichever comes first.
    public let validUntil: Date

    /// The pin that matched; `nil` if trust rests only on the path.
    public var matchedPin: PinMatch? {
        if case .pinMatched(let match) = basis { match } else { nil }
    }
}

extension TrustReceipt: CustomStringConvertible {
    /// One line for a log: the server, the reason for the trust, the rule and the end.
    public var description: String {
        "\(endpoint) trusted, \(basis); rule \(rule?.pattern ?? "none"), generation \(generation), until "
            + RFC3339.string(from: validUntil)
    }
}

extension TrustReceipt {
    /// Checks the path of the connection a second time, after the response and independently of the handshake.
    ///
    /// Parses and hashes every certificate of the path again, and relies on no result of the handshake. If a pin
    /// decided, it is compared again with the certificate that it matched.
    ///
    ///     guard let receipt = response.trustReceipt else { throw URLError(.secureConnectionFailed) }
    ///     try receipt.require(minimumPathLength: 3, issuerKey: PublicKeyPin("sha256/..."))
    ///
    /// This finds an interceptor if a tool has disabled the check in the handshake but does not know of this one. A
    /// tool can disable both, so the second check only raises its cost.
    ///
    /// - Parameters:
    ///   - minimumPathLength: The smallest number of certificates on the path, leaf and anchor included. An interceptor
    ///     often signs the leaf with its root, which makes a path of 2. Values below 1 count as 1.
    ///   - issuerKey: The key of the certificate that issued the leaf, which is the next one on the path; `nil` for
    ///     any.
    /// - Throws: The first requirement that is not met.
    public func require(
        minimumPathLength: Int, issuerKey: PublicKeyPin? = nil
    ) throws(PathRequirementError) {
        try path.require(minimumLength: minimumPathLength, issuerKey: issuerKey, basis: basis)
    }
}
