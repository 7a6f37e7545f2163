/// The result of a command for people: lines, sentences and labelled facts, in their order.
///
/// A report does not know where it is shown. ``ReportText`` fits it into a terminal.
struct Report {
    enum Block {
        case line(Line)
        case gap
        /// A sentence or more, which is wrapped.
        case prose(Line)
        case fact(label: Line, Value, FactLayout)
        case table(Table)
        /// A line of a file with a mark below a column, both counted from 1.
        case excerpt(SourceLines, line: Int, column: Int)
    }

    /// The value of a fact.
    enum Value {
        /// A value that is never broken or shortened, such as a pin, a hash, a host, a path or a command.
        case whole(Line)
        /// A sentence or a list that is wrapped between words.
        case wrapped(Line)
        /// A name of a certificate, shortened like ``name(before:_:after:besides:)`` so that the facts behind it fit on the line.
        case title(String, String)
        /// The names of a certificate: as many as fit on one line, or all of them with `--verbose`.
        case names([String])
        /// A name of a certificate, shortened in its middle unless `--verbose` is given, between the rest of the line, which
        /// takes so many columns.
        case name(before: Line = "", String, after: Line = "", besides: Int)
    }

    /// The columns before a fact's label and of the label itself.
    struct FactLayout {
        var indent = 2
        var labelColumns = 8
    }

    /// A table of numbers about things with a name, which is never shortened.
    struct Table {
        let name: String
        let numbers: [String]
        let rows: [(name: Line, numbers: [Int])]
    }

    private(set) var blocks: [Block] = []
    /// The layout of the facts that are added next.
    var layout = FactLayout()

    init(_ lines: Line...) {
        for line in lines { self.line(line) }
    }

    mutating func line(_ line: Line) { blocks.append(.line(line)) }

    /// Adds an empty line.
    mutating func gap() { blocks.append(.gap) }

    mutating func prose(_ text: Line) { blocks.append(.prose(text)) }

    mutating func fact(_ label: Line, _ value: Line) { fact(label, .whole(value)) }

    mutating func fact(_ label: Line, _ value: Value) { blocks.append(.fact(label: label, value, layout)) }

    /// Adds a fact with several values, one below the other.
    mutating func fact(_ label: Line, _ values: [Line]) {
        for (index, value) in values.enumerated() { fact(index == 0 ? label : "", value) }
    }

    mutating func table(_ table: Table) { blocks.append(.table(table)) }

    mutating func excerpt(of lines: SourceLines, line: Int, column: Int) {
        blocks.append(.excerpt(lines, line: line, column: column))
    }

    /// Gives the labels of all facts so many columns that the longest fits.
    mutating func alignFacts() {
        let longest = blocks.map {
            if case .fact(let label, _, _) = $0 { TextLayout.columns(of: label.text) } else { 0 }
        }.max()
        layout.labelColumns = max(layout.labelColumns, (longest ?? 0) + 2)
        blocks = blocks.map {
            if case .fact(let label, let value, _) = $0 { .fact(label: label, value, layout) } else { $0 }
        }
    }

    /// Adds what to do next, one step a line.
    mutating func next(_ steps: [Line]) {
        guard !steps.isEmpty else { return }
        gap()
        for (index, step) in steps.enumerated() { line((index == 0 ? "next: " : "      ") + step) }
    }

    static func += (report: inout Report, other: Report) { report.blocks += other.blocks }
}

/// One line of a report, parts of which may be marked.
///
/// Inserted values are escaped, so that text of a certificate or a file cannot move the cursor or reorder the line:
/// `"\("REJECTED", .bad)   \(path)   \(claim: certificate.subject)"`.
struct Line: ExpressibleByStringInterpolation, Equatable {
    /// The meaning of a part of a line, which a terminal shows as a colour.
    enum Mark: Equatable {
        /// Trusted, or blocked as it must be.
        case good
        /// Rejected, let through, an error.
        case bad
        /// A warning, or a server that was accepted and reported.
        case warning
        /// The pin that matched.
        case strong
        /// A time, a path or a serial number.
        case dim
    }

    struct Part: Equatable {
        var text: String
        var mark: Mark?
    }

    private(set) var parts: [Part]

    init(stringLiteral text: String) { parts = text.isEmpty ? [] : [Part(text: text)] }

    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// Creates a line of escaped text.
    init(_ text: String, _ mark: Mark? = nil) { self = "\(text, mark)" }

    /// The text without marks.
    var text: String { parts.map(\.text).joined() }

    var isEmpty: Bool { parts.isEmpty }

    /// The words, between which a line can be broken.
    var words: [Line] {
        var words: [Line] = [""]
        for part in parts {
            for (index, piece) in part.text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
                if index > 0 { words.append("") }
                words[words.count - 1] = words[words.count - 1] + Line(String(piece), part.mark)
            }
        }
        return words.filter { !$0.isEmpty }
    }

    static func + (line: Line, other: Line) -> Line { "\(line)\(other)" }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ text: String) { append(text, nil) }

        /// Appends a value of the user's own files and command line, or of this program.
        mutating func appendInterpolation(_ value: some CustomStringConvertible, _ mark: Mark? = nil) {
            append(SafeText.escape(value.description), mark)
        }

        /// Appends text of a certificate, which a stranger may have chosen: see ``SafeText/claim(_:)``.
        mutating func appendInterpolation(claim value: some CustomStringConvertible, _ mark: Mark? = nil) {
            append(SafeText.claim(value.description), mark)
        }

        mutating func appendInterpolation(_ line: Line) {
            for part in line.parts { append(part.text, part.mark) }
        }

        private mutating func append(_ text: String, _ mark: Mark?) {
            guard !text.isEmpty else { return }
            if let last = parts.indices.last, parts[last].mark == mark {
                parts[last].text += text
            } else {
                parts.append(Part(text: text, mark: mark))
            }
        }
    }
}
