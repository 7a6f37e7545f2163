internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleText

/// A lint report in the form of compilers, so that editors jump to each place; and as JSON.
struct LintReportText {
    let entries: [LintProblem]
    /// The warnings that the user accepts.
    let allowed: [LintProblem]
    /// The names of the policy's rules, in their order.
    let rules: [String]
    /// A Boolean value that indicates whether the file has more problems than are listed.
    let hasMore: Bool
    /// The servers that were asked.
    let servers: [LintedServer]
    let file: InputFile

    /// A Boolean value that indicates whether there are no problems, apart from those that the user accepts.
    var isFine: Bool { entries.isEmpty && !hasMore }

    private func count(_ severity: LintProblem.Severity) -> Int { entries.count { $0.severity == severity } }

    var report: Report {
        var report = Report()
        for server in servers {
            guard let fragility = server.fragility, !fragility.isProblem, fragility.until != nil else { continue }
            report.line("\(file.name): note: \(server.endpoint): \(fragility.message)")
            report.line("      help: \(fragility.remedy)")
        }
        for entry in allowed {
            report.line("\(place(of: entry)): allowed: \(entry.problem.id): \(entry.problem.message)")
        }
        guard !isFine else {
            report.line("\("ok", .good)   \(file.name)   \(scope), no problems\(allowance)")
            return report
        }
        let shared = sharedProblems
        var told: Set<SharedProblem> = []
        let sources = SourceLines(of: file.bytes, at: Set(entries.compactMap(\.problem.line)))
        for entry in entries {
            let key = sharedProblem(entry)
            let sharing = key.flatMap { shared[$0] }
            if let key, sharing != nil, !told.insert(key).inserted { continue }
            let problem = entry.problem
            let severity = Line(entry.severity.rawValue, entry.severity == .error ? .bad : .warning)
            let more = sharing.map(others) ?? ""
            report.line("\(place(of: entry)): \(severity): \(problem.id): \(problem.message)\(more)")
            if let line = problem.line, let column = problem.column {
                report.excerpt(of: sources, line: line, column: column)
            }
            if let note = entry.note { report.line("      note: \(note)") }
            if !problem.help.isEmpty { report.line("      help: \(problem.help)") }
        }
        report.gap()
        report.line("\(summary) in \(file.name)\(hasMore ? "; there are more" : "")\(allowance)")
        return report
    }

    /// Returns `policy.json:6:16`, or only the file for a finding without a line.
    private func place(of entry: LintProblem) -> String {
        [file.name, entry.problem.line.map(String.init), entry.problem.column.map(String.init)]
            .compactMap(\.self).joined(separator: ":")
    }

    /// A warning that many rules may share.
    private struct SharedProblem: Hashable {
        let id: String
        /// The message without the name of the rule.
        let message: String
    }

    /// Returns `nil` for errors, and for findings at live servers: a person must see each of them.
    private func sharedProblem(_ entry: LintProblem) -> SharedProblem? {
        guard entry.severity == .warning, entry.server == nil, let index = rule(of: entry) else { return nil }
        let message = entry.problem.message
        return SharedProblem(id: entry.problem.id, message: message.replacing(rules[index], with: "\u{0}"))
    }

    /// Returns the index of the rule that a finding's path names, such as `hosts[3].pins`.
    private func rule(of entry: LintProblem) -> Int? {
        entry.problem.place.ruleIndex.flatMap { rules.indices.contains($0) ? $0 : nil }
    }

    /// The rules of each problem that is shared by more rules than are listed, in their order.
    private var sharedProblems: [SharedProblem: [Int]] {
        guard entries.count > Self.maximumTold else { return [:] }
        var sharing: [SharedProblem: [Int]] = [:]
        for entry in entries {
            guard let key = sharedProblem(entry), let rule = rule(of: entry) else { continue }
            if sharing[key]?.last != rule { sharing[key, default: []].append(rule) }
        }
        return sharing.filter { $0.value.count > Self.maximumTold }
    }

    /// - Parameter sharing: the rules that share a problem; the message names the first.
    private func others(_ sharing: [Int]) -> String {
        let names = sharing.dropFirst().prefix(3).map { rules[$0] }.joined(separator: ", ")
        return "; the same of \(sharing.count - 1) more rules, such as \(names) (--json lists all)"
    }

    private static let maximumTold = 20

    /// Prints a line for each finding, and the totals for people who read the log.
    func annotate(_ console: Console) {
        for entry in allowed { console.print(GitHubAnnotations.line(entry, as: "notice", file: file.name)) }
        for entry in entries {
            console.print(GitHubAnnotations.line(entry, as: entry.severity.rawValue, file: file.name))
        }
        console.printMessage((isFine ? "ok   \(scope), no problems" : summary) + allowance)
    }

    private var allowance: String {
        allowed.isEmpty ? "" : "; \(ValidityText.counted(allowed.count, "warning")) allowed"
    }

    private var scope: String {
        let rules = ValidityText.counted(rules.count, "rule")
        return servers.isEmpty ? rules : "\(rules), \(ValidityText.counted(servers.count, "server"))"
    }

    private var summary: String {
        let errors = ValidityText.counted(count(.error), "error")
        let warnings = ValidityText.counted(count(.warning), "warning")
        return "\(ValidityText.counted(entries.count, "problem")) (\(errors), \(warnings))"
    }

    /// `{"problems": [{"id", "severity", "path", "line", "column", "message", "help"}], "errors", "warnings",
    /// "allowed"}`
    var document: JSONWriter {
        .document { json in
            json.array("problems", entries) { $0.write($1) }
            json.member("errors", count(.error))
            json.member("warnings", count(.warning))
            json.member("hasMore", hasMore ? true : nil)
            if !allowed.isEmpty { json.array("allowed", allowed) { $0.write($1) } }
            guard !servers.isEmpty else { return }
            json.objects("servers", servers) { json, server in
                json.member("host", server.endpoint.host.description)
                json.member("port", server.endpoint.port)
                json.member("decision", server.decision.map { $0.isTrusted ? "trusted" : "rejected" })
                json.member("reason", server.decision?.reason)
                if let fragility = server.fragility {
                    json.object("fragility") { $0.write(Fragility.facts, of: fragility) }
                }
            }
        }
    }
}

extension JSONWriter {
    mutating func write(_ entry: LintProblem) {
        object { json in
            json.member("id", entry.problem.id)
            json.member("severity", entry.severity.rawValue)
            json.member("path", entry.problem.path)
            json.member("line", entry.problem.line)
            json.member("column", entry.problem.column)
            json.member("message", entry.problem.message)
            json.member("help", entry.problem.help)
            json.member("note", entry.note)
            json.member("server", entry.server)
        }
    }
}

/// Findings as commands that GitHub's runners read from a step's output and show in the file.
enum GitHubAnnotations {
    /// `::error file=policy.json,line=6,col=16,title=no-backup-pin::message%0Ahelp: ...`
    static func line(_ entry: LintProblem, as command: String, file: String) -> String {
        let problem = entry.problem
        var properties = ["file=\(property(file))"]
        if let line = problem.line { properties.append("line=\(line)") }
        if let column = problem.column { properties.append("col=\(column)") }
        properties.append("title=\(property(problem.id))")
        var lines = [SafeText.escape(problem.message)]
        if let note = entry.note { lines.append("note: " + SafeText.escape(note)) }
        if !problem.help.isEmpty { lines.append("help: " + SafeText.escape(problem.help)) }
        let message = data(lines.joined(separator: "\n"))
        return "::\(command) \(properties.joined(separator: ","))::\(message)"
    }

    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
