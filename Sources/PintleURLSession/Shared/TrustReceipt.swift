public import Foundation
public import Pintle

/// What was decided about the connection that carried a response, when it was made.
public struct TrustReceipt: Sendable, Hashable {
    /// The server that was asked for.
    public let endpoint: ServerEndpoint
    /// Why it is trusted: the pin and where it matched, what a person has approved, or why no pin was needed.
    public let basis: TrustBasis
    /// The rule that decided; `nil` where none covers the host.
    public let rule: MatchedRule?
    /// What validation found, leaf to anchor.
    public let path: ValidatedPath
    /// The generation of the policy that decided, as the session's ``PolicySource`` has numbered it; 1 where the
    /// session has one policy for good.
    public let generation: UInt64
    /// No request starts on the connection from this instant on: the end of a certificate of the path, of the pins or
    /// of a person's approval, whichever comes first.
    public let validUntil: Date

    /// The pin that matched; `nil` where trust rests on the path alone.
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
