internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

extension RehearsalReport {
    /// Returns the findings: each attack that was let through or held the client, each server that was wrongly blocked,
    /// each attack without a verdict, and each named host that got plain HTTP or no request. Each attack is a rule. A
    /// host that was not judged is a note.
    func sarif(_ client: ClientPlace) -> SARIFReport {
        // Each host has the same attacks.
        var ids: Set<String> = []
        var rules = outcomes.map(\.scenario).filter { ids.insert($0.id).inserted }.map(SARIFReport.Rule.init)
        let notes = (proxy?.unlistedHosts ?? []).map { host in
            SARIFReport.Result(
                rule: SARIFReport.Rule.unlistedHost.id, level: .note,
                message: "the client asked for \(host.authority), which was not judged; \(host.remedy)",
                host: host.authority)
        }
        let warnings = unasked.map { host in
            SARIFReport.Result(
                rule: SARIFReport.Rule.unaskedHost.id, level: .warning,
                message: "the client did not ask for \(host), so it was not tested; is its name spelt right?",
                host: host)
        }
        let plain = controls.filter(\.wasPlainHTTP)
        if !plain.isEmpty { rules.append(.init(.plainHTTP)) }
        if !warnings.isEmpty { rules.append(.unaskedHost) }
        if !notes.isEmpty { rules.append(.unlistedHost) }
        return SARIFReport(
            client: client, exitCode: exitCode,
            note: notChosen.isEmpty
                ? nil : "\(ValidityText.counted(notChosenCount, "attack")) not chosen by --only or --group",
            rules: rules,
            results: (plain + outcomes.filter { !$0.isAsItMustBe }).map(SARIFReport.Result.init) + warnings + notes)
    }
}

extension SARIFReport.Rule {
    fileprivate init(_ scenario: Scenario) {
        self.init(
            id: scenario.id, summary: scenario.summary,
            details: "\(scenario.summary); must be \(scenario.expectation.rawValue): \(scenario.impact)",
            help: ["Reference: " + scenario.reference], standards: scenario.standards, group: scenario.group?.rawValue)
    }

    fileprivate static let unaskedHost = SARIFReport.Rule(
        id: "unasked-host", summary: "a named host that was not tested",
        details: "the client did not ask for this host, which an option named", level: .warning)

    fileprivate static let unlistedHost = SARIFReport.Rule(
        id: "other-host", summary: "a host that was not judged",
        details: "the client asked the proxy for this host, and no option named it", level: .note)
}

extension SARIFReport.Result {
    fileprivate init(_ outcome: Outcome) {
        let verdict = "must be \(outcome.scenario.expectation.rawValue), was \(outcome.verdict.word.lowercased())"
        let why = [verdict, outcome.why].compactMap(\.self).joined(separator: "; ")
        let place = outcome.host.map { " at \($0)" } ?? ""
        self.init(
            rule: outcome.wasPlainHTTP ? SurveyedHost.Answer.plainHTTP.rawValue : outcome.scenario.id,
            level: outcome.verdict == .inconclusive ? .warning : .error,
            message: "\(outcome.scenario.summary)\(place): \(why)", host: outcome.host
        ) { $0.write(Outcome.evidence, of: outcome) }
    }
}
