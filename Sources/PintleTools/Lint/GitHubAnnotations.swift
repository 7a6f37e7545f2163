internal import Pintle

/// Findings as commands that GitHub's runners read from a step's output and show in the file.
enum GitHubAnnotations {
    /// `::error file=policy.json,line=6,col=16,title=no-backup-pin::message%0Ahelp: ...`
    static func line(_ entry: LintEntry, file: String) -> String {
        let problem = entry.problem
        var properties = ["file=\(property(file))"]
        if let line = problem.line { properties.append("line=\(line)") }
        if let column = problem.column { properties.append("col=\(column)") }
        properties.append("title=\(property(problem.id))")
        var lines = [SafeText.escape(problem.message)]
        if !problem.help.isEmpty { lines.append("help: " + SafeText.escape(problem.help)) }
        let message = data(lines.joined(separator: "\n"))
        return "::\(entry.severity.rawValue) \(properties.joined(separator: ","))::\(message)"
    }

    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
