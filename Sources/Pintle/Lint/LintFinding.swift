/// What lint says about one thing in a policy.
package struct LintFinding: Sendable, Hashable {
    package enum Severity: String, Sendable, Hashable {
        /// The policy cannot be used.
        case error
        /// It can be used, and its author should look again.
        case warning
    }

    package let severity: Severity
    /// Id, path, place, message and remedy. `PolicyProblemTable` says what each id means.
    package let problem: PolicyProblem
}

/// Everything lint says about a policy, in the order of the file.
package struct LintReport: Sendable {
    /// At most 1,000 errors and 1,000 warnings.
    package let findings: [LintFinding]
    /// Whether there are more than `findings` holds.
    package let hasMore: Bool
    /// The policy, unless there are errors.
    package let policy: PinningPolicy?

    package var errorCount: Int { count(of: .error) }
    package var warningCount: Int { count(of: .warning) }

    private func count(of severity: LintFinding.Severity) -> Int {
        findings.lazy.filter { $0.severity == severity }.count
    }
}
