internal import Pintle
internal import PintleAttacks
internal import PintleConsole

extension RehearsalReport {
    /// Returns the results: an attack that was let through, or a lock-out, is a failure. An attack without a verdict is
    /// an error, and so is a named host that the client did not ask for. An attack that was not run or not chosen, and
    /// a host that was not judged, are skipped.
    var junit: JUnitReport {
        let others = (proxy?.unlistedHosts ?? []).map { host in
            JUnitReport.Case(
                place: host.authority, name: "other-host", result: .skipped,
                message: "not a named host: \(host.answer); \(host.remedy)")
        }
        let left: [(place: String?, id: String, reason: String)] =
            controls.flatMap { control in
                notChosen.map { (control.host, $0, "not chosen by --only or --group") }
            } + Catalogue.omissions.map { (nil, $0.id, $0.reason) }
        let skipped = left.map { place, id, reason in
            JUnitReport.Case(place: place, name: id, result: .skipped, message: "not run: \(reason)")
        }
        return JUnitReport(cases: all.map(JUnitReport.Case.init) + others + skipped, duration: duration)
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
        self.init(
            place: outcome.host, name: outcome.scenario.id, duration: .milliseconds(outcome.milliseconds ?? 0),
            result: result, message: [verdict, outcome.why].compactMap(\.self).joined(separator: ": "),
            body: [outcome.scenario.summary] + Outcome.facts.texts(of: outcome)
                + [ClientWords(outcome.clientWords).last(20).joined(separator: "\n")])
    }
}
