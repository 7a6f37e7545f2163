internal import Pintle
internal import PintleAttacks
internal import PintleSystem
internal import PintleTestKit

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
    /// The folder of the evidence; `nil` without `--evidence`.
    var evidence: RehearsalRequest.Evidence?
    /// The roots that the client was to trust.
    var anchorsPEM = ""

    /// The facts of a rehearsal through a proxy.
    struct ProxyFacts {
        /// The hosts that the client asked for and that are not named, in the order of their names.
        let refusals: [Proxy.Refusal]
        /// The common names of the roots that a device may have been made to trust.
        let roots: [String]

        /// - Parameter refusals: Those of all runs of the client; the same host may be there several times.
        init(refusals: [Proxy.Refusal], roots: [String]) {
            var counts: [String: Int] = [:]
            for refusal in refusals { counts[refusal.authority, default: 0] += refusal.count }
            self.refusals = counts.sorted { $0.key < $1.key }.map { .init(authority: $0.key, count: $0.value) }
            self.roots = roots
        }

        /// The line that removes the roots from a device.
        var removal: String {
            "remove \(roots.map { "\"\($0)\"" }.joined(separator: " and ")) from every device that trusts them: iOS: "
                + "Settings > General > VPN & Device Management; Android: Settings > Security > Encryption & credentials > "
                + "User credentials; they end by themselves 24 hours after this run began"
        }
    }

    /// The outcomes in the order of the hosts, each host's right server before its attacks.
    var all: [Outcome] {
        controls.flatMap { control in [control] + outcomes.filter { $0.host == control.host } }
    }

    var tally: RehearsalTally { RehearsalTally(outcomes) }

    /// A named host that the client did not ask for was not tested at all. Its name may be misspelt.
    var exitCode: ExitCode {
        outcomes.allSatisfy(\.isAsItMustBe) && unasked.isEmpty ? .fine : .rejected
    }

    /// The named hosts that the client did not ask for.
    private var unasked: [String] { controls.filter { $0.wasNotAsked }.compactMap(\.host) }

    /// `31 attacks in 14.2 s: 28 as they must be, 2 LET THROUGH, 1 inconclusive`
    var sentence: String {
        "\(ValidityText.counted(tally.run, "attack")) in \(ValidityText.seconds(duration)): \(tally.sentence)"
    }

    /// Prints the end of the text, or the JSON document, before it writes the requested files. So a file that cannot be
    /// written does not cost any output.
    func conclude(_ text: RehearsalText, _ invocation: Invocation) throws(ToolError) -> ExitCode {
        guard tally.run > 0 else {
            throw .unusable(
                "nothing-run", "proves nothing: no attack was run",
                hint: outcomes.compactMap(\.remark).first ?? "--only control leaves every attack out")
        }
        let console = invocation.console
        guard !invocation.writesJSON else {
            console.print(document)
            do {
                _ = try writeFiles(invocation.arguments)
            } catch {
                // Standard output already has its one document.
                console.printMessage("pintle: error: " + SafeText.escape("\(error.file ?? ""): \(error.message)"))
                return .unusable
            }
            return exitCode
        }
        if let line = text.hiddenLine() { console.print(line) }
        for (reason, ids) in notRun {
            for (index, line) in TextLayout.wrapped(
                "\(ids.joined(separator: ", ")): \(reason)", width: console.width - 11
            )
            .enumerated() {
                console.print((index == 0 ? "  not run: " : "           ") + line)
            }
        }
        for refusal in proxy?.refusals ?? [] {
            console.print("  not a named host: \(SafeText.escape(refusal.authority)), \(Self.answer(refusal))")
        }
        console.print()
        console.print(sentence)
        for line in TextLayout.wrapped(timing?.sentence ?? "", width: console.width) where timing != nil {
            console.print(console.palette.dim(line))
        }
        let writesFiles = [
            OptionSpecification.rehearsalPage, .rehearsalJUnit, .rehearsalSARIF, .evidence,
        ].contains {
            invocation.arguments.has($0)
        }
        if !writesFiles, advice.isEmpty, exitCode == .fine {
            console.print("next: nothing; run it again when the client or its pins change")
        }
        let advice = advice + unasked.map { "is \($0) spelt right? the client did not ask for it" }
        for (index, advice) in advice.enumerated() {
            for (number, line) in TextLayout.wrapped(advice, width: console.width - 6).enumerated() {
                console.print((index + number == 0 ? "next: " : "      ") + line)
            }
        }
        let files = try writeFiles(invocation.arguments)
        if !files.isEmpty {
            console.print((advice.isEmpty ? "next: " : "      ") + SafeText.escape(files.joined(separator: "   ")))
        }
        if let proxy { for line in TextLayout.wrapped(proxy.removal, width: console.width) { console.print(line) } }
        return exitCode
    }

    /// Returns a text such as `2 connections, answered 403`.
    private static func answer(_ refusal: Proxy.Refusal) -> String {
        "\(ValidityText.counted(refusal.count, "connection")), answered 403"
    }

    /// - Returns: the files that were written.
    private func writeFiles(_ arguments: ParsedArguments) throws(ToolError) -> [String] {
        var files: [String] = []
        // First, because its folder must be empty and another file may be meant for it.
        if let evidence {
            try RehearsalEvidenceFiles(report: self, showsContent: evidence.showsContent)
                .write(to: EvidenceFolder(evidence.path))
            files.append("evidence: \(evidence.path)")
        }
        if let path = arguments[.rehearsalPage] {
            try OutputFile.replace(path, Array(RehearsalPage(self).html.utf8))
            files.append("report: \(path)")
        }
        if let path = arguments[.rehearsalJUnit] {
            try OutputFile.replace(path, Array(RehearsalJUnit(self).xml.utf8))
            files.append("junit: \(path)")
        }
        if let path = arguments[.rehearsalSARIF] {
            let sarif = RehearsalSARIF(self, client: ClientPlace(arguments.positionals))
            try OutputFile.replace(path, sarif.document.bytes + [UInt8(ascii: "\n")])
            files.append("sarif: \(path)")
        }
        return files
    }

    /// The attacks that were not run, by reason.
    private var notRun: [(reason: String, ids: [String])] {
        var groups: [(reason: String, ids: [String])] = []
        let unasked = controls.filter { $0.wasNotAsked }
        var left = unasked.map { ("every attack on \($0.host ?? "")", Outcome.notAsked) }
        left += outcomes.filter { $0.verdict == .notRun && !$0.wasNotAsked }
            .map { ($0.scenario.id, $0.remark ?? "") }
        for (id, reason) in left + Catalogue.omissions {
            if let index = groups.firstIndex(where: { $0.reason == reason }) {
                groups[index].ids.append(id)
            } else {
                groups.append((reason, [id]))
            }
        }
        return groups
    }

    /// An array of `{id, expected, outcome, requestBytes, milliseconds, clientExit, reference, ...}`, the control first. An
    /// attack that is never run has only `id`, `outcome` and `remark`.
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for outcome in all { outcome.write(to: &json) }
            for refusal in proxy?.refusals ?? [] {
                json.object { json in
                    json.member("id", "other-host")
                    json.member("host", refusal.authority)
                    json.member("outcome", Outcome.Verdict.notRun.rawValue)
                    json.member("remark", "not a named host: \(Self.answer(refusal))")
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
    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("id", scenario.id)
            json.member("expected", scenario.expectation.rawValue)
            json.member("outcome", verdict.rawValue)
            json.member("requestBytes", verdict == .notRun ? nil : observation.exposedByteCount)
            json.member("milliseconds", milliseconds)
            json.member("clientExit", clientExit.map { Int($0) })
            json.member("reference", scenario.reference)
            json.member("summary", scenario.summary)
            json.member("host", host)
            json.member("connection", connection)
            json.member("protocol", observation.applicationProtocol)
            json.member("alert", observation.alert.map { "\($0)" })
            json.member("remark", remark)
            json.member("isAsItMustBe", verdict == .notRun ? nil : isAsItMustBe)
            json.member("group", scenario.group?.rawValue)
            scenario.standards.write(to: &json)
        }
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

    init(_ outcomes: [Outcome]) {
        let outcomes = outcomes.filter { $0.verdict != .notRun }
        run = outcomes.count
        fine = outcomes.count(where: \.isAsItMustBe)
        letThrough = outcomes.count { $0.verdict == .letThrough }
        held = outcomes.count { $0.verdict == .held }
        lockedOut = outcomes.count { $0.verdict == .blocked && !$0.isAsItMustBe }
        inconclusive = outcomes.count { $0.verdict == .inconclusive }
    }

    /// The result in one sentence: `2 of 30 attacks were let through`
    var result: String {
        func some(_ count: Int, _ verb: String) -> String {
            "\(count) of \(ValidityText.counted(run, "attack")) \(count == 1 ? "was" : "were") \(verb)"
        }
        if letThrough > 0 { return some(letThrough, "let through") }
        if held > 0 { return "\(ValidityText.counted(held, "attack")) held the client" }
        if lockedOut > 0 {
            return "\(ValidityText.counted(lockedOut, "server")) that must be accepted "
                + (lockedOut == 1 ? "was blocked" : "were blocked")
        }
        if inconclusive > 0 { return some(inconclusive, "inconclusive") }
        return run == 1 ? "The attack ended as it must" : "All \(run) attacks ended as they must"
    }

    var sentence: String {
        var parts = ["\(fine) as they must be"]
        if letThrough > 0 { parts.append("\(letThrough) LET THROUGH") }
        if held > 0 { parts.append("\(held) HELD") }
        if lockedOut > 0 { parts.append("\(lockedOut) wrongly blocked") }
        if inconclusive > 0 { parts.append("\(inconclusive) inconclusive") }
        return parts.joined(separator: ", ")
    }
}
