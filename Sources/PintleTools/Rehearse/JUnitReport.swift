internal import Pintle
internal import PintleConsole
internal import PintleSystem

/// A report of a client as JUnit XML, for continuous integration.
struct JUnitReport {
    enum Result {
        case passed
        case skipped
        case error
        case failure
    }

    struct Case {
        /// The host; `nil` if the client knows only one.
        let place: String?
        let name: String
        var duration = Duration.zero
        let result: Result
        /// The result in one line.
        var message = ""
        /// The details, one a line.
        var body: [String] = []
    }

    let cases: [Case]
    let duration: Duration

    func write(to path: String) throws(ToolError) { try OutputFile.replace(path, Array(xml.utf8)) }

    private var xml: String {
        func count(_ result: Result) -> Int { cases.count { $0.result == result } }
        let counts =
            "tests=\"\(cases.count)\" failures=\"\(count(.failure))\" errors=\"\(count(.error))\" "
            + "skipped=\"\(count(.skipped))\""
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites \(counts)>",
            "<testsuite name=\"pintle rehearse\" \(counts) time=\"\(Self.seconds(duration))\">",
        ]
        for entry in cases { lines += Self.lines(of: entry) }
        return (lines + ["</testsuite>", "</testsuites>", ""]).joined(separator: "\n")
    }

    private static func lines(of entry: Case) -> [String] {
        let place = entry.place.map { ".\(text($0))" } ?? ""
        let head =
            "<testcase classname=\"pintle.rehearse\(place)\" name=\"\(text(entry.name))\" "
            + "time=\"\(seconds(entry.duration))\""
        let message = text(entry.message)
        let body = XMLText.escape(entry.body.map(clean).joined(separator: "\n")).replacing("&#10;", with: "\n")
        switch entry.result {
        case .passed: return [head + "/>"]
        case .skipped: return [head + ">", "<skipped message=\"\(message)\"/>", "</testcase>"]
        case .error: return [head + ">", "<error message=\"\(message)\">\(body)</error>", "</testcase>"]
        case .failure: return [head + ">", "<failure message=\"\(message)\">\(body)</failure>", "</testcase>"]
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
