/// The details of a mismatch: the path is valid but matches no pin of the rule, or the server's certificate or key is
/// not the approved one.
public struct PinMismatch: Sendable, Hashable {
    /// The host and port that the caller asked for.
    public let endpoint: ServerEndpoint
    /// The rule that decided; `nil` if an approval decided.
    public let rule: MatchedRule?
    /// The approval and the certificate that differs from it; `nil` if a rule decided.
    public let approval: ApprovalMismatch?
    /// The public-key pins of the validated path, leaf first. If ``approval`` is not `nil`, only the leaf's pin.
    public let servedPins: [PublicKeyPin]
    /// The rule's pins, or the approved certificate or key.
    public let pins: [Pin]
    /// The rule's backup pins.
    public let backupPins: [Pin]
    /// The most likely reason for the mismatch.
    package let slip: NearestMiss
    /// The most likely reason for the mismatch, such as a typing error in a pin, in words. It never affects the
    /// verdict.
    public var nearestMiss: String { slip.description }

    /// A Boolean value that indicates whether a pin is the hash of a certificate on the path, not of its key.
    package var pinsHashOfCertificate: Bool { if case .certificateAsKey = slip { true } else { false } }

    /// The pins, followed by the backup pins.
    public var configuredPins: [Pin] { pins + backupPins }
}

extension PinMismatch: CustomStringConvertible {
    /// The mismatch with served and configured pins, for people.
    public var description: String {
        guard let rule else { return approval.map(\.description) ?? "" }
        let served = servedPins.map(\.description).joined(separator: ", ")
        let wanted = configuredPins.map(\.description).joined(separator: ", ")
        return """
            the path of \(endpoint) does not match the pins; served, leaf first: \(served); \
            wanted by the rule for \(rule.pattern): \(wanted); nearest: \(nearestMiss)
            """
    }
}

/// A server whose certificate or key differs from the one that the user approved. This is an alarm, never a question.
public struct ApprovalMismatch: Sendable, Hashable {
    /// The approval for this host and port. It may have expired, but it was not revoked.
    public let approval: TrustApproval
    /// The certificate that the server presents now.
    public let leaf: Certificate
    /// The reason why the system would refuse the server too; `nil` if the system would trust it. It did not affect the
    /// verdict.
    public let pathFailure: PathFailure?
}

extension ApprovalMismatch: CustomStringConvertible {
    /// The approval and the certificate that the server presents instead, for people.
    public var description: String {
        """
        the \(approval.subject.kind) of a server that was approved has changed: \(approval); now certificate \
        \(leaf.fingerprint), key \(leaf.publicKeyPin); if its owner confirms the change, revoke the approval \
        and ask again
        """
    }
}

/// The details of expired pins.
public struct ExpiredPins: Sendable, Hashable {
    /// The host and port that the caller asked for.
    public let endpoint: ServerEndpoint
    /// The rule whose pins have expired.
    public let rule: MatchedRule
    /// A Boolean value that indicates whether the device's clock is probably wrong.
    ///
    /// It is true if the decision was made more than 400 days after the newest known time. A wrong clock is then more
    /// likely than an app without updates.
    public let isClockSuspicious: Bool
}

extension ExpiredPins: CustomStringConvertible {
    /// The rule and its expiry, for people.
    public var description: String {
        "the pins of \(rule.pattern) are past their date" + (isClockSuspicious ? ", or the clock is wrong" : "")
    }
}
