/// A policy file as far as it could be read: what a policy is made of, and everything that is wrong with it.
///
/// Where something could not be read, something else stands in its place, so that the checks that follow neither miss
/// a mistake nor invent one. A draft with problems never becomes a policy.
package struct PolicyDraft {
    var updateVersion = 0
    package internal(set) var unpinnedHosts = PinningPolicy.UnpinnedHosts.systemTrust
    var allowsUpdatesForAnyHost = false
    /// As many as the file has, in its order.
    package internal(set) var hosts: [PinnedHost] = []
    /// The rules in `hosts` whose host could not be read.
    package internal(set) var nameless: Set<Int> = []
    /// With lines and columns, in the order of the document.
    package private(set) var problems: [PolicyProblem] = []
    /// Whether there are more than `problems` holds. How many is not known: reading ends where nobody would read on.
    package private(set) var hasMoreProblems = false
    /// The policy, unless there are problems.
    package private(set) var policy: PinningPolicy?
    /// Whether every value was read for what it says, be it allowed or not.
    private(set) var isLegible = false

    private static let legibleProblems: Set<String> = ["anchor-file-not-allowed", "anchors-too-broad"]

    /// Checks what was read as a whole and puts every problem at its place.
    mutating func complete(_ found: [(offset: Int, problem: PolicyProblem)], in root: JSONValue) {
        var found = found
        isLegible = found.allSatisfy { Self.legibleProblems.contains($0.problem.id) }
        do throws(PolicyError) {
            let policy = try PinningPolicy(
                hosts: hosts, unpinnedHosts: unpinnedHosts, updateVersion: updateVersion,
                allowsUpdatesForAnyHost: allowsUpdatesForAnyHost)
            if found.isEmpty { self.policy = policy }
        } catch {
            var places = PolicyPlaces(root)
            found += error.problems.map { (places.value(at: $0.place).offset, $0) }
        }
        // Stable, so that problems at one place stay in the order in which they were found.
        let order = found.indices.sorted { (found[$0].offset, $0) < (found[$1].offset, $1) }
        let kept = order.prefix(PolicyError.maximumProblems)
        let places = JSONDocument.places(of: kept.map { found[$0].offset }, in: root)
        problems = zip(kept, places).map { found[$0].problem.at($1) }
        hasMoreProblems = order.count > kept.count
    }

    /// The policy, or everything that is wrong with it.
    func finish() throws(PolicyError) -> PinningPolicy {
        if let policy { return policy }
        throw PolicyError(hasMoreProblems ? problems + [Self.more] : problems)
    }

    static let more = PolicyProblem(
        id: "more-problems", at: .root,
        message: "and more: reading ended after \(PolicyError.maximumProblems) problems",
        help: "mend the ones above first")
}
