public import Foundation
public import Pintle

/// The decision about the connection that carried a response, as it was when the connection was made.
public struct TrustReceipt: Sendable, Hashable {
    /// The server that was asked for.
    public let endpoint: ServerEndpoint
    /// Why it is trusted: the pin and where it matched, what a person has approved, or why no pin was needed.
    public let basis: TrustBasis
    /// The rule that decided; `nil` where none covers the host.
    public let rule: MatchedRule?
    /// The path that validation found, leaf to anchor.
    public let path: ValidatedPath
    /// The generation of the policy that decided, as the session's ``PolicySource`` has numbered it; 1 where the
    /// session has one policy for good.
    public let generation: UInt64
    /// No request starts on the connection from this instant on: the end of a certificate of the path, of the pins or
    /// of a person's approval, whichever comes first.
    public let validUntil: Date

    /// The pin that matched; `nil` where trust rests only on the path.
    public var matchedPin: PinMatch? {
        if case .pinMatched(let match) = basis { match } else { nil }
    }
}

extension TrustReceipt: CustomStringConvertible {
    /// One line, for a log: the server, why it is trusted, the rule and the end.
    public var description: String {
        "\(endpoint) trusted, \(basis); rule \(rule?.pattern ?? "none"), generation \(generation), until "
            + RFC3339.string(from: validUntil)
    }
}

extension TrustReceipt {
    /// A second look at the path that was decided on, after the response and away from the handshake.
    ///
    /// Every certificate of the path is read and hashed again; nothing that the handshake found out is taken on trust.
    /// Where a pin decided, it is compared once more with the certificate that it is said to have matched.
    ///
    ///     guard let receipt = response.trustReceipt else { throw URLError(.secureConnectionFailed) }
    ///     try receipt.require(minimumPathLength: 3, issuerKey: PublicKeyPin("sha256/..."))
    ///
    /// It finds an interceptor that was let in by a tool which switched the handshake's check off but does not know of
    /// this look. A tool can switch off both: the second look raises its cost, and no more.
    ///
    /// - Parameters:
    ///   - minimumPathLength: certificates on the path, leaf and anchor counted. An interceptor often signs directly with
    ///     its root, which makes a path of 2. Less than 1 counts as 1.
    ///   - issuerKey: the key of the certificate that has issued the leaf, the next one on the path; `nil` for any.
    /// - Throws: the first requirement that is not met.
    public func require(
        minimumPathLength: Int, issuerKey: PublicKeyPin? = nil
    ) throws(PathRequirementError) {
        try path.require(minimumLength: minimumPathLength, issuerKey: issuerKey, basis: basis)
    }
}
