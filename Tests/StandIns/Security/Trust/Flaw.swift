extension StandIn {
    /// The kinds of flaws, in the order in which the system reports them: if a path has several flaws, the app gets
    /// only the status of the first kind.
    public enum FlawKind: Int, Sendable {
        case blocked, revoked, keySize, weakHash, denied, compliance, pinning, trust, usage, name, dates
    }
}

/// One flaw of a path.
struct Flaw: Sendable {
    let kind: StandIn.FlawKind
    let status: OSStatus

    init(_ kind: StandIn.FlawKind, _ status: OSStatus) {
        self.kind = kind
        self.status = status
    }

    /// Returns the status that the app gets. Of several flaws of one kind, the one found first counts.
    static func status(of flaws: [Flaw]) -> OSStatus {
        var first: Flaw?
        for flaw in flaws where flaw.kind.rawValue < (first?.kind.rawValue ?? .max) { first = flaw }
        return first?.status ?? errSecSuccess
    }
}
