internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleTestKit
internal import PintleText

/// The report of a finished rehearsal.
struct RehearsalReport {
    /// The client's command line; `nil` with `--serve`, where users bring their own clients.
    let client: String?
    /// One for each host.
    let controls: [Outcome]
    let outcomes: [Outcome]
    let now: Date
    let duration: Duration
    let advice: [String]
    /// `nil` with `--serve`, where users start their clients.
    var timing: RehearsalTiming?
    /// `nil` for a client that connects to the servers.
    var proxy: ProxyFacts?
    /// The ids of the attacks that `--only` and `--group` leave out.
    var notChosen: [String] = []
    /// A Boolean value that indicates whether an attack that no client met is a failure.
    var isStrict = false
    /// The folder of the evidence; `nil` without `--evidence`.
    var evidence: RehearsalRequest.Evidence?
    /// The roots that the client was to trust.
    var anchorsPEM = ""

    /// The facts of a rehearsal through a proxy.
    struct ProxyFacts {
        /// The hosts that the client asked for and that are not named, in the order of their names.
        let unlistedHosts: [Proxy.UnlistedHost]
        /// The common names of the roots that a device may have been made to trust; empty if none can reach the proxy.
        let roots: [String]

        /// - Parameter unlistedHosts: Those of all runs of the client; the same host may be there several times.
        init(unlistedHosts: [Proxy.UnlistedHost], roots: [String]) {
            var counts: [String: Int] = [:]
            for host in unlistedHosts { counts[host.authority, default: 0] += host.count }
            self.unlistedHosts = counts.sorted { $0.key < $1.key }.map { .init(authority: $0.key, count: $0.value) }
            self.roots = roots
        }

        /// The line that removes the roots from a device; `nil` if no device can have them.
        var removal: String? { roots.isEmpty ? nil : TrustMaterial.removal(of: roots, hours: 24) }
    }

    /// The outcomes in the order of the hosts, each host's right server before its attacks.
    var all: [Outcome] {
        controls.flatMap { control in [control] + outcomes.filter { $0.host == control.host } }
    }

    var tally: RehearsalTally { RehearsalTally(outcomes, plainHostCount: plainHosts.count, notChosen: notChosenCount) }

    /// A named host that the client did not ask for was not tested at all. Its name may be misspelt.
    var exitCode: ExitCode {
        outcomes.allSatisfy(\.isAsItMustBe) && unasked.isEmpty && plainHosts.isEmpty && !(isStrict && tally.unmet > 0)
            ? .fine : .rejected
    }

    /// The named hosts that the client did not ask for.
    var unasked: [String] { controls.filter(\.wasNotAsked).compactMap(\.host) }

    /// The named hosts to which the client sent its request without TLS.
    private var plainHosts: [String] { controls.filter(\.wasPlainHTTP).compactMap(\.host) }

    /// `31 attacks in 14.2 s: 28 as they must be, 2 LET THROUGH, 1 inconclusive`
    var sentence: String {
        "\(ValidityText.counted(tally.run, "attack")) in \(ValidityText.seconds(duration)): \(tally.sentence)"
    }

    /// The number of attacks that `--only` and `--group` leave out, on all hosts.
    var notChosenCount: Int { notChosen.count * controls.count }

    /// Writes the requested files, and prints the end of the text or the JSON document. A file that cannot be written
    /// does not cost any output.
    ///
    /// - Parameter rest: the line about the results that were not printed.
    func conclude(after rest: Line?, _ invocation: Invocation) throws(ToolError) -> ExitCode {
        guard tally.run + tally.plainHostCount > 0 else {
            throw .unusable(
                "nothing-run", "proves nothing: no attack was run",
                hint: outcomes.compactMap(\.remark).first ?? "--only control leaves every attack out")
        }
        let files = ReportFiles(page: page, junit: junit, sarif: sarif(ClientPlace(invocation.arguments.positionals)))
        // The evidence comes first, because its folder must be empty and another file may be meant for it.
        let written = files.write(invocation.arguments, now: now) { () throws(ToolError) -> String? in
            guard let evidence else { return nil }
            try RehearsalEvidenceFiles(report: self, showsContent: evidence.showsContent)
                .write(to: EvidenceFolder(evidence.path))
            return "evidence: \(evidence.path)"
        }
        if invocation.writesJSON {
            invocation.console.print(document)
        } else {
            invocation.print(report(after: rest, files: written.lines))
        }
        return try written.end(exitCode, hasDocument: invocation.writesJSON, invocation.console)
    }

    // MARK: Text and page

