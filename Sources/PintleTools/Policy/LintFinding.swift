internal import Pintle

/// What lint says about one thing in a policy.
struct LintFinding: Sendable, Hashable {
    enum Severity: String, Sendable, Hashable {
        /// The policy cannot be used.
        case error
        /// It can be used, and its author should look again.
        case warning
    }

    let severity: Severity
    /// Id, path, place, message and remedy. `PolicyProblemTable` says what each id means.
    let problem: PolicyProblem
}

/// Everything lint says about a policy, in the order of the file.
struct LintReport: Sendable {
    /// At most 1,000 errors and 1,000 warnings.
    let findings: [LintFinding]
    /// Whether there are more than `findings` holds.
    let hasMore: Bool
    /// The policy, unless there are errors.
    let policy: PinningPolicy?

    var errorCount: Int { count(of: .error) }
    var warningCount: Int { count(of: .warning) }

    private func count(of severity: LintFinding.Severity) -> Int {
        findings.lazy.filter { $0.severity == severity }.count
    }
}
