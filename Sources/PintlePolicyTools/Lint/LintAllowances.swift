internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint

/// The warnings that the user accepts: `--allow ID:HOST`, or `--allow ID` for a warning about the whole file.
struct LintAllowances {
    let names: [String]

    /// - Throws: an error for an id that is unknown or always an error.
    static func check(_ name: String) throws(ToolError) {
        let live = LiveProblem.allCases.map(\.rawValue)
        let id = String(name.prefix { $0 != ":" })
        guard !ProblemIDs.errors.contains(id), id != LiveProblem.unreachable.rawValue else {
            throw .usage("only warnings can be hidden, and \(id) is an error", of: .lint)
        }
        guard (ProblemIDs.warnings + live).contains(id) else {
            let nearest = NearestSpelling.of(id, in: ProblemIDs.errors + ProblemIDs.warnings + live)
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
    func apply(to entries: inout [LintProblem], rules: [String], isComplete: Bool, isLive: Bool) -> [LintProblem] {
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
            entries.append(LintProblem(severity: .warning, problem: problem))
        }
        return allowed
    }
}

extension LintProblem {
    /// The id and the server or rule: `report-only:api.example.com`. Only the id, for a problem of the whole file.
    ///
    /// - Parameter rules: the names of the policy's rules, in their order.
    fileprivate func name(_ rules: [String]) -> String {
        let rule = problem.place.ruleIndex.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
        return (server ?? rule).map { "\(problem.id):\($0)" } ?? problem.id
    }
}

/// The ids of the problems that a policy file can have. Scripts compare them, so they never change, and the article
/// PolicyProblems explains each.
enum ProblemIDs {
    static let errors = [
        "unreadable-file", "missing-resource", "too-large", "byte-order-mark", "invalid-utf8", "empty-document",
        "unexpected-end", "unexpected-character", "comment", "trailing-comma", "trailing-content", "too-deep",
        "duplicate-key", "malformed-number", "non-integer-number", "number-out-of-range", "control-character",
        "invalid-escape", "lone-surrogate", "wrong-type", "missing-key", "unknown-key", "unknown-value",
        "unsupported-version", "invalid-update-version", "invalid-date", "invalid-host", "invalid-port",
        "invalid-path-length", "invalid-pin", "wrong-pin-length", "non-canonical-pin", "empty-input-pin",
        "unsupported-hash", "ambiguous-pin", "anchor-file-not-allowed", "unreadable-anchor-file", "no-anchor",
        "invalid-anchor", "invalid-report-url", "invalid-note", "empty-reason", "address-with-subdomains", "no-pins",
        "backup-without-pin", "no-backup-pin", "duplicate-pin", "pin-without-position", "leaf-and-ca-incomplete",
        "no-anchors", "anchors-too-broad", "duplicate-rule", "report-host-covered", "more-problems",
    ]
    static let warnings = [
        "nothing-pinned", "placeholder-pin", "retired-key", "backup-in-use", "shared-authority-only",
        "single-authority", "family-incomplete", "fragile-pin", "leaf-certificate-only", "no-way-back", "expired",
        "expires-soon", "expiry-without-effect",
        "report-only", "anchor-expired", "path-length-without-effect", "path-length-unusual", "issuer-key-of-leaf",
        "issuer-key-of-root", "public-suffix", "port-rule-wins", "rule-without-effect", "looser-than-parent",
        "subdomains-of-looser-parent", "similar-host", "allow-without-effect", "underscore-in-host",
        "unlikely-server", "info-plist-lacks-key",
    ]
}
