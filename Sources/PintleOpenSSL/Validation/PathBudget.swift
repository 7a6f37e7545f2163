/// The limits of the work for one chain. Without limits, any server could send certificates that form endlessly many
/// paths.
package struct PathBudget: Sendable, Hashable {
    /// The number of signatures that the search verifies, for keys with a strength of up to 128 bits. A signature by a
    /// stronger key counts fivefold, because it takes five times as long.
    package var steps = 200
    /// The number of paths to an anchor that the search tries; each costs a validation. A path with a stronger key
    /// counts fivefold.
    package var paths = 100
    /// The number of certificates in a path that the search builds, including leaf and anchor.
    package var depth = 10
    /// The number of intermediates in any path.
    package var maximumIntermediates = 100
    /// The number of comparisons of names with name constraints, over all paths for one chain. A comparison of more
    /// than 64 bytes counts as several, and one with an otherName as 128. Each name of a certificate is compared with
    /// each subtree of every authority above it; e-mail addresses in subjects count as names.
    ///
    /// OpenSSL's own limit is 1,048,576 for each pair of certificates, and a path of 100 has 4,950 pairs.
    package var nameComparisons = 1_000_000

    package init() {}
}
