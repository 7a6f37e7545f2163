/// One thing that is wrong with a path. The kinds are in the order in which trustd names them: of several flaws only the
/// status of the first kind reaches the app.
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

    /// Returns the status that is named; of two flaws of one kind the first that was found.
    static func status(of flaws: [Flaw]) -> OSStatus {
        var first: Flaw?
        for flaw in flaws where flaw.kind.rawValue < (first?.kind.rawValue ?? .max) { first = flaw }
        return first?.status ?? errSecSuccess
    }
}
