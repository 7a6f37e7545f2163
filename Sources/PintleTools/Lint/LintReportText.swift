internal import Pintle

/// A lint report as compilers write them, so that editors jump to each place; and its JSON twin.
struct LintReportText {
    let report: LintReport
    let file: InputFile

    func print(to console: Console) {
        let name = SafeText.escape(file.name)
        guard !report.findings.isEmpty else {
            let rules = ValidityText.counted(report.policy?.hosts.count ?? 0, "rule")
            console.print(console.palette.good("ok") + "   \(name)   \(rules), no problems")
            return
        }
        let sources = SourceLines(of: file.bytes, at: Set(report.findings.compactMap(\.problem.line)))
        for finding in report.findings {
            let problem = finding.problem
            let place = [name, problem.line.map(String.init), problem.column.map(String.init)]
                .compactMap(\.self).joined(separator: ":")
            let severity = finding.severity.rawValue
            let word = finding.severity == .error ? console.palette.bad(severity) : console.palette.warning(severity)
            console.print("\(place): \(word): \(problem.id): \(SafeText.escape(problem.message))")
            if let line = problem.line, let column = problem.column {
                for text in sources.excerpt(
                    line: line, column: column, width: console.excerptWidth, ellipsis: console.ellipsis)
                {
                    console.print(text)
                }
            }
            if !problem.help.isEmpty { console.print("      help: " + SafeText.escape(problem.help)) }
        }
        console.print()
        let errors = ValidityText.counted(report.errorCount, "error")
        let warnings = ValidityText.counted(report.warningCount, "warning")
        let omitted = report.hasMore ? "; there are more" : ""
        let problems = ValidityText.counted(report.findings.count, "problem")
        console.print("\(problems) (\(errors), \(warnings)) in \(name)\(omitted)")
    }

    /// `{"problems": [{"id", "severity", "path", "line", "column", "message", "help"}], "errors", "warnings"}`
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.array("problems") { json in
                for finding in report.findings { json.write(finding) }
            }
            json.member("errors", report.errorCount)
            json.member("warnings", report.warningCount)
            json.member("hasMore", report.hasMore ? true : nil)
        }
        return json
    }
}

extension JSONWriter {
    mutating func write(_ finding: LintFinding) {
        object { json in
            json.member("id", finding.problem.id)
            json.member("severity", finding.severity.rawValue)
            json.member("path", finding.problem.path)
            json.member("line", finding.problem.line)
            json.member("column", finding.problem.column)
            json.member("message", finding.problem.message)
            json.member("help", finding.problem.help)
        }
    }
}

/// Some lines of a file, found in one pass.
struct SourceLines {
    private let lines: [Int: String]
    /// As much of a line as is ever shown around a place, and some to spare.
    private static let longestKept = 4_096

    init(of bytes: [UInt8], at wanted: Set<Int>) {
        var lines: [Int: String] = [:]
        var number = 1
        var start = 0
        var left = wanted.count
        while left > 0, start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            if wanted.contains(number) {
                lines[number] = String(decoding: bytes[start..<min(end, start + Self.longestKept)], as: UTF8.self)
                left -= 1
            }
            number += 1
            start = end + 1
        }
        self.lines = lines
    }

    /// The line with its number, and a mark below the column; of a long line, what is around the column.
    func excerpt(line: Int, column: Int, width: Int, ellipsis: String) -> [String] {
        guard let source = lines[line] else { return [] }
        // Scalars are what columns count.
        let scalars = source.unicodeScalars.map { $0 == "\t" ? " " : $0 }
        guard column >= 1, column <= scalars.count + 1 else { return [] }
        let room = width - 9
        let start = scalars.count <= room ? 0 : max(0, column - 1 - room / 2)
        let piece = scalars[start..<min(scalars.count, start + room)]
        let shown = piece.map { $0.isUnsafeToPrint ? "?" : String($0) }.joined()
        let lead = start > 0 ? ellipsis : ""
        let tail = piece.endIndex < scalars.count ? ellipsis : ""
        let number = String(repeating: " ", count: max(0, 5 - "\(line)".count)) + "\(line)"
        return [
            "\(number) | \(lead)\(shown)\(tail)",
            "      | " + String(repeating: " ", count: lead.count + column - 1 - start) + "^",
        ]
    }
}
