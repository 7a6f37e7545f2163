/// How much work a chain may cause. Anyone can send certificates whose paths are without number.
public struct PathBudget: Sendable, Hashable {
    /// Signatures that the search verifies, counted as those of a strength of 128 bits. Stronger keys
    /// count fivefold: that is how much longer they take.
    public var steps = 200
    /// Paths to an anchor that the search tries; each costs a validation. Those with stronger keys count
    /// fivefold too.
    public var paths = 100
    /// Certificates in a path that the search builds, leaf and anchor included.
    public var depth = 10
    /// Intermediates in any path.
    public var maximumIntermediates = 100

    public init() {}
}
