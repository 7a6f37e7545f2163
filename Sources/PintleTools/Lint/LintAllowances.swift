internal import Pintle

/// The warnings that the user accepts: `--allow ID:HOST`, or `--allow ID` for a warning about the whole file.
struct LintAllowances {
    let names: [String]

    /// - Throws: an error for an id that is unknown or always an error.
    static func check(_ name: String) throws(ToolError) {
        let live = LiveProblem.allCases.map(\.rawValue)
        let id = String(name.prefix { $0 != ":" })
        let entry = PolicyProblemTable.entries.first { $0.id == id }
        guard entry?.severity != .error, id != LiveProblem.unreachable.rawValue else {
            throw .usage("only warnings can be hidden, and \(id) is an error", of: .lint)
        }
        guard entry != nil || live.contains(id) else {
            let nearest = NearestSpelling.of(id, in: PolicyProblemTable.entries.map(\.id) + live)
            throw .usage(
                "there is no problem with the id \"\(id)\"" + (nearest.map { "; did you mean \"\($0)\"?" } ?? ""),
                of: .lint)
        }
    }

    /// Removes the accepted warnings, and adds a problem for each name that accepts none.
    ///
    /// An error can keep a rule or a server from being checked, so a name is judged only if there is no error.
    ///
    /// - Parameters:
    ///   - rules: the names of the policy's rules, in their order.
    ///   - isComplete: whether `entries` has all problems of the file.
    ///   - isLive: whether servers were asked. Without them, warnings about servers cannot come.
    /// - Returns: the accepted warnings.
    func apply(to entries: inout [LintEntry], rules: [String], isComplete: Bool, isLive: Bool) -> [LintEntry] {
        guard !names.isEmpty else { return [] }
        let wanted = Set(names)
        let allowed = entries.filter { $0.severity == .warning && wanted.contains($0.name(rules)) }
        entries.removeAll { $0.severity == .warning && wanted.contains($0.name(rules)) }
        guard isComplete, !entries.contains(where: { $0.severity == .error }) else { return allowed }
        var unused = wanted.subtracting(allowed.map { $0.name(rules) })
        let live = LiveProblem.allCases.map(\.rawValue)
        for name in names where unused.remove(name) != nil {
            if !isLive, live.contains(String(name.prefix { $0 != ":" })) { continue }
            let problem = PolicyProblem(
                id: "allow-without-effect", at: .root, message: "--allow \(name) hides nothing",
                help: "remove it, or write it as ID:HOST with the host, and the port, of the message")
            entries.append(LintEntry(LintProblem(severity: .warning, problem: problem)))
        }
        return allowed
    }
}

extension LintEntry {
    /// The id and the server or rule: `report-only:api.example.com`. Only the id, for a problem of the whole file.
    ///
    /// - Parameter rules: the names of the policy's rules, in their order.
    fileprivate func name(_ rules: [String]) -> String {
        let rule = problem.place.ruleIndex.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
        return (server ?? rule).map { "\(problem.id):\($0)" } ?? problem.id
    }
}
