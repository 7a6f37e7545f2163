internal import Pintle

/// The comparisons of names with name constraints that are left for one request, over all its paths.
///
/// A class, because each verification of the request takes from the same amount. Used on one thread.
final class ConstraintWork {
    private var left: Int64

    init(_ budget: PathBudget) {
        left = Int64(max(0, budget.nameComparisons))
    }

    /// Returns whether so many comparisons may be made, and takes them from what is left if so.
    func take(_ comparisons: Int64) -> Bool {
        guard comparisons <= left else { return false }
        left -= comparisons
        return true
    }

    /// The finding where they may not.
    static let exceeded = PathFailure.Finding(
        .limitsExceeded, text: "more comparisons of names with name constraints than are made for one chain")
}
