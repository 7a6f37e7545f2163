/// The work that one chain may cause. Any server can send certificates that form an endless number of paths.
package struct PathBudget: Sendable, Hashable {
    /// Signatures that the search verifies, counted as those of a strength of 128 bits. Stronger keys
    /// count fivefold: that is how much longer they take.
    package var steps = 200
    /// Paths to an anchor that the search tries; each costs a validation. Those with stronger keys count
    /// fivefold too.
    package var paths = 100
    /// Certificates in a path that the search builds, leaf and anchor included.
    package var depth = 10
    /// Intermediates in any path.
    package var maximumIntermediates = 100
    /// Comparisons of names with name constraints, over all paths that are tried for one chain. A comparison of more
    /// than 64 bytes counts as several, and one with an otherName as 128. Each name of a certificate is compared with
    /// each subtree of every authority above it; the e-mail addresses in subjects are names too.
    ///
    /// OpenSSL itself stops at 1,048,576 for each pair of certificates, and a path of 100 has 4,950 pairs.
    package var nameComparisons = 1_000_000

    package init() {}
}
