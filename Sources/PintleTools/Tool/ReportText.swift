/// Fits reports into the columns of a terminal.
struct ReportText {
    /// The columns that a line fills at most, apart from values that are never broken.
    let width: Int
    /// The columns that an excerpt of a file fills at most.
    let excerptWidth: Int
    /// `…`, or three dots where the locale is not UTF-8.
    let ellipsis: String
    let palette: Palette
    /// A Boolean value that indicates whether names are shown in full.
    let isVerbose: Bool

    /// The columns beyond which sentences are hard to read.
    private static let proseColumns = 90
    private static let titleColumns = 51
    private static let nameColumns = 48

    func lines(of report: Report) -> [String] { report.blocks.flatMap(lines) }

    private func lines(of block: Report.Block) -> [String] {
        switch block {
        case .line(let line): [colored(line)]
        case .gap: [""]
        case .prose(let text): wrapped(text, min(width, Self.proseColumns) - 2).map { "  " + colored($0) }
        case .fact(let label, let value, let layout): lines(of: value, behind: label, layout)
        case .table(let table): lines(of: table)
        case .excerpt(let source, let line, let column):
            source.excerpt(line: line, column: column, width: excerptWidth, ellipsis: ellipsis)
        }
    }

    private func lines(of value: Report.Value, behind label: Line, _ layout: Report.FactLayout) -> [String] {
        let indent = String(repeating: " ", count: layout.indent)
        let columns = TextLayout.columns(of: label.text)
        let head = indent + colored(label) + String(repeating: " ", count: max(0, layout.labelColumns - columns))
        let room = width - layout.indent - layout.labelColumns
        let lines: [Line] =
            switch value {
            case .whole(let line): [line]
            case .wrapped(let line): wrapped(line, room)
            case .names(let names) where isVerbose: wrapped("\(claim: names.joined(separator: ", "))", room)
            case .names(let names):
                // The names were escaped before they are measured.
                [Line(TextLayout.list(names.map(SafeText.claim), width: room, ellipsis: ellipsis))]
            case .title(let name, let facts): [title(name, facts, room - 2 - TextLayout.columns(of: facts))]
            case .name(let before, let name, let after, let besides):
                [before + shortened(name, besides: besides) + after]
            }
        let hanging = indent + String(repeating: " ", count: layout.labelColumns)
        return lines.enumerated().map { ($0 == 0 ? head : hanging) + colored($1) }
    }

    private func lines(of table: Report.Table) -> [String] {
        let longest = table.rows.map { TextLayout.columns(of: $0.name.text) }.max() ?? 0
        let nameColumns = min(Self.nameColumns, longest) + 2
        func lines(_ name: Line, _ cells: [String]) -> [String] {
            let numbers = zip(cells, table.numbers).map { cell, title in
                String(repeating: " ", count: max(0, title.count - cell.count)) + cell
            }
            .joined(separator: "  ")
            let columns = TextLayout.columns(of: name.text)
            // A long name has a line of its own.
            guard columns < nameColumns else {
                return [colored(name), String(repeating: " ", count: nameColumns) + numbers]
            }
            return [colored(name) + String(repeating: " ", count: nameColumns - columns) + numbers]
        }
        return lines("\(table.name)", table.numbers)
            + table.rows.flatMap { lines($0.name, $0.numbers.map(String.init)) }
    }

    /// - Parameter room: the columns for the name.
    private func title(_ name: String, _ facts: String, _ room: Int) -> Line {
        let name = SafeText.claim(name)
        let shown = isVerbose ? name : TextLayout.shortened(name, to: room, ellipsis: ellipsis)
        return "\(TextLayout.padded(shown, to: min(Self.titleColumns, room)))  \(facts)"
    }

    private func shortened(_ name: String, besides columns: Int) -> Line {
        let name = SafeText.claim(name)
        return Line(isVerbose ? name : TextLayout.shortened(name, to: max(16, width - columns), ellipsis: ellipsis))
    }

    private func colored(_ line: Line) -> String {
        line.parts.map { part in
            switch part.mark {
            case nil: part.text
            case .good: palette.good(part.text)
            case .bad: palette.bad(part.text)
            case .warning: palette.warning(part.text)
            case .strong: palette.strong(part.text)
            case .dim: palette.dim(part.text)
            }
        }
        .joined()
    }

    /// Breaks a line between words, which keep their marks.
    private func wrapped(_ line: Line, _ width: Int) -> [Line] {
        var words = line.words[...]
        return TextLayout.wrapped(line.text, width: width).map { text in
            let count = text.split(separator: " ").count
            defer { words = words.dropFirst(count) }
            return words.prefix(count).reduce("") { $0.isEmpty ? $1 : "\($0) \($1)" }
        }
    }
}
