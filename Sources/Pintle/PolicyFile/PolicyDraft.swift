/// A parsed policy file together with all its problems.
///
/// A placeholder replaces each value that could not be read, so that the checks of the whole policy neither miss a
/// problem nor report a false one. A draft with problems never becomes a policy.
package struct PolicyDraft {
    var updateVersion = 0
    package internal(set) var unpinnedHosts = PinningPolicy.UnpinnedHosts.systemTrust
    var allowsUpdatesForAnyHost = false
    /// All rules, in the order of the file.
    package internal(set) var hosts: [PinnedHost] = []
    package internal(set) var notes = PolicyNotes()
    /// The indices of the rules in `hosts` whose host could not be read.
    package internal(set) var nameless: Set<Int> = []
    /// The problems, with lines and columns, in the order of the document.
    package private(set) var problems: [PolicyProblem] = []
    /// A Boolean value that indicates whether the file has more problems than `problems` holds. Parsing stops at the
    /// limit, so their number is unknown.
    package private(set) var hasMoreProblems = false
    /// The policy; `nil` if there are problems.
    package private(set) var policy: PinningPolicy?
    /// A Boolean value that indicates whether the meaning of every value is known, even if a value is not allowed.
    private(set) var isLegible = false

    private static let legibleProblems: Set<String> = ["anchor-file-not-allowed", "anchors-too-broad"]

    /// Checks the policy as a whole and determines the line and column of every problem.
    mutating func complete(_ found: [(offset: Int, problem: PolicyProblem)], in root: JSONValue) {
        var found = found
        isLegible = found.allSatisfy { Self.legibleProblems.contains($0.problem.id) }
        do throws(PolicyError) {
            var policy = try PinningPolicy(
                hosts: hosts, unpinnedHosts: unpinnedHosts, updateVersion: updateVersion,
                allowsUpdatesForAnyHost: allowsUpdatesForAnyHost)
            policy.notes = notes
            if found.isEmpty { self.policy = policy }
        } catch {
            var places = PolicyPlaces(root)
            found += error.problems.map { (places.value(at: $0.place).offset, $0) }
        }
        // Sort also by index, so that problems at one place stay in the order in which they were found.
        let order = found.indices.sorted { (found[$0].offset, $0) < (found[$1].offset, $1) }
        let kept = order.prefix(PolicyError.maximumProblems)
        let places = JSONDocument.places(of: kept.map { found[$0].offset }, in: root)
        problems = zip(kept, places).map { found[$0].problem.at($1) }
        hasMoreProblems = order.count > kept.count
    }

    /// Returns the policy or throws all problems.
    func finish() throws(PolicyError) -> PinningPolicy {
        if let policy { return policy }
        throw PolicyError(hasMoreProblems ? problems + [Self.more] : problems)
    }

    static let more = PolicyProblem(
        id: "more-problems", at: .root,
        message: "and more: reading ended after \(PolicyError.maximumProblems) problems",
        help: "mend the ones above first")
}
