internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit

/// A rehearsal that is over.
struct RehearsalReport {
    /// As it was typed; `nil` where people brought their own.
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

    /// Prints the end of the text, or the document, and writes the files that were asked for: what cannot be written costs
    /// nothing of what is printed.
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
                // Standard output has its one document already.
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

    /// - Returns: What was written.
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

    /// What was not run, by reason.
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

    /// An array of `{id, expected, outcome, requestBytes, milliseconds, clientExit, reference}`, the control first. What
    /// was not run has `id`, `outcome` and `remark`.
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
            json.member("alert", alert)
            json.member("remark", remark)
            json.member("isAsItMustBe", outcome == .notRun ? nil : isAsItMustBe)
        }
    }
}

/// How many results of each kind there are.
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

    var sentence: String {
        var parts = ["\(fine) as they must be"]
        if letThrough > 0 { parts.append("\(letThrough) LET THROUGH") }
        if lockedOut > 0 { parts.append("\(lockedOut) wrongly blocked") }
        if inconclusive > 0 { parts.append("\(inconclusive) inconclusive") }
        return parts.joined(separator: ", ")
    }
}

/// A report as JUnit XML, which continuous integration reads: a failure for what was let through or locked out, an error
/// where there is no verdict, skipped for what was not run.
struct RehearsalJUnit {
    private let report: RehearsalReport

    init(_ report: RehearsalReport) {
        self.report = report
    }

    var xml: String {
        let tally = report.tally
        let all = [report.control] + report.results
        let counts =
            "tests=\"\(all.count)\" failures=\"\(tally.letThrough + tally.lockedOut)\" "
            + "errors=\"\(tally.inconclusive)\" skipped=\"\(all.count(where: { $0.outcome == .notRun }))\""
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites \(counts)>",
            "<testsuite name=\"pintle rehearse\" \(counts) time=\"\(Self.seconds(report.duration))\">",
        ]
        for result in all { lines += testCase(result) }
        return (lines + ["</testsuite>", "</testsuites>", ""]).joined(separator: "\n")
    }

    private func testCase(_ result: RehearsalResult) -> [String] {
        let time = Self.seconds(.milliseconds(result.milliseconds ?? 0))
        let head = "<testcase classname=\"pintle.rehearse\" name=\"\(result.attack.id)\" time=\"\(time)\""
        let verdict = "must be \(result.attack.expectation.rawValue), was \(result.outcome.word)"
        let message = Self.text([verdict, result.why].compactMap(\.self).joined(separator: ": "))
        let words = RehearsalText.words(result.clientWords, most: 20).joined(separator: "\n")
        let body = XMLText.escape(
            [
                result.attack.summary, "reference: \(result.attack.reference)",
                "request bytes: \(result.requestBytes)",
                result.clientExit.map { "exit code: \($0)" }, result.alert.map { "alert: \($0)" }, words,
            ].compactMap(\.self).map(Self.clean).joined(separator: "\n")
        ).replacing("&#10;", with: "\n")
        switch result.outcome {
        case .notRun: return [head + ">", "<skipped message=\"\(message)\"/>", "</testcase>"]
        case .inconclusive: return [head + ">", "<error message=\"\(message)\">\(body)</error>", "</testcase>"]
        case _ where !result.isAsItMustBe:
            return [head + ">", "<failure message=\"\(message)\">\(body)</failure>", "</testcase>"]
        default: return [head + "/>"]
        }
    }

    private static func text(_ text: String) -> String { XMLText.escape(clean(text)) }

    /// What XML 1.0 cannot hold (section 2.2) and escaping has left is written as U+FFFD.
    private static func clean(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isAllowed = scalar == "\n" || scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
            scalars.append(isAllowed ? scalar : "\u{FFFD}")
        }
        return String(scalars)
    }

    /// Seconds with three digits behind the point.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = Int(duration / .milliseconds(1))
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
