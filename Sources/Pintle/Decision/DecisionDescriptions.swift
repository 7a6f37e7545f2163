// One line each, for a log. None of them writes the bytes of a certificate out.

extension TrustEvaluation: CustomStringConvertible {
    /// `example.com:443 trusted, pin-matched: sha256/... at depth 0`.
    public var description: String { "\(endpoint) \(decision)" }
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

extension PinMatch: CustomStringConvertible {
    /// `sha256/... at depth 0`, and whether it is a backup.
    public var description: String { "\(pin) at depth \(depth)" + (isBackup ? ", a backup pin" : "") }
}

extension MatchedRule: CustomStringConvertible {
    /// As ``pattern``.
    public var description: String { pattern }
}

extension ValidatedPath: CustomStringConvertible {
    /// The pins of its keys, leaf first.
    public var description: String { publicKeyPins.map(\.description).joined(separator: ", ") }
}
