/// A valid path on which no pin of the rule is; or a server that was approved with another certificate or key: served
/// keys, wanted keys, and what comes nearest.
public struct PinMismatch: Sendable, Hashable {
    /// The server that was asked for.
    public let endpoint: ServerEndpoint
    /// The rule that decided; `nil` where ``approval`` did.
    public let rule: MatchedRule?
    /// What a person approved and what is there now; `nil` where a rule decided.
    public let approval: ApprovalMismatch?
    /// The validated path's public-key pins, leaf first. Of a server that was approved the leaf's alone, whatever its
    /// path.
    public let servedPins: [PublicKeyPin]
    /// The rule's pins, or what was approved.
    public let pins: [Pin]
    /// The backup pins of the rule.
    public let backupPins: [Pin]
    /// The likeliest slip.
    public let nearestMiss: NearestMiss

    /// Pins and backup pins, in that order.
    public var configuredPins: [Pin] { pins + backupPins }
}

extension PinMismatch: CustomStringConvertible {
    /// The mismatch with served and configured pins, for people.
    public var description: String {
        guard let rule else { return approval.map(\.description) ?? "" }
        let served = servedPins.map(\.description).joined(separator: ", ")
        let wanted = configuredPins.map(\.description).joined(separator: ", ")
        return """
            no key on the path of \(endpoint) is pinned; served, leaf first: \(served); \
            wanted by the rule for \(rule.pattern): \(wanted); nearest: \(nearestMiss)
            """
    }
}

/// A server whose certificate or key is not the one that a person approved: an alarm, never a question.
public struct ApprovalMismatch: Sendable, Hashable {
    /// What was approved for this host and port: live, or expired, but not revoked.
    public let approval: TrustApproval
    /// What the server shows now.
    public let leaf: Certificate
    /// Why the system would refuse it too; `nil` where the system would trust it. It has decided nothing.
    public let pathFailure: PathFailure?
}

extension ApprovalMismatch: CustomStringConvertible {
    /// The approval and what the server shows instead, for people.
    public var description: String {
        """
        the \(approval.subject.kind) of a server that was approved has changed: \(approval); now certificate \
        \(leaf.fingerprint), key \(leaf.publicKeyPin); if its owner confirms the change, revoke the approval and ask again
        """
    }
}

/// Pins that have passed their date.
public struct PinExpiration: Sendable, Hashable {
    /// The server that was asked for.
    public let endpoint: ServerEndpoint
    /// The rule whose pins are past their date.
    public let rule: MatchedRule
    /// Whether the date lies so far back, seen from the newest time ever known, that the clock is more
    /// likely wrong than the app unattended.
    public let isClockSuspicious: Bool
}

extension PinExpiration: CustomStringConvertible {
    /// The rule and its expiry, for people.
    public var description: String {
        "the pins of \(rule.pattern) are past their date" + (isClockSuspicious ? ", or the clock is wrong" : "")
    }
}
