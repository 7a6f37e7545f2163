internal import PintleText

/// The result of a command for people: lines, sentences, labelled facts, lists and tables, in their order.
///
/// ``ReportText`` fits it into a terminal, and ``ReportHTML`` writes it as a page. Each skips the blocks that only the
/// other one shows.
package struct Report {
    enum Block {
        // Only in text. A page has its header and its tables instead.
        case line(Line)
        case gap
        /// A sentence or more, which is wrapped behind so many blanks.
        case prose(Line, indent: Int)
        /// Columns in one line. A last column that does not fit moves to indented lines of its own.
        case row(Line, last: Line, RowWidth)
        /// A line of a file with a mark below a column, both counted from 1.
        case excerpt(SourceLines, line: Int, column: Int)
        // In text and on a page.
        case fact(label: Line, Value, FactLayout)
        case list(List)
        case table(Table)
        case picture(Picture)
        // Only on a page: numbers, each with its words and the mark that it has if it is not 0.
        case figures([(count: Int, words: String, mark: Line.Mark?)])
    }

    /// The value of a fact.
    package enum Value {
        /// A value that is never broken or shortened, such as a pin, a hash, a host, a path or a command.
        case whole(Line)
        /// A sentence that is wrapped between words.
        case wrapped(Line)
        /// A list that is wrapped between its items.
        case items([Line])
        /// A name of a certificate, shortened like ``name(before:_:after:besides:)`` so that the facts behind it fit on
        /// the line.
        case title(String, String)
        /// The names of a certificate: as many as fit on one line, or all of them with `--verbose`.
        case names([String])
        /// A name of a certificate, shortened in its middle unless `--verbose` is given, between the rest of the line,
        /// which takes so many columns.
        case name(before: Line = "", String, after: Line = "", besides: Int)
    }

    /// The columns that a row fills at most.
    package enum RowWidth {
        /// Those of a table.
        case table
        /// Those of a table on a terminal, and any number in a pipe, so that `grep` finds all of a server's row.
        case record
        /// Those of a table. The last column is the heading of an optional column, and is left out if it does not fit.
        case heading
    }

    /// The columns before a fact's label and of the label itself.
    package struct FactLayout {
        var indent: Int
        package var labelColumns: Int

        package init(indent: Int = 2, labelColumns: Int = 8) {
            self.indent = indent
            self.labelColumns = labelColumns
        }
    }

    /// Sentences under a heading on a page, and under a label in text.
    struct List {
        /// The heading on a page.
        let title: String
        let items: [(text: Line, detail: Line?)]
        /// A Boolean value that indicates whether the items are steps to take, which are numbered. A page has them
        /// first, where its reader begins.
        let isSteps: Bool
        /// The labels of the first item and of the others in text.
        let (first, others): (Line, Line)
        /// A Boolean value that indicates whether text has an empty line before each item.
        let isSpaced: Bool
        let layout: FactLayout
    }

    /// A table, whose cells have a name of their column each.
    package struct Table {
        package struct Column {
            let title: String
            /// A Boolean value that indicates whether the column is aligned on the right.
            let isNumber: Bool
            /// A Boolean value that indicates whether a page does not wrap the cells.
            let isWhole: Bool
            /// The width in rem that a page keeps free, and at which even long words are broken; `nil` for a column
            /// that is as wide as its words.
            let minimum: Double?

            package init(title: String, isNumber: Bool = false, isWhole: Bool = false, minimum: Double? = nil) {
                self.title = title
                self.isNumber = isNumber
                self.isWhole = isWhole
                self.minimum = minimum
            }

            package static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
        }

        package struct Cell {
            let lines: [Line]
            /// Facts below the lines. A page shows each in a line, and text below the table.
            let facts: [(label: Line, values: [Line])]
            let mark: Line.Mark?
            /// The number to sort by instead of the text.
            let order: Int?

            package init(
                lines: [Line] = [], facts: [(label: Line, values: [Line])] = [], mark: Line.Mark? = nil,
                order: Int? = nil
            ) {
                self.lines = lines
                self.facts = facts
                self.mark = mark
                self.order = order
            }
        }

        package enum Rows {
            /// Rows of a name, numbers and facts.
            case all([[Cell]])
            /// Rows that only a page shows. They are made one after the other, so that memory does not grow with them.
            case ofPage((_ write: ([Cell]) throws(ToolError) -> Void) throws(ToolError) -> Void)
        }

        /// The heading on a page; none if it is empty.
        let title: String
        let id: String
        let columns: [Column]
        /// The width of the screen, in rem, up to which a page shows each row as a block.
        let narrow: Int
        /// A Boolean value that indicates whether a script of the page sorts the rows by the column that is clicked.
        let isSortable: Bool
        let rows: Rows

        package init(
            title: String = "", id: String, columns: [Column], narrow: Int, isSortable: Bool = false, rows: Rows
        ) {
            self.title = title
            self.id = id
            self.columns = columns
            self.narrow = narrow
            self.isSortable = isSortable
            self.rows = rows
        }
    }

    /// A drawing, which a page shows as SVG and text as lines. Either may be missing.
    package struct Picture {
        /// The heading on a page.
        let title: String
        /// Explanations on a page, each behind a sample of the colour of a class.
        let legend: [(sample: String?, words: String)]
        let svg: (() -> String)?
        /// Returns the lines for so many columns and with this ellipsis.
        let text: ((_ columns: Int, _ ellipsis: String) -> [Line])?

        package init(
            title: String = "", legend: [(sample: String?, words: String)] = [], svg: (() -> String)? = nil,
            text: ((_ columns: Int, _ ellipsis: String) -> [Line])? = nil
        ) {
            self.title = title
            self.legend = legend
            self.svg = svg
            self.text = text
        }
    }

    private(set) var blocks: [Block] = []

    package var isEmpty: Bool { blocks.isEmpty }

    /// The layout of the facts and lists that are added next.
    package var layout = FactLayout()

    package init(_ lines: Line...) {
        for line in lines { self.line(line) }
    }

    package mutating func line(_ line: Line) { blocks.append(.line(line)) }

    /// Adds an empty line.
    package mutating func gap() { blocks.append(.gap) }

    package mutating func prose(_ text: Line, indent: Int = 2) { blocks.append(.prose(text, indent: indent)) }

    package mutating func row(_ line: Line, last: Line, _ width: RowWidth) {
        blocks.append(.row(line, last: last, width))
    }

    package mutating func fact(_ label: Line, _ value: Line) { fact(label, .whole(value)) }

    package mutating func fact(_ label: Line, _ value: Value) { blocks.append(.fact(label: label, value, layout)) }

    /// Adds a fact with several values, one below the other.
    package mutating func fact(_ label: Line, _ values: [Line]) { fact(label, values.map(Value.whole)) }

    package mutating func fact(_ label: Line, _ values: [Value]) {
        for (index, value) in values.enumerated() { fact(index == 0 ? label : "", value) }
    }

    /// Adds a list, unless it is empty.
    ///
    /// - Parameters:
    ///   - label: the label of the first item in text.
    ///   - others: the label of the others.
    package mutating func list(
        _ title: String, _ items: [(text: Line, detail: Line?)], label: Line = "", others: Line = "",
        isSpaced: Bool = false, isSteps: Bool = false
    ) {
        guard !items.isEmpty else { return }
        blocks.append(
            .list(
                List(
                    title: title, items: items, isSteps: isSteps, first: label, others: others, isSpaced: isSpaced,
                    layout: layout)))
    }

    package mutating func table(_ table: Table) { blocks.append(.table(table)) }

    package mutating func picture(_ picture: Picture) { blocks.append(.picture(picture)) }

    package mutating func figures(_ figures: [(count: Int, words: String, mark: Line.Mark?)]) {
        blocks.append(.figures(figures))
    }

    package mutating func excerpt(of lines: SourceLines, line: Int, column: Int) {
        blocks.append(.excerpt(lines, line: line, column: column))
    }

    /// Gives the labels of all facts so many columns that the longest fits.
    package mutating func alignFacts() {
        let longest = blocks.map { if case .fact(let label, _, _) = $0 { label.columns } else { 0 } }.max()
        layout.labelColumns = max(layout.labelColumns, (longest ?? 0) + 2)
        blocks = blocks.map {
            if case .fact(let label, let value, _) = $0 { .fact(label: label, value, layout) } else { $0 }
        }
    }

    /// Adds what to do next, one step a line.
    package mutating func next(_ steps: [Line]) {
        guard !steps.isEmpty else { return }
        gap()
        for (index, step) in steps.enumerated() { line((index == 0 ? "next: " : "      ") + step) }
    }

    package static func += (report: inout Report, other: Report) { report.blocks += other.blocks }
}

