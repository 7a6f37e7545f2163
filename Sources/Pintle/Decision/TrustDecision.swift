/// The verdict on a server.
public enum TrustDecision: Sendable, Hashable {
    /// The connection may be used, for this reason.
    case trusted(TrustBasis)
    /// The connection must not be used, for this reason. Send nothing.
    case rejected(TrustRejection)

    /// The codes of the reasons. The raw values are stable. <doc:Decisions> lists the remedy for each.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Trusted: a pin matches the valid path.
        case pinMatched = "pin-matched"
        /// Trusted: the path is valid, and the host has no pins.
        case hostNotPinned = "host-not-pinned"
        /// Trusted or rejected, as the rule says: the path is valid, and the pins have expired.
        case pinsExpired = "pins-expired"
        /// Trusted: the path is valid but matches no pin, and the rule only reports mismatches.
        case mismatchReportedOnly = "mismatch-reported-only"
        /// Trusted: no rule covers the host, and the user has approved the certificate or key.
        case userApproved = "user-approved"
        /// Rejected: the valid path matches no pin, or the user has approved another certificate or key.
        case pinMismatch = "pin-mismatch"
        /// Rejected: no rule covers the host, and the policy refuses such hosts.
        case hostNotAllowed = "host-not-allowed"
        /// Rejected: no rule covers the host, and the user has not approved it.
        case unknownHost = "unknown-host"
        /// Rejected: the path is not valid.
        case invalidPath = "invalid-path"

        /// The weight of a verdict with this reason.
        package enum Weight {
            /// Trusted as the policy wishes.
            case good
            /// Trusted but worth a report. ``Reason/pinsExpired`` is a refusal if the rule says so.
            case warning
            case refusal
        }

        package var weight: Weight {
            switch self {
            case .pinMatched, .hostNotPinned, .userApproved: .good
            case .pinsExpired, .mismatchReportedOnly: .warning
            case .pinMismatch, .hostNotAllowed, .unknownHost, .invalidPath: .refusal
            }
        }
    }

    /// The code of the reason. Read it together with the case: ``Reason/pinsExpired`` occurs in both.
    public var code: Reason {
        switch self {
        case .trusted(let basis): basis.code
        case .rejected(let rejection): rejection.code
        }
    }

    /// The stable text of ``code``, such as `pin-matched`.
    public var reason: String { code.rawValue }

    /// A Boolean value that indicates whether the connection may be used.
    public var isTrusted: Bool {
        if case .trusted = self { true } else { false }
    }
}

/// The reason why a server is trusted.
///
/// Rare or large values are stored indirectly, here and in ``TrustRejection``. This keeps the verdict of a good
/// connection at a few words, because it is copied often.
public enum TrustBasis: Sendable, Hashable {
    /// The path is valid and matches a pin of the rule.
    case pinMatched(PinMatch)
    /// The path is valid and the host has no pins.
    case hostNotPinned
    /// The path is valid. The rule's pins have expired, and the rule falls back to system trust.
    indirect case pinsExpired(ExpiredPins)
    /// The path is valid but matches no pin of the rule. The rule only reports mismatches.
    indirect case mismatchReportedOnly(PinMismatch)
    /// No rule covers the host, and the user has approved this certificate or key for it.
    indirect case userApproved(TrustApproval)

    /// The code of the reason.
    public var code: TrustDecision.Reason {
        switch self {
        case .pinMatched: .pinMatched
        case .hostNotPinned: .hostNotPinned
        case .pinsExpired: .pinsExpired
        case .mismatchReportedOnly: .mismatchReportedOnly
        case .userApproved: .userApproved
        }
    }

    /// The stable text of ``code``: `pin-matched`, `host-not-pinned`, `pins-expired`, `mismatch-reported-only` or
    /// `user-approved`.
    public var reason: String { code.rawValue }
}

/// The reason why a server is refused.
public indirect enum TrustRejection: Error, Sendable, Hashable {
    /// The path is valid but matches no pin of the rule, or the certificate or key is not the one that the user
    /// approved.
    case pinMismatch(PinMismatch)
    /// The path is valid. The rule's pins have expired, and the rule refuses the server from then on.
    case pinsExpired(ExpiredPins)
    /// No rule covers the host, and the policy refuses such hosts.
    case hostNotAllowed(ServerEndpoint)
    /// No rule covers the host, and the policy leaves such hosts to the user, who has not approved this one.
    case unknownHost(UnknownHost)
    /// The path is not valid. The pins were not compared, because a matching pin never makes an invalid path
    /// acceptable.
    case invalidPath(PathFailure)

    /// The code of the reason.
    public var code: TrustDecision.Reason {
        switch self {
        case .pinMismatch: .pinMismatch
        case .pinsExpired: .pinsExpired
        case .hostNotAllowed: .hostNotAllowed
        case .unknownHost: .unknownHost
        case .invalidPath: .invalidPath
        }
    }

    /// The stable text of ``code``: `pin-mismatch`, `pins-expired`, `host-not-allowed`, `unknown-host` or
    /// `invalid-path`.
    public var reason: String { code.rawValue }

    /// The reason why the path is not valid, if it is not.
    public var pathFailure: PathFailure? {
        switch self {
        case .invalidPath(let failure): failure
        case .unknownHost(let host): host.pathFailure
        case .pinMismatch, .pinsExpired, .hostNotAllowed: nil
        }
    }
}

extension TrustRejection: CustomStringConvertible {
    /// The failure and the details needed to fix it.
    public var description: String { "\(reason): \(advice.failure)" }
}

extension TrustRejection {
    /// The failure in words, and its remedy.
    package var advice: (failure: String, remedy: String) {
        switch self {
        case .pinMismatch(let mismatch):
            guard let rule = mismatch.rule else { return ("\(mismatch)", "if not, an interceptor is in between") }
            return (
                "\(mismatch)",
                "if this server is the right one, add one of the served pins to the rule for \(rule.pattern); if it "
                    + "is not, an interceptor is in between"
            )
        case .pinsExpired(let expired): return ("\(expired)", "update the app, or its policy")
        case .hostNotAllowed(let endpoint):
            return ("no rule covers \(endpoint)", "add a rule for \(endpoint.host) to the policy")
        case .unknownHost(let host): return ("\(host)", "ask the user, or add a rule for the host to the policy")
        case .invalidPath(let failure):
            return (
                "\(failure.code.rawValue): \(failure.primary.text)", "pins are not looked at before the path is valid"
            )
        }
    }

    /// The description and the remedy, for the error of a task. That error may be the only text that a developer sees.
    package var errorText: String { "\(self); \(advice.remedy)" }
}

extension TrustDecision: CustomStringConvertible {
    /// The verdict and the reason: `trusted, host-not-pinned` or `rejected, pin-mismatch: ...`.
    public var description: String {
        switch self {
        case .trusted(let basis): "trusted, \(basis)"
        case .rejected(let rejection): "rejected, \(rejection)"
        }
    }
}

extension TrustBasis: CustomStringConvertible {
    /// The code and its details.
    public var description: String {
        switch self {
        case .pinMatched(let match): "\(reason): \(match)"
        case .hostNotPinned: reason
        case .pinsExpired(let expired): "\(reason): \(expired)"
        case .mismatchReportedOnly(let mismatch): "\(reason): \(mismatch)"
        case .userApproved(let approval): "\(reason): \(approval)"
        }
    }
}
