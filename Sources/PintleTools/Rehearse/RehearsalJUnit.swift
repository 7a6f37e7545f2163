internal import Pintle
internal import PintleAttacks

extension RehearsalReport {
    /// Returns the results: an attack that was let through, or a lock-out, is a failure. An attack without a verdict is
    /// an error, and so is a named host that the client did not ask for. An attack that was not run, and a host that
    /// was not judged, are skipped.
    var junit: JUnitReport {
        let others = (proxy?.unlistedHosts ?? []).map { host in
            JUnitReport.Case(
                place: host.authority, name: "other-host", result: .skipped,
                message: "not a named host: \(host.answer); \(host.remedy)")
        }
        return JUnitReport(cases: all.map(JUnitReport.Case.init) + others, duration: duration)
    }
}

extension JUnitReport.Case {
    fileprivate init(_ outcome: Outcome) {
        let result: JUnitReport.Result =
            switch outcome.verdict {
            case .notRun: outcome.wasNotAsked && outcome.scenario.group == nil ? .error : .skipped
            case .inconclusive: .error
            default: outcome.isAsItMustBe ? .passed : .failure
            }
        let verdict = "must be \(outcome.scenario.expectation.rawValue), was \(outcome.verdict.word)"
        let entries = outcome.scenario.standards.entries.map(\.id)
        let body = [
            outcome.scenario.summary, "reference: \(outcome.scenario.reference)",
            entries.isEmpty ? nil : "weaknesses: " + entries.joined(separator: ", "),
            "request bytes: \(outcome.observation.exposedByteCount)",
            outcome.connection.map { "connection: \($0)" },
            outcome.observation.applicationProtocol.map { "protocol: \($0)" },
            outcome.clientExit.map { "exit code: \($0)" }, outcome.observation.alert.map { "alert: \($0)" },
        ]
        self.init(
            place: outcome.host, name: outcome.scenario.id, duration: .milliseconds(outcome.milliseconds ?? 0),
            result: result, message: [verdict, outcome.why].compactMap(\.self).joined(separator: ": "),
            body: body.compactMap(\.self) + [ClientWords(outcome.clientWords).last(20).joined(separator: "\n")])
    }
}