    private var page: ReportPage {
        let facts: [Line?] = [
            client.map { "Client: \($0, .code)" }, controls.first?.httpVersion.map { "The client chose \($0)." },
            "\(sentence)", timing.map { "\($0.sentence)" }, proxy?.removal.map { "\($0)" },
        ]
        return ReportPage(
            kind: "Rehearsal of attacks", result: "\(tally.result)",
            verdict: exitCode != .fine ? .bad : tally.unmet > 0 || !notChosen.isEmpty ? nil : .good,
            facts: facts.compactMap(\.self), isWide: true, report: report(after: nil, files: []))
    }

    /// Returns the end of the text, which is also the content of the page.
    private func report(after rest: Line?, files: [String]) -> Report {
        var report = Report()
        if let rest { report.line(rest) }
        report.table(table)
        report.layout.labelColumns = 9
        report.list(
            "Not run", notRun.map { reason, ids in ("\(ids.joined(separator: ", "), .code): \(reason)", nil) },
            label: "not run:", others: "not run:")
        report.layout.labelColumns = 18
        report.list(
            "Not a named host",
            (proxy?.unlistedHosts ?? []).map { ("\($0.authority, .code), \($0.answer)", nil) },
            label: "not a named host:", others: "not a named host:")
        report.gap()
        report.line("\(sentence)")
        if let timing { report.prose("\(timing.sentence, .dim)", indent: 0) }
        report.layout = Report.FactLayout(indent: 0, labelColumns: 6)
        let steps =
            plainHosts.map { "\($0) gets plain HTTP, which anyone on the way can read and change: use https" }
            + advice
            + (tally.unmet > 0
                ? ["judged \(tally.run) of all \(outcomes.count) attacks: send the app to the others too"] : [])
            + (notChosen.isEmpty
                ? []
                : ["run it without --only and --group for \(ValidityText.counted(notChosenCount, "more attack"))"])
            + unasked.map { "is \($0) spelt right? the client did not ask for it" }
            + (proxy?.unlistedHosts ?? []).map { "\($0.authority) was asked for and not judged; \($0.remedy)" }
        report.list("What to do", steps.map { ("\($0)", nil) }, label: "next:", isSteps: true)
        let next: Line = steps.isEmpty ? "next: " : "      "
        if !files.isEmpty {
            report.line(next + Line(files.joined(separator: "   ")))
        } else if steps.isEmpty, exitCode == .fine {
            report.line("next: nothing; run it again when the client or its pins change")
        }
        if let removal = proxy?.removal { report.prose("\(removal)", indent: 0) }
        return report
    }

    /// The table of a page. Text has its rows while the rehearsal runs.
    private var table: Report.Table {
        Report.Table(
            title: "Attacks", id: "attacks",
            columns: [
                .init(title: "Attack", isWhole: true), .init(title: "Must be"), .init(title: "Was", isWhole: true),
                .number("Request bytes"), .number("ms"), .number("Exit code"), .init(title: "The server"),
                .init(title: "Remarks", minimum: 8),
            ], narrow: 64,
            rows: .ofPage { write throws(ToolError) in for outcome in all { try write(outcome.cells) } })
    }

    /// The attacks that were not run, by reason.
    private var notRun: [(reason: String, ids: [String])] {
        var groups: [(reason: String, ids: [String])] = []
        let reasonsOfHosts = [Outcome.notAsked, Outcome.plainHTTP]
        var left = unasked.map { ("every attack on \($0)", Outcome.notAsked) }
        left += plainHosts.map { ("every attack on \($0)", Outcome.plainHTTP) }
        left += outcomes.filter { $0.verdict == .notRun }.map { ($0.scenario.id, $0.remark ?? "") }
            .filter { !reasonsOfHosts.contains($0.1) }
        for (id, reason) in left + Catalogue.omissions {
            if let index = groups.firstIndex(where: { $0.reason == reason }) {
                groups[index].ids.append(id)
            } else {
                groups.append((reason, [id]))
            }
        }
        return groups
    }

    /// An array of `{id, expected, outcome, requestBytes, milliseconds, clientExit, reference, ...}`, the control
    /// first. An attack that is never run has only `id`, `outcome` and `remark`.
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for (index, outcome) in all.enumerated() {
                json.object { json in
                    json.write(Outcome.facts, of: outcome)
                    if index == 0, !notChosen.isEmpty { json.member("notChosen", notChosen) }
                }
            }
            for host in proxy?.unlistedHosts ?? [] {
                json.object { json in
                    json.member("id", "other-host")
                    json.member("host", host.authority)
                    json.member("outcome", Outcome.Verdict.notRun.rawValue)
                    json.member("remark", "not a named host: \(host.answer)")
                }
            }
            for omission in Catalogue.omissions {
                json.object { json in
                    json.member("id", omission.id)
                    json.member("outcome", Outcome.Verdict.notRun.rawValue)
                    json.member("remark", omission.reason)
                }
            }
        }
        return json
    }
}

