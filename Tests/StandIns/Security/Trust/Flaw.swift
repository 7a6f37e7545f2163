/// One flaw of a path. The kinds are in the order in which trustd reports them: if there are several flaws, the app
/// gets only the status of the first kind.
struct Flaw {
    enum Kind: Int {
        case keySize, weakHash, denied, compliance, trust, usage, name, dates
    }

    let kind: Kind
    let status: OSStatus

    init(_ kind: Kind, _ status: OSStatus) {
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
