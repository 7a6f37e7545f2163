internal import Pintle
internal import PintleOpenSSL

/// A problem that `lint` reports: of the file, or of a live server that the file is about.
struct LintEntry {
    let severity: LintFinding.Severity
    let problem: PolicyProblem
    /// The server that showed it.
    var server: String?

    init(_ finding: LintFinding) {
        severity = finding.severity
        problem = finding.problem
    }

    init(_ severity: LintFinding.Severity, _ problem: PolicyProblem, server: String) {
        self.severity = severity
        self.problem = problem
        self.server = server
    }
}
