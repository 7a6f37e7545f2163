internal import Pintle
internal import PintleOpenSSL
internal import PintleSystem

/// The content of a policy file.
struct PolicyInspection {
    let input: PolicyInput
    let invocation: Invocation

    /// - Throws: the problem that keeps a file from being read as a policy, if it is not one at all.
    func show() throws(ToolError) {
        var lint = PolicyLint(at: invocation.now)
        lint.families = try FamilyFile.builtIn().families
        lint.resolvingFile = { path in try input.anchorFile(path) }
        lint.isPublicSuffix = PublicSuffixList.contains
        let authorities = PublicAuthorities(environment: invocation.environment)
        lint.sharedAuthority = { authorities.name(pinnedBy: $0) }
        let report = lint.report(on: input.file.bytes)
        guard let policy = report.policy else { throw ToolError(errors(in: report), file: input.file.name) }
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

    private func print(_ policy: PinningPolicy, _ report: LintReport) {
        let console = invocation.console
        let rules = ValidityText.counted(policy.hosts.count, "rule")
        console.print("\(SafeText.escape(input.file.name))   policy, \(rules); nothing was verified")
        Self.print(policy, to: console, now: invocation.now)
        guard !report.findings.isEmpty else { return }
        console.printMessage(
            "\n\(ValidityText.counted(report.findings.count, "problem")): see 'pintle lint \(input.file.name)'")
    }

    /// Prints the content of a policy from a file, an update or a report.
    static func print(_ policy: PinningPolicy, to console: Console, now: Date) {
        console.print()
        let others =
            switch policy.unpinnedHosts {
            case .systemTrust: "the system's validation decides"
            case .reject: "refused"
            case .askUser: "refused until a person approves them"
            }
        console.print("  other hosts  \(others)")
        if policy.updateVersion > 0 { console.print("  update       version \(policy.updateVersion)") }
        if policy.allowsUpdatesForAnyHost { console.print("  updates      may bring rules for any host") }
        let families = try? FamilyFile.builtIn().families
        for (index, host) in policy.hosts.enumerated() {
            console.print()
            print(host, RuleNotes(policy, rule: index, families), to: console, now: now)
        }
    }

    private static func print(_ host: PinnedHost, _ notes: RuleNotes, to console: Console, now: Date) {
        let terms = RuleText.terms(of: host, now: now)
        console.print("\(host)\(host.includesSubdomains ? " and its sub-domains" : "")")
        var fields: [(label: String, value: String)] = []
        func field(_ label: String, _ value: String) { fields.append((label, value)) }
        field("rule", terms)
        if let note = notes.rule { field("note", SafeText.escape(note)) }
        for pin in host.pins { field("pin", RuleText.pin(pin, note: notes[pin])) }
        for pin in host.backupPins { field("backup", RuleText.pin(pin, note: notes[pin])) }
        if host.requires == .leafAndCA { field("requires", "one pin at the leaf and one at a ca") }
        fields += PathTerm.allCases.compactMap { RuleText.field(for: $0, of: host) }
        for anchor in host.anchors.certificates {
            field("anchor", "\(anchor.subject), \(anchor.fingerprint)")
        }
        if !host.anchors.certificates.isEmpty || !host.anchors.includesSystem {
            field(
                "system",
                host.anchors.includesSystem ? "the system's roots count too" : "the system's roots do not count")
        }
        for url in host.reportTo { field("report", SafeText.escape(url)) }
        if let reason = host.withdrawalReason { field("withdraws", JSONWriter.quoted(reason)) }
        let width = max(8, (fields.map(\.label.count).max() ?? 0) + 2)
        for field in fields { console.print("  " + TextLayout.padded(field.label, to: width) + field.value) }
    }

    // MARK: JSON

    private func document(_ policy: PinningPolicy, _ report: LintReport) -> JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("source", input.file.path)
            json.member("kind", "policy")
            json.member("verified", false)
            json.member("unpinnedHosts", policy.unpinnedHosts.rawValue)
            json.member("updateVersion", policy.updateVersion)
            json.member("ruleCount", policy.hosts.count)
            json.key("policy")
            policy.write(to: &json)
            json.array("problems") { json in
                for finding in report.findings { json.write(finding) }
            }
        }
        return json
    }
}
