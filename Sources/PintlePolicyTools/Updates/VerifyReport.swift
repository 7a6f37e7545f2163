internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText
internal import PintleUpdates

/// The output of `verify`: the verdict first, the advice last.
struct VerifyReport {
    let outcome: Result<VerifiedUpdate, UpdateError>
    let trust: UpdateTrust
    let bundled: PinningPolicy?
    let instant: Date
    let invocation: Invocation

    private var path: String { invocation.arguments.positionals[0] }

    var isAccepted: Bool { if case .success = outcome { true } else { false } }

    // MARK: Text

    var report: Report {
        var report = Report()
        report.layout.labelColumns = 10
        switch outcome {
        case .success(let update): add(update, to: &report)
        case .failure(let error): add(error, to: &report)
        }
        return report
    }

    private func add(_ update: VerifiedUpdate, to report: inout Report) {
        let hosts = ValidityText.counted(update.policy.hosts.count, "host")
        let doubt = bundled == nil ? "   scope and floor not checked" : ""
        report.line("\("accepted", .good)   version \(update.version)   \(hosts)\(doubt, .warning)")
        report.gap()
        addSigners(update.signers, to: &report)
        let left = ValidityText.span(from: instant, to: update.expiresAt)
        let (issued, expires) = (ValidityText.day(update.issuedAt), ValidityText.day(update.expiresAt))
        report.fact("issued", "\(issued), expires \(expires) (\(left) left)")
        if let bundled {
            let known = bundled.updateVersion
            report.fact(
                "replaces", known == 0 ? "the bundled policy, which equals no update" : "version \(known)")
            report.fact("changes", PolicyChanges(from: bundled, to: update.policy).lines.map { "\($0)" })
        }
        for name in update.ignoredMembers { report.fact("ignored", "the payload's \(JSONWriter.quoted(name))") }
        addChecks(until: nil, to: &report)
        guard bundled != nil else {
            let command = invocation.commandLine(adding: ["--bundled", "POLICY"])
            return report.next(["see whether an app that shipped POLICY takes it: \(command)"])
        }
        report.next([
            trust.keys.count == 1
                ? "publish it. One key is trusted: ship a second one in the next release" : "publish it"
        ])
    }

    private func add(_ error: UpdateError, to report: inout Report) {
        let reason = error.reason
        report.line("\("REJECTED", .bad)   \(reason.code.rawValue)   \(reason)")
        report.gap()
        report.prose("\(reason.explanation)")
        for line in reason.details { report.line("  \(line)") }
        if !error.signers.isEmpty {
            report.gap()
            addSigners(error.signers, to: &report)
        }
        addChecks(until: reason.code, to: &report)
        report.next(nextSteps(after: reason).map { "\($0)" })
    }

    private func nextSteps(after reason: UpdateError.Reason) -> [String] {
        // No further signature helps.
        if case .thresholdNotMet = reason, trust.threshold > Set(trust.keys.map(\.id)).count {
            return ["name \(trust.threshold) different keys with --trusted"]
        }
        return reason.nextSteps(for: path)
    }

    private func addSigners(_ signers: [UpdateKey], to report: inout Report) {
        var lines: [Line] = signers.map { "\($0.id)" }
        if let last = lines.popLast() { lines.append("\(last)   \(signers.count) of \(trust.threshold) needed") }
        report.fact("signed", lines)
    }

    /// Adds, with `--verbose`, every check in its order, up to the one that failed.
    private func addChecks(until code: UpdateError.Code?, to report: inout Report) {
        guard invocation.isVerbose else { return }
        report.gap()
        for check in UpdateCheck.all {
            let isSkipped = bundled == nil && check.needsBundledPolicy
            let hasFailed = code.map(check.codes.contains) ?? false
            report.fact(
                "\(check.name)",
                hasFailed ? "\("x", .bad)" : isSkipped ? "not checked" : "\("ok", .good)")
            if hasFailed { break }
        }
    }

    // MARK: JSON

    var document: JSONWriter {
        .document { json in
            json.member("result", isAccepted ? "accepted" : "rejected")
            switch outcome {
            case .success(let update): write(update, to: &json)
            case .failure(let error): write(error, to: &json)
            }
            json.member("threshold", trust.threshold)
            if bundled == nil { json.member("notChecked", ["floor", "scope"]) }
        }
    }

    private func write(_ update: VerifiedUpdate, to json: inout JSONWriter) {
        json.member("version", update.version)
        json.member("keyids", update.signers.map(\.id))
        json.member("issuedAt", update.issuedAt)
        json.member("expiresAt", update.expiresAt)
        json.member("hosts", update.policy.hosts.map(\.description))
        if let bundled {
            json.member("isUnchanged", update.isUnchanged)
            json.objects("changes", PolicyChanges(from: bundled, to: update.policy).rules) { json, change in
                json.member("rule", change.rule)
                json.member("changes", change.changes)
            }
        }
        if !update.ignoredMembers.isEmpty { json.member("ignoredMembers", update.ignoredMembers) }
    }

    private func write(_ error: UpdateError, to json: inout JSONWriter) {
        let reason = error.reason
        json.member("error", reason.code.rawValue)
        json.member("version", error.version)
        json.member("keyids", error.signers.map(\.id))
        json.member("message", "\(reason)")
        json.member("next", nextSteps(after: reason).joined(separator: "; "))
        switch reason {
        case .rollback(_, let floor): json.member("minimumVersion", floor)
        case .notYetIssued(let date): json.member("issuedAt", date)
        case .expired(let date): json.member("expiresAt", date)
        case .outOfScope(let problems):
            json.objects("violations", problems) { json, problem in
                json.member("path", problem.path)
                json.member("message", problem.message)
                json.member("help", problem.help)
            }
        case .invalidPolicy(let problems):
            json.objects("problems", problems) { json, problem in
                json.member("id", problem.id)
                json.member("path", problem.path)
                json.member("message", problem.message)
                json.member("help", problem.help)
            }
        default: break
        }
    }
}
