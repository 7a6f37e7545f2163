/// How much work a chain may cause. Anyone can send certificates whose paths are without number.
public struct PathBudget: Sendable, Hashable {
    /// Issuers that the search looks at; each costs a signature.
    public var steps = 200
    /// Paths to an anchor that the search tries; each costs a validation.
    public var paths = 100
    /// Certificates in a path that the search builds, leaf and anchor included.
    public var depth = 10
    /// Intermediates in any path.
    public var maximumIntermediates = 100

    public init() {}
}
