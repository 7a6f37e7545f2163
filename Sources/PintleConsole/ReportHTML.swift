internal import Pintle
internal import PintleCrypto
package import PintleSystem

/// Writes a report as a page, piece by piece.
///
/// Each inserted text is escaped once, so that it can neither become markup nor reorder the text around it. A page
/// loads nothing. A content security policy names the hashes of its one style sheet and of its script, if it has one,
/// so that a browser applies and runs nothing else (CSP 3 section 2.3.1).
package struct ReportHTML {
    package typealias Output = (String) throws(ToolError) -> Void

    private let page: ReportPage
    private let date: Date

    /// - Parameter date: when the page is made.
    package init(_ page: ReportPage, date: Date) {
        (self.page, self.date) = (page, date)
    }

    /// Writes the page to a file, which gets its name when it is complete.
    package func write(to path: String) throws(ToolError) {
        let file = try StreamedFile(path)
        try write { text throws(ToolError) in try file.write(text) }
        try file.finish()
    }

    package func write(_ output: Output) throws(ToolError) {
        let lists = page.report.blocks.compactMap { if case .list(let list) = $0 { list } else { nil } }
        try output(head)
        for list in lists where list.isSteps { try output(Self.html(list)) }
        for block in page.report.blocks {
            switch block {
            case .line, .gap, .prose, .row, .excerpt: break
            case .fact(let label, let value, _):
                let (name, text) = (Self.html(label), Self.html(value.full))
                try output("<p class=\"fact\"><span>\(name)</span> <span>\(text)</span></p>\n")
            case .list(let list): if !list.isSteps { try output(Self.html(list)) }
            case .table(let table): try write(table, output)
            case .picture(let picture): try output(Self.html(picture))
            case .figures(let figures): try output(Self.html(figures))
            }
        }
        try output(foot)
    }

    // MARK: The frame

    private var tables: [Report.Table] {
        page.report.blocks.compactMap { if case .table(let table) = $0 { table } else { nil } }
    }

    private var script: String? { tables.contains(where: \.isSortable) ? ReportStyle.sorting : nil }

    private var head: String {
        let sheet = "\n" + ([ReportStyle.sheet] + tables.map(Self.style)).joined(separator: "\n") + "\n"
        let policy = [
            "default-src 'none'", "style-src '\(Self.hash(sheet))'", script.map { "script-src '\(Self.hash($0))'" },
            "base-uri 'none'", "form-action 'none'",
        ]
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="Content-Security-Policy" content="\(policy.compactMap(\.self).joined(separator: "; "))">
            <title>\(HTMLText.escape(page.result.text))</title>
            <style>\(sheet)</style>
            </head>
            <body\(page.isWide ? " class=\"wide\"" : "")>
            <header class="\(Self.name(page.verdict))">
            <p class="kind">\(HTMLText.escape(page.kind))</p>
            <h1>\(Self.html(page.result))</h1>
            \(page.facts.map { "<p>\(Self.html($0))</p>" }.joined(separator: "\n"))
            </header>

            """
    }

    private var foot: String {
        let note = page.note.isEmpty ? "" : HTMLText.escape(page.note) + " "
        return """
            <footer><p>\(note)Made \(RFC3339.string(from: date)) by pintle \(CommandLineTool.version).</p></footer>
            \(script.map { "<script>\($0)</script>\n" } ?? "")</body>
            </html>

            """
    }

    private static func hash(_ text: String) -> String {
        "sha256-" + Base64.encode(SHA256Digest(hashing: Array(text.utf8)).bytes)
    }

    // MARK: Blocks

    private static func html(_ list: Report.List) -> String {
        let element = list.isSteps ? "ol" : "ul"
        let items = list.items.map { item in
            "<li>\(html(item.text))" + (item.detail.map { "<br><small>\(html($0))</small>" } ?? "") + "</li>\n"
        }
        return heading(list.title) + "<\(element)>\n\(items.joined())</\(element)>\n"
    }

    private static func html(_ picture: Report.Picture) -> String {
        let legend = picture.legend.map { sample, words in
            (sample.map { "<span class=\"key \($0)\"></span>" } ?? "") + HTMLText.escape(words)
        }
        return (picture.title.isEmpty ? "" : heading(picture.title))
            + (legend.isEmpty ? "" : "<p><small>\(legend.joined(separator: " "))</small></p>\n")
            + (picture.svg.map { "<figure tabindex=\"0\">\($0())</figure>\n" } ?? "")
    }

    private static func html(_ figures: [(count: Int, words: String, mark: Line.Mark?)]) -> String {
        let figures = figures.map { count, words, mark in
            "<div class=\"\(name(count > 0 ? mark : nil))\"><b>\(count)</b> \(HTMLText.escape(words))</div>"
        }
        return "<div class=\"figures\">\(figures.joined())</div>\n"
    }

    private static func heading(_ title: String) -> String { "<h2>\(HTMLText.escape(title))</h2>\n" }

    // MARK: Tables

    private func write(_ table: Report.Table, _ output: Output) throws(ToolError) {
        let heads = table.columns.map {
            "<th scope=\"col\"\($0.isNumber ? " class=\"number\"" : "")>\(HTMLText.escape($0.title))</th>"
        }
        try output(
            (table.title.isEmpty ? "" : Self.heading(table.title))
                + "<table id=\"\(table.id)\"\(table.isSortable ? " class=\"sortable\"" : "")>\n"
                + "<thead><tr>\(heads.joined())</tr></thead>\n<tbody>\n")
        switch table.rows {
        case .all(let rows): for row in rows { try output(Self.row(row, of: table.columns)) }
        case .ofPage(let rows):
            try rows { row throws(ToolError) in try output(Self.row(row, of: table.columns)) }
        }
        try output("</tbody>\n</table>\n")
    }

    /// Returns a row of a table.
    static func row(_ cells: [Report.Table.Cell], of columns: [Report.Table.Column]) -> String {
        let cells = zip(cells, columns).map { cell, column in
            let classes = [cell.mark.map(name), column.isNumber ? "number" : nil].compactMap(\.self)
            let facts = cell.facts.map { ([$0.label] + $0.values).map(html).joined(separator: " ") }
            return "<td" + (classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\"")
                + (cell.order.map { " data-sort=\"\($0)\"" } ?? "") + ">"
                + (cell.lines.map(html) + facts).joined(separator: "<br>") + "</td>"
        }
        return "<tr>\(cells.joined())</tr>\n"
    }

    /// Returns the rules for the columns of a table.
    ///
    /// On a narrow screen each row becomes a block: its first cell is the heading, and the others have the column's
    /// name before them. The names come from the style sheet, so that a row needs no more text than its cells.
    private static func style(_ table: Report.Table) -> String {
        func rule(_ index: Int, _ rule: String) -> String { "  #\(table.id) td:nth-child(\(index + 1))\(rule)" }
        let widths = table.columns.enumerated().compactMap { index, column in
            if column.isWhole { return rule(index, " { white-space: nowrap }") }
            return column.minimum.map { rule(index, " { min-width: \($0)rem; overflow-wrap: anywhere }") }
        }
        let names = table.columns.enumerated().dropFirst().map { index, column in
            rule(index, "::before { content: \"\(column.title)\" }")
        }
        return """
            @media screen and (min-width: \(table.narrow).01rem) {
            \(widths.joined(separator: "\n"))
            }
            @media screen and (max-width: \(table.narrow)rem) {
              table, tbody, tr, td { display: block } thead { display: none }
              tr { border: 1px solid var(--rule); border-radius: 6px; background: var(--raised); padding: .5rem .8rem;
                margin-bottom: .7rem }
              td, td.number { border: 0; padding: .1rem 0 .1rem 9rem; text-align: left; position: relative;
                min-height: 1.5rem; overflow-wrap: anywhere }
              td:first-child { padding-left: 0; font-weight: 600 } td:empty { display: none }
              td::before { position: absolute; left: 0; width: 8.5rem; color: var(--faint); font-weight: 400 }
            \(names.joined(separator: "\n"))
            }
            """
    }

    // MARK: Text

    static func html(_ line: Line) -> String {
        line.parts.map { part in
            let text = HTMLText.escape(part.text)
            return switch part.mark {
            case nil: text
            case .good, .warning, .bad: "<span class=\"\(name(part.mark))\">\(text)</span>"
            case .strong: "<strong>\(text)</strong>"
            case .dim: "<small>\(text)</small>"
            case .code: "<code>\(text)</code>"
            case .link(let address): "<a href=\"\(HTMLText.escape(address))\" rel=\"noreferrer\">\(text)</a>"
            }
        }
        .joined()
    }

    /// Returns the class of a verdict.
    private static func name(_ mark: Line.Mark?) -> String {
        switch mark {
        case .good: "good"
        case .warning: "warning"
        case .bad: "bad"
        default: "none"
        }
    }
}

extension Report.Value {
    /// The value without any shortening.
    fileprivate var full: Line {
        switch self {
        case .whole(let line), .wrapped(let line): line
        case .items(let items): items.joined()
        case .title(let name, let facts): "\(claim: name)  \(facts)"
        case .names(let names): names.map { "\(claim: $0)" }.joined()
        case .name(let before, let name, let after, _): "\(before)\(claim: name)\(after)"
        }
    }
}
