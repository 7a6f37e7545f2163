/// The verdict on a server.
public enum TrustDecision: Sendable, Hashable {
    /// Go on, and why.
    case trusted(TrustBasis)
    /// Send nothing, and why.
    case rejected(TrustRejection)

    /// The stable code, read together with the case: `pins-expired` may be either.
    public var reason: String {
        switch self {
        case .trusted(let basis): basis.reason
        case .rejected(let rejection): rejection.reason
        }
    }

    /// A Boolean value that indicates whether the connection may be used.
    public var isTrusted: Bool {
        if case .trusted = self { true } else { false }
    }
}

/// Why a server is trusted.
///
/// What is rare or large is held indirectly, here and in ``TrustRejection``: it keeps the verdict that
/// every good connection gets at a few words, which are copied often.
public enum TrustBasis: Sendable, Hashable {
    /// The path is valid and a pin of the rule is on it.
    case pinMatched(PinMatch)
    /// The path is valid and nothing is pinned for the host.
    case hostNotPinned
    /// The path is valid; the rule's pins have passed their date and asked for system trust from then on.
    indirect case pinsExpired(PinExpiration)
    /// The path is valid and no pin of the rule is on it, but the rule only reports.
    indirect case mismatchReportedOnly(PinMismatch)
    /// No rule covers the host, and a person has approved this certificate or key for it.
    indirect case userApproved(TrustApproval)

    /// The stable code: `pin-matched`, `host-not-pinned`, `pins-expired`, `mismatch-reported-only` or `user-approved`.
    public var reason: String {
        switch self {
        case .pinMatched: "pin-matched"
        case .hostNotPinned: "host-not-pinned"
        case .pinsExpired: "pins-expired"
        case .mismatchReportedOnly: "mismatch-reported-only"
        case .userApproved: "user-approved"
        }
    }
}

/// Why a server is refused.
public indirect enum TrustRejection: Error, Sendable, Hashable {
    /// The path is valid, but no pin of the rule is on it; or the server is not the one that a person approved.
    case pinMismatch(PinMismatch)
    /// The path is valid; the rule's pins have passed their date and asked for refusal from then on.
    case pinsExpired(PinExpiration)
    /// No rule covers the host, and the policy refuses such hosts.
    case hostNotAllowed(ServerEndpoint)
    /// No rule covers the host, and the policy leaves such hosts to a person, who has not been asked yet.
    case unknownHost(UnknownHost)
    /// The path is not valid. Pins were not looked at: a pin never makes an invalid path acceptable.
    case invalidPath(PathFailure)

    /// The stable code: `pin-mismatch`, `pins-expired`, `host-not-allowed`, `unknown-host` or `invalid-path`.
    public var reason: String {
        switch self {
        case .pinMismatch: "pin-mismatch"
        case .pinsExpired: "pins-expired"
        case .hostNotAllowed: "host-not-allowed"
        case .unknownHost: "unknown-host"
        case .invalidPath: "invalid-path"
        }
    }

    /// What is wrong with the path, where something is.
    public var pathFailure: PathFailure? {
        switch self {
        case .invalidPath(let failure): failure
        case .unknownHost(let host): host.pathFailure
        case .pinMismatch, .pinsExpired, .hostNotAllowed: nil
        }
    }
}

extension TrustRejection: CustomStringConvertible {
    /// What happened, with what is needed to mend it.
    public var description: String {
        switch self {
        case .pinMismatch(let mismatch): "\(reason): \(mismatch)"
        case .pinsExpired(let expiration): "\(reason): \(expiration)"
        case .hostNotAllowed(let endpoint): "\(reason): no rule covers \(endpoint)"
        case .unknownHost(let host): "\(reason): \(host)"
        case .invalidPath(let failure): "\(reason): \(failure.code.rawValue): \(failure.primary.text)"
        }
    }
}

extension TrustRejection {
    /// The description and the remedy, for the error of a task, which may be the only text that a developer sees.
    package var advice: String {
        switch self {
        case .pinMismatch(let mismatch):
            if let rule = mismatch.rule {
                "\(self); if this server is the right one, add one of the served pins to the rule for "
                    + "\(rule.pattern); if it is not, an interceptor is in between"
            } else {
                "\(self); if not, an interceptor is in between"
            }
        case .pinsExpired: "\(self); update the app, or its policy"
        case .hostNotAllowed(let endpoint): "\(self); add a rule for \(endpoint.host) to the policy"
        case .unknownHost: "\(self); ask the user, or add a rule for the host to the policy"
        case .invalidPath: "\(self); pins are not looked at before the path is valid"
        }
    }
}

extension TrustDecision: CustomStringConvertible {
    /// `trusted, host-not-pinned`, `rejected, pin-mismatch: ...`.
    public var description: String {
        switch self {
        case .trusted(let basis): "trusted, \(basis)"
        case .rejected(let rejection): "rejected, \(rejection)"
        }
    }
}

extension TrustBasis: CustomStringConvertible {
    /// The code, and what it rests on.
    public var description: String {
        switch self {
        case .pinMatched(let match): "\(reason): \(match)"
        case .hostNotPinned: reason
        case .pinsExpired(let expiration): "\(reason): \(expiration)"
        case .mismatchReportedOnly(let mismatch): "\(reason): \(mismatch)"
        case .userApproved(let approval): "\(reason): \(approval)"
        }
    }
}
