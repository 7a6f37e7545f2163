internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleSystem
internal import PintleText

/// The content of a policy file.
struct PolicyInspection {
    let input: PolicyInput
    let invocation: Invocation

    /// - Throws: the problem that keeps a file from being read as a policy, if it is not one at all.
    func show() throws(ToolError) {
        let lint = input.lint(
            try FamilyFile.builtIn().families, invocation.libraries.publicAuthorities(invocation.environment),
            at: invocation.now)
        let report = lint.report(on: input.file.bytes)
        guard let policy = report.policy else {
            throw input.otherKind ?? ToolError(errors(in: report), file: input.file.name)
        }
        if invocation.writesJSON {
            invocation.console.print(document(policy, report))
        } else {
            print(policy, report)
        }
    }

    private func errors(in report: LintReport) -> PolicyError {
        PolicyError(report.findings.filter { $0.severity == .error }.map(\.problem))
    }

    // MARK: Text

    private func print(_ policy: PinningPolicy, _ lint: LintReport) {
        let rules = ValidityText.counted(policy.hosts.count, "rule")
        var report = Report("\(input.file.name)   policy, \(rules); nothing was verified")
        report += Self.report(on: policy, now: invocation.now)
        invocation.print(report)
        guard !lint.findings.isEmpty else { return }
        let problems = ValidityText.counted(lint.findings.count, "problem")
        invocation.console.printMessage(Report("", "\(problems): see 'pintle lint \(input.file.name)'"))
    }

    /// Returns the content of a policy from a file, an update or a report.
    static func report(on policy: PinningPolicy, now: Date) -> Report {
        var report = Report("")
        report.layout.labelColumns = 13
        switch policy.unpinnedHosts {
        case .systemTrust: report.fact("other hosts", "the system's validation decides")
        case .reject: report.fact("other hosts", "refused")
        case .askUser: report.fact("other hosts", "refused until a person approves them")
        }
        if policy.updateVersion > 0 { report.fact("update", "version \(policy.updateVersion)") }
        if policy.allowsUpdatesForAnyHost { report.fact("updates", "may bring rules for any host") }
        let families = try? FamilyFile.builtIn().families
        for (index, host) in policy.hosts.enumerated() {
            report.gap()
            report += Self.report(on: host, RuleNotes(policy, rule: index, families), now: now)
        }
        return report
    }

    private static func report(on host: PinnedHost, _ notes: RuleNotes, now: Date) -> Report {
        var report = Report("\(host)\(host.includesSubdomains ? " and its sub-domains" : "")")
        report.fact("rule", "\(RuleText.terms(of: host, now: now))")
        if let note = notes.rule { report.fact("note", "\(note)") }
        for pin in host.pins { report.fact("pin", "\(RuleText.pin(pin, note: notes[pin]))") }
        for pin in host.backupPins { report.fact("backup", "\(RuleText.pin(pin, note: notes[pin]))") }
        if host.requires == .leafAndCA { report.fact("requires", "one pin at the leaf and one at a ca") }
        for (label, value) in PathTerm.allCases.compactMap({ RuleText.field(for: $0, of: host) }) {
            report.fact("\(label)", "\(value)")
        }
        for anchor in host.anchors.certificates {
            report.fact("anchor", "\(claim: anchor.subject), \(anchor.fingerprint)")
        }
        if !host.anchors.certificates.isEmpty || !host.anchors.includesSystem {
            report.fact(
                "system",
                host.anchors.includesSystem ? "the system's roots count too" : "the system's roots do not count")
        }
        for url in host.reportTo { report.fact("report", "\(url)") }
        if let reason = host.withdrawalReason { report.fact("withdraws", "\(JSONWriter.quoted(reason))") }
        report.alignFacts()
        return report
    }

    // MARK: JSON

    private func document(_ policy: PinningPolicy, _ report: LintReport) -> JSONWriter {
        .document { json in
            json.member("source", input.file.path)
            json.member("kind", "policy")
            json.member("verified", false)
            json.member("unpinnedHosts", policy.unpinnedHosts.rawValue)
            json.member("updateVersion", policy.updateVersion)
            json.member("ruleCount", policy.hosts.count)
            json.key("policy")
            policy.write(to: &json)
            json.array("problems", report.findings) { json, finding in json.write(finding) }
        }
    }
}
