internal import Pintle

/// The comparisons of names with name constraints that are left for one request, over all its paths.
///
/// A class, because each verification of the request takes from the same amount. Used on one thread.
final class ConstraintWork {
    private var left: Int64

    init(_ budget: PathBudget) {
        left = Int64(max(0, budget.nameComparisons))
    }

    /// Subtracts so many comparisons from what is left, and returns true; returns false where there are not so many left.
    func spend(_ comparisons: Int64) -> Bool {
        guard comparisons <= left else { return false }
        left -= comparisons
        return true
    }

    /// The finding where they may not.
    static let exceeded = PathFailure.Finding(
        .limitsExceeded, text: "more comparisons of names with name constraints than are made for one chain")
}