/// A report with the header and the foot that it has as a page.
package struct ReportPage {
    /// The kind of report, such as `Audit of servers`.
    let kind: String
    /// The result in one sentence, which is the title and the heading.
    let result: Line
    /// The colour of the result: good, warning or bad.
    let verdict: Line.Mark?
    /// The lines below the heading.
    var facts: [Line]
    /// A Boolean value that indicates whether the page has a wide table.
    let isWide: Bool
    /// A sentence at the end.
    let note: String
    package let report: Report

    package init(
        kind: String, result: Line, verdict: Line.Mark?, facts: [Line] = [], isWide: Bool = false, note: String = "",
        report: Report
    ) {
        self.kind = kind
        self.result = result
        self.verdict = verdict
        self.facts = facts
        self.isWide = isWide
        self.note = note
        self.report = report
    }
}

/// One line of a report, parts of which may be marked.
///
/// Inserted values are escaped, so that text of a certificate or a file cannot move the cursor or reorder the line:
/// `"\("REJECTED", .bad)   \(path)   \(claim: certificate.subject)"`.
package struct Line: ExpressibleByStringInterpolation, Equatable {
    /// The meaning of a part of a line, which a terminal shows as a colour.
    package enum Mark: Equatable {
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
        /// A pin or a name of the tool, which a page shows in another font.
        case code
        /// The text of a link, which only a page has.
        case link(String)
    }

    struct Part: Equatable {
        var text: String
        var mark: Mark?
    }

    private(set) var parts: [Part]

    package init(stringLiteral text: String) { parts = text.isEmpty ? [] : [Part(text: text)] }

    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// Creates a line of escaped text.
    package init(_ text: String, _ mark: Mark? = nil) { self = "\(text, mark)" }

    /// The text without marks.
    var text: String { parts.map(\.text).joined() }

    /// The columns that the line takes on a terminal.
    package var columns: Int { TextLayout.columns(of: text) }

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

    package static func + (line: Line, other: Line) -> Line { "\(line)\(other)" }

    /// Returns this line, a blank and another one. The blank has the mark that both have beside it.
    func spaced(from other: Line) -> Line {
        let mark = parts.last?.mark
        return "\(self)\(" ", mark == other.parts.first?.mark ? mark : nil)\(other)"
    }

    /// Returns the line with blanks behind it.
    package func padded(to width: Int) -> Line { self + Line(String(repeating: " ", count: max(0, width - columns))) }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) { append(text, nil) }

        /// Appends a value of the user's own files and command line, or of this program.
        package mutating func appendInterpolation(_ value: some CustomStringConvertible, _ mark: Mark? = nil) {
            append(SafeText.escape(value.description), mark)
        }

        /// Appends text of a certificate, which a stranger may have chosen: see ``SafeText/claim(_:)``.
        package mutating func appendInterpolation(claim value: some CustomStringConvertible, _ mark: Mark? = nil) {
            append(SafeText.claim(value.description), mark)
        }

        package mutating func appendInterpolation(_ line: Line) {
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

extension [Line] {
    /// The lines, each but the last with a comma behind it.
    var withCommas: [Line] { enumerated().map { $0 < count - 1 ? "\($1)," : $1 } }

    /// The lines as one, with commas between them.
    func joined() -> Line { withCommas.reduce("") { $0.isEmpty ? $1 : "\($0) \($1)" } }
}
