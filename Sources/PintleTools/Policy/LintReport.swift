internal import Pintle

/// A problem that lint found in a policy.
struct LintFinding: Sendable, Hashable {
    enum Severity: String, Sendable, Hashable {
        /// The policy cannot be used.
        case error
        /// The policy can be used, and its author should look at it again.
        case warning
    }

    let severity: Severity
    /// The id, path, place, message and remedy. `PolicyProblemTable` explains each id.
    let problem: PolicyProblem
}

/// All findings about a policy, in the order of the file.
struct LintReport: Sendable {
    /// At most 1,000 errors and 1,000 warnings.
    let findings: [LintFinding]
    /// A Boolean value that indicates whether there are more than `findings` holds.
    let hasMore: Bool
    /// The policy, unless there are errors.
    let policy: PinningPolicy?

    var errorCount: Int { count(of: .error) }
    var warningCount: Int { count(of: .warning) }

    private func count(of severity: LintFinding.Severity) -> Int {
        findings.lazy.filter { $0.severity == severity }.count
    }
}
