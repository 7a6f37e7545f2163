internal import PintleText

/// Fits reports into the columns of a terminal.
struct ReportText {
    /// The columns that a line fills at most, apart from values that are never broken.
    let width: Int
    /// The columns that a row of a table fills at most.
    let tableWidth: Int
    /// The columns that a row about one server fills at most.
    let recordWidth: Int
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
    /// The columns of labels below a table, at least: those of a day.
    private static let labelColumns = 12

    func lines(of report: Report) -> [String] { report.blocks.flatMap(lines) }

    private func lines(of block: Report.Block) -> [String] {
        switch block {
        case .line(let line): [colored(line)]
        case .gap: [""]
        case .prose(let text, let indent):
            TextLayout.wrapped(text.words, width: min(width, Self.proseColumns) - indent).map {
                String(repeating: " ", count: indent) + colored($0)
            }
        case .row(let line, let last, let width): row(line, last, width)
        case .excerpt(let source, let line, let column):
            source.excerpt(line: line, column: column, width: excerptWidth, ellipsis: ellipsis)
        case .fact(let label, let value, let layout): lines(of: value, behind: label, layout)
        case .list(let list): lines(of: list)
        case .table(let table): lines(of: table)
        case .picture(let picture): picture.text?(tableWidth, ellipsis).map(colored) ?? []
        case .figures: []
        }
    }

    private func row(_ line: Line, _ last: Line, _ width: Report.RowWidth) -> [String] {
        let columns = width == .record ? recordWidth : tableWidth
        if !last.isEmpty, line.columns + 2 + last.columns <= columns { return [colored("\(line)  \(last)")] }
        let head = TextLayout.withoutTrailingBlanks(colored(line))
        if last.isEmpty || width == .heading { return [head] }
        return [head] + TextLayout.wrapped(last.words, width: columns - 4).map { "    " + colored($0) }
    }

    private func lines(of list: Report.List) -> [String] {
        let isNumbered = list.isSteps && list.items.count > 1
        // "12. "
        let numberColumns = isNumbered ? "\(list.items.count)".count + 2 : 0
        var layout = list.layout
        layout.labelColumns += numberColumns
        return list.items.enumerated().flatMap { index, item in
            var label = index == 0 ? list.first : list.others
            if isNumbered { label = label.padded(to: list.layout.labelColumns) + Line("\(index + 1).") }
            return (list.isSpaced ? [""] : []) + lines(of: .wrapped(item.text), behind: label, layout)
                + (item.detail.map { lines(of: .wrapped($0), behind: "", layout) } ?? [])
        }
    }

    private func lines(of value: Report.Value, behind label: Line, _ layout: Report.FactLayout) -> [String] {
        let indent = String(repeating: " ", count: layout.indent)
        let head = indent + colored(label.padded(to: layout.labelColumns))
        let room = width - layout.indent - layout.labelColumns
        let lines: [Line] =
            switch value {
            case .whole(let line): [line]
            case .wrapped(let line): TextLayout.wrapped(line.words, width: room)
            case .items(let items): TextLayout.wrapped(items.withCommas, width: room)
            case .names(let names) where isVerbose:
                TextLayout.wrapped(names.map { "\(claim: $0)" }.withCommas, width: room)
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

    /// Returns the numbers of all rows as a table, and below it the facts of each row.
    private func lines(of table: Report.Table) -> [String] {
        guard case .all(let rows) = table.rows, let title = table.columns.first?.title else { return [] }
        let numbers = table.columns.indices.filter { table.columns[$0].isNumber }
        let names = rows.map { $0.first?.lines.first ?? "" }
        let nameColumns = min(Self.nameColumns, names.map(\.columns).max() ?? 0) + 2
        func row(_ name: Line, _ cell: (Int) -> String) -> [String] {
            let numbers = numbers.map { index in
                let text = cell(index)
                return String(repeating: " ", count: max(0, table.columns[index].title.count - text.count)) + text
            }
            .joined(separator: "  ")
            // A long name has a line of its own.
            guard name.columns < nameColumns else {
                return [colored(name), String(repeating: " ", count: nameColumns) + numbers]
            }
            return [colored(name.padded(to: nameColumns)) + numbers]
        }
        let head = row("\(title.lowercased())") { table.columns[$0].title.lowercased() }
        let body = zip(names, rows).flatMap { name, cells in row(name) { cells[$0].lines.first?.text ?? "" } }
        let facts = zip(names, rows).flatMap { name, cells in
            ["", colored(name)] + cells.flatMap(\.facts).flatMap { lines(of: $0) }
        }
        return head + body + facts
    }

    private func lines(of fact: (label: Line, values: [Line])) -> [String] {
        let layout = Report.FactLayout(labelColumns: max(Self.labelColumns, fact.label.columns + 2))
        guard !fact.values.isEmpty else { return ["  " + colored(fact.label)] }
        return fact.values.enumerated().flatMap { lines(of: .wrapped($1), behind: $0 == 0 ? fact.label : "", layout) }
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
            case nil, .code, .link: part.text
            case .good: palette.good(part.text)
            case .bad: palette.bad(part.text)
            case .warning: palette.warning(part.text)
            case .strong: palette.strong(part.text)
            case .dim: palette.dim(part.text)
            }
        }
        .joined()
    }
}
