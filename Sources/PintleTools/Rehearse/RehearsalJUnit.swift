internal import Pintle
internal import PintleAttacks
internal import PintleSystem
internal import PintleTestKit

/// A report as JUnit XML for continuous integration. An attack that was let through, or a lock-out, is a failure. An
/// attack without a verdict is an error, and an attack that was not run is skipped.
struct RehearsalJUnit {
    private let report: RehearsalReport

    init(_ report: RehearsalReport) {
        self.report = report
    }

    var xml: String {
        let tally = report.tally
        let all = report.all
        let counts =
            "tests=\"\(all.count)\" failures=\"\(tally.letThrough + tally.held + tally.lockedOut)\" "
            + "errors=\"\(tally.inconclusive)\" skipped=\"\(all.count(where: { $0.verdict == .notRun }))\""
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites \(counts)>",
            "<testsuite name=\"pintle rehearse\" \(counts) time=\"\(Self.seconds(report.duration))\">",
        ]
        for outcome in all { lines += testCase(outcome) }
        return (lines + ["</testsuite>", "</testsuites>", ""]).joined(separator: "\n")
    }

    private func testCase(_ outcome: Outcome) -> [String] {
        let time = Self.seconds(.milliseconds(outcome.milliseconds ?? 0))
        let place = outcome.host.map { ".\(Self.text($0))" } ?? ""
        let head = "<testcase classname=\"pintle.rehearse\(place)\" name=\"\(outcome.scenario.id)\" time=\"\(time)\""
        let verdict = "must be \(outcome.scenario.expectation.rawValue), was \(outcome.verdict.word)"
        let message = Self.text([verdict, outcome.why].compactMap(\.self).joined(separator: ": "))
        let words = ClientWords(outcome.clientWords).last(20).joined(separator: "\n")
        let body = XMLText.escape(
            [
                outcome.scenario.summary, "reference: \(outcome.scenario.reference)",
                outcome.scenario.standards.entries.isEmpty
                    ? nil : "weaknesses: " + outcome.scenario.standards.entries.map(\.id).joined(separator: ", "),
                "request bytes: \(outcome.observation.exposedByteCount)",
                outcome.connection.map { "connection: \($0)" },
                outcome.observation.applicationProtocol.map { "protocol: \($0)" },
                outcome.clientExit.map { "exit code: \($0)" }, outcome.observation.alert.map { "alert: \($0)" }, words,
            ].compactMap(\.self).map(Self.clean).joined(separator: "\n")
        ).replacing("&#10;", with: "\n")
        switch outcome.verdict {
        case .notRun: return [head + ">", "<skipped message=\"\(message)\"/>", "</testcase>"]
        case .inconclusive: return [head + ">", "<error message=\"\(message)\">\(body)</error>", "</testcase>"]
        case _ where !outcome.isAsItMustBe:
            return [head + ">", "<failure message=\"\(message)\">\(body)</failure>", "</testcase>"]
        default: return [head + "/>"]
        }
    }

    private static func text(_ text: String) -> String { XMLText.escape(clean(text)) }

    /// Replaces the scalars that XML 1.0 cannot hold (section 2.2) by U+FFFD.
    private static func clean(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isAllowed = scalar == "\n" || scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
            scalars.append(isAllowed ? scalar : "\u{FFFD}")
        }
        return String(scalars)
    }

    /// Returns seconds with three decimals.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = Int(duration / .milliseconds(1))
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