extension Outcome {
    /// The row of a page.
    fileprivate var cells: [Report.Table.Cell] {
        let words = ClientWords(clientWords).last(3)
        let remarks = [
            why, observation.alert.map { "alert \($0)" }, host.flatMap { _ in connection.map { "connection \($0)" } },
            isAsItMustBe || words.isEmpty ? nil : "the client: " + words.joined(separator: " / "),
        ]
        let sources = [scenario.reference] + scenario.standards.entries.map(\.id)
        return [
            .init(lines: ["\(scenario.id, .code)"] + (host.map { ["\($0, .dim)"] } ?? [])),
            .init(lines: ["\(scenario.expectation.rawValue)"]), .init(lines: ["\(verdict.word)"], mark: mark),
            .init(lines: verdict == .notRun ? [] : ["\(observation.exposedByteCount)"]),
            .init(lines: milliseconds.map { ["\($0)"] } ?? []), .init(lines: clientExit.map { ["\($0)"] } ?? []),
            .init(lines: ["\(scenario.summary)", "\(sources.joined(separator: ", "), .dim)"]),
            .init(lines: remarks.compactMap(\.self).map { Line($0) }),
        ]
    }
}

extension Proxy.UnlistedHost {
    /// A text such as `2 connections, answered 403`.
    var answer: String { "\(ValidityText.counted(count, "connection")), answered 403" }

    /// The option that judges the host.
    var remedy: String {
        guard let endpoint = ServerEndpoint(authority), endpoint.host.ipAddress?.isIPv6 != true else {
            return "--survey judges every host"
        }
        // A request without TLS is judged by the name, whatever its port.
        let isUsual = endpoint.port == 443 || endpoint.port == 80
        return "--host \(isUsual ? endpoint.host.description : endpoint.description) judges it"
    }
}

/// The number of outcomes of each kind.
struct RehearsalTally {
    let run: Int
    let fine: Int
    let letThrough: Int
    let held: Int
    let lockedOut: Int
    let inconclusive: Int
    /// The number of attacks that no client met, although servers waited for it.
    let unmet: Int
    private let all: Int
    /// The number of hosts that got plain HTTP, so that no attack on them was run.
    let plainHostCount: Int
    /// The number of attacks that the user left out.
    private let notChosen: Int

    init(_ outcomes: [Outcome], plainHostCount: Int, notChosen: Int = 0) {
        (self.plainHostCount, self.notChosen) = (plainHostCount, notChosen)
        (all, unmet) = (outcomes.count, outcomes.count(where: \.wasUnmet))
        let outcomes = outcomes.filter { $0.verdict != .notRun }
        run = outcomes.count
        fine = outcomes.count(where: \.isAsItMustBe)
        letThrough = outcomes.count { $0.verdict == .letThrough }
        held = outcomes.count { $0.verdict == .held }
        lockedOut = outcomes.count { $0.verdict == .blocked && !$0.isAsItMustBe }
        inconclusive = outcomes.count { $0.verdict == .inconclusive }
    }

    /// The result in one sentence: `2 of 30 attacks were let through; 7 others were not chosen`
    var result: String {
        guard notChosen > 0 else { return resultOfChosen }
        return "\(resultOfChosen); \(notChosen == 1 ? "1 other was" : "\(notChosen) others were") not chosen"
    }

    private var resultOfChosen: String {
        func some(_ count: Int, _ verb: String) -> String {
            "\(count) of \(ValidityText.counted(run, "attack")) \(count == 1 ? "was" : "were") \(verb)"
        }
        if plainHostCount > 0 { return "\(ValidityText.counted(plainHostCount, "host")) got plain HTTP" }
        if letThrough > 0 { return some(letThrough, "let through") }
        if held > 0 { return "\(ValidityText.counted(held, "attack")) held the client" }
        if lockedOut > 0 {
            return "\(ValidityText.counted(lockedOut, "server")) that must be accepted "
                + (lockedOut == 1 ? "was blocked" : "were blocked")
        }
        if inconclusive > 0 { return some(inconclusive, "inconclusive") }
        if unmet > 0 { return "Judged \(run) of all \(all) attacks" }
        return run == 1 ? "The attack ended as it must" : "All \(run) attacks ended as they must"
    }

    var sentence: String {
        var parts = ["\(fine) as they must be"]
        if plainHostCount > 0 { parts.append("\(ValidityText.counted(plainHostCount, "host")) IN THE CLEAR") }
        if letThrough > 0 { parts.append("\(letThrough) LET THROUGH") }
        if held > 0 { parts.append("\(held) HELD") }
        if lockedOut > 0 { parts.append("\(lockedOut) wrongly blocked") }
        if inconclusive > 0 { parts.append("\(inconclusive) inconclusive") }
        if unmet > 0 { parts.append("\(unmet) not met") }
        if notChosen > 0 { parts.append("\(notChosen) not chosen") }
        return parts.joined(separator: ", ")
    }
}
