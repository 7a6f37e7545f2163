internal import Pintle

/// The remaining comparisons of names with name constraints for one request, over all its paths.
///
/// A class, because all verifications of the request share the same amount. Not thread-safe: use it on one thread.
final class ConstraintWork {
    private var left: Int64

    init(_ budget: PathBudget) {
        left = Int64(max(0, budget.nameComparisons))
    }

    /// Subtracts comparisons from the remaining amount. Returns `false` if not enough are left.
    func spend(_ comparisons: Int64) -> Bool {
        guard comparisons <= left else { return false }
        left -= comparisons
        return true
    }

    /// The finding for a request that needs too many comparisons.
    static let exceeded = PathFailure.Finding(
        .limitsExceeded, text: "more comparisons of names with name constraints than are made for one chain")
}
