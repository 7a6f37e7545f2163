package import Pintle

/// A parsed policy file together with all its problems.
///
/// A placeholder replaces each pin that could not be read, and each rule with any other value that could not be read.
/// The checks of the policy's meaning then report only what the file really says. A draft with problems never becomes
/// a policy.
package struct PolicyDraft {
    var updateVersion = 0
    package internal(set) var unpinnedHosts = PinningPolicy.UnpinnedHosts.systemTrust
    var allowsUpdatesForAnyHost = false
    /// All rules, in the order of the file.
    package internal(set) var hosts: [PinnedHost] = []
    package internal(set) var notes = PolicyNotes()
    /// A Boolean value that indicates whether something outside the rules could not be read. The meaning of the rules
    /// is then unknown and was not checked.
    package private(set) var isMisread = false
    /// A Boolean value that indicates whether `hosts` has placeholders for rules.
    package private(set) var hasMisreadRules = false
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
    /// The problems beside which the rest of a rule can be checked. A pin that could not be read has a placeholder.
    private static let separateProblems: Set<String> = legibleProblems.union([
        "invalid-pin", "wrong-pin-length", "non-canonical-pin", "empty-input-pin", "unsupported-hash",
        "invalid-note",
    ])

    /// Returns the rule in place of one that could not be read. Its name is its path, which is no server's name.
    static func placeholder(_ index: Int) -> PinnedHost {
        PinnedHost(unchecked: ServerName(canonical: Array("\(PolicyPath.rule(index))".utf8)))
    }

    /// Checks the meaning of everything that could be read, and determines the line and column of every problem.
    mutating func complete(_ found: [(offset: Int, problem: PolicyProblem)], in root: JSONValue) {
        var found = found
        isLegible = found.allSatisfy { Self.legibleProblems.contains($0.problem.id) }
        // A check of a rule of which a part is unknown would report consequences of the mistake as further mistakes.
        for (_, problem) in found where !Self.separateProblems.contains(problem.id) {
            guard let index = problem.place.ruleIndex else {
                isMisread = true
                continue
            }
            hasMisreadRules = true
            if hosts.indices.contains(index) { hosts[index] = Self.placeholder(index) }
        }
        do throws(PolicyError) {
            if !isMisread {
                var policy = try PinningPolicy(
                    hosts: hosts, unpinnedHosts: unpinnedHosts, updateVersion: updateVersion,
                    allowsUpdatesForAnyHost: allowsUpdatesForAnyHost)
                policy.notes = notes
                if found.isEmpty { self.policy = policy }
            }
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
