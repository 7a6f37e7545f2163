internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit

/// The report of a finished rehearsal.
struct RehearsalReport {
    /// The client's command line; `nil` with `--serve`, where users bring their own clients.
    let client: String?
    let control: RehearsalResult
    let results: [RehearsalResult]
    let now: Date
    let duration: Duration
    let advice: [String]

    var tally: RehearsalTally { RehearsalTally(results) }

    var exitCode: ExitCode { results.allSatisfy(\.isAsItMustBe) ? .fine : .rejected }

    /// `31 attacks in 14.2 s: 28 as they must be, 2 LET THROUGH, 1 inconclusive`
    var sentence: String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        let span = "\(tenths / 10).\(tenths % 10) s"
        return "\(ValidityText.counted(tally.run, "attack")) in \(span): \(tally.sentence)"
    }

    /// Prints the end of the text, or the JSON document, before it writes the requested files. So a file that cannot be
    /// written does not cost any output.
    func conclude(_ text: RehearsalText, _ invocation: Invocation) throws(ToolError) -> ExitCode {
        guard tally.run > 0 else {
            throw .unusable(
                "nothing-run", "proves nothing: no attack was run",
                hint: results.compactMap(\.remark).first ?? "--only control leaves every attack out")
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
        console.print()
        console.print(sentence)
        let writesFiles = [OptionSpecification.rehearsalPage, .rehearsalJUnit].contains { invocation.arguments.has($0) }
        if !writesFiles, advice.isEmpty, exitCode == .fine {
            console.print("next: nothing; run it again when the client or its pins change")
        }
        for (index, advice) in advice.enumerated() {
            for (number, line) in TextLayout.wrapped(advice, width: console.width - 6).enumerated() {
                console.print((index + number == 0 ? "next: " : "      ") + line)
            }
        }
        let files = try writeFiles(invocation.arguments)
        if !files.isEmpty {
            console.print((advice.isEmpty ? "next: " : "      ") + SafeText.escape(files.joined(separator: "   ")))
        }
        return exitCode
    }

    /// - Returns: the files that were written.
    private func writeFiles(_ arguments: ParsedArguments) throws(ToolError) -> [String] {
        var files: [String] = []
        if let path = arguments.value(of: .rehearsalPage) {
            try OutputFile.replace(path, Array(RehearsalPage(self).html.utf8))
            files.append("report: \(path)")
        }
        if let path = arguments.value(of: .rehearsalJUnit) {
            try OutputFile.replace(path, Array(RehearsalJUnit(self).xml.utf8))
            files.append("junit: \(path)")
        }
        return files
    }

    /// The attacks that were not run, by reason.
    private var notRun: [(reason: String, ids: [String])] {
        var groups: [(reason: String, ids: [String])] = []
        let left = results.filter { $0.outcome == .notRun }.map { ($0.attack.id, $0.remark ?? "") }
        for (id, reason) in left + AttackCatalogue.omissions {
            if let index = groups.firstIndex(where: { $0.reason == reason }) {
                groups[index].ids.append(id)
            } else {
                groups.append((reason, [id]))
            }
        }
        return groups
    }

    /// An array of `{id, expected, outcome, requestBytes, milliseconds, clientExit, reference}`, the control first. An
    /// attack that is never run has only `id`, `outcome` and `remark`.
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for result in [control] + results { result.write(to: &json) }
            for omission in AttackCatalogue.omissions {
                json.object { json in
                    json.member("id", omission.id)
                    json.member("outcome", RehearsalOutcome.notRun.rawValue)
                    json.member("remark", omission.reason)
                }
            }
        }
        return json
    }
}

extension RehearsalResult {
    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("id", attack.id)
            json.member("expected", attack.expectation.rawValue)
            json.member("outcome", outcome.rawValue)
            json.member("requestBytes", outcome == .notRun ? nil : requestBytes)
            json.member("milliseconds", milliseconds)
            json.member("clientExit", clientExit.map { Int($0) })
            json.member("reference", attack.reference)
            json.member("summary", attack.summary)
            json.member("protocol", applicationProtocol)
            json.member("alert", alert)
            json.member("remark", remark)
            json.member("isAsItMustBe", outcome == .notRun ? nil : isAsItMustBe)
        }
    }
}

/// The number of results of each kind.
struct RehearsalTally {
    let run: Int
    let fine: Int
    let letThrough: Int
    let lockedOut: Int
    let inconclusive: Int

    init(_ results: [RehearsalResult]) {
        let results = results.filter { $0.outcome != .notRun }
        run = results.count
        fine = results.count(where: \.isAsItMustBe)
        letThrough = results.count { $0.outcome == .letThrough }
        lockedOut = results.count { $0.outcome == .blocked && !$0.isAsItMustBe }
        inconclusive = results.count { $0.outcome == .inconclusive }
    }

    /// The result in one sentence: `2 of 30 attacks were let through`
    var result: String {
        func some(_ count: Int, _ verb: String) -> String {
            "\(count) of \(ValidityText.counted(run, "attack")) \(count == 1 ? "was" : "were") \(verb)"
        }
        if letThrough > 0 { return some(letThrough, "let through") }
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
        if lockedOut > 0 { parts.append("\(lockedOut) wrongly blocked") }
        if inconclusive > 0 { parts.append("\(inconclusive) inconclusive") }
        return parts.joined(separator: ", ")
    }
}
