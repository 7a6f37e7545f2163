/// A table of a page.
///
/// On a narrow screen each row becomes a block: its first cell is the heading, and the others have the column's name
/// before them. The names come from the style sheet, so that a row needs no more text than its cells.
struct ReportTable {
    let id: String
    let columns: [String]
    /// The titles of columns of numbers, which are aligned on the right.
    var numbers: Set<String> = []
    /// The width of the screen, in rem, up to which rows are blocks.
    let widthLimit: Int

    /// The beginning of the table, up to its first row.
    var head: String {
        let cells = columns.map {
            "<th scope=\"col\"\(numbers.contains($0) ? " class=\"number\"" : "")>\(HTMLText.escape($0))</th>"
        }
        return "<table id=\"\(id)\">\n<thead><tr>\(cells.joined())</tr></thead>\n<tbody>\n"
    }

    /// The end of the table.
    var foot: String { "</tbody>\n</table>\n" }

    /// The rules for a narrow screen.
    var style: String {
        let names = columns.enumerated().dropFirst().map { index, name in
            "  td:nth-child(\(index + 1))::before { content: \"\(name)\" }"
        }
        return """
            @media screen and (max-width: \(widthLimit)rem) {
              table, tbody, tr, td { display: block } thead { display: none }
              tr { border: 1px solid var(--rule); border-radius: 6px; background: var(--raised); padding: .5rem .8rem;
                margin-bottom: .7rem }
              td, td.number, td.whole { border: 0; padding: .1rem 0 .1rem 9rem; text-align: left; white-space: normal;
                position: relative; min-height: 1.5rem; min-width: 0; overflow-wrap: anywhere }
              td:first-child { padding-left: 0; font-weight: 600 } td:empty { display: none }
              td::before { position: absolute; left: 0; width: 8.5rem; color: var(--faint); font-weight: 400 }
            \(names.joined(separator: "\n"))
            }
            """
    }

    /// Returns a cell.
    ///
    /// - Parameters:
    ///   - html: the content.
    ///   - classes: such as `number`.
    ///   - order: a number to sort by instead of the text.
    static func cell(_ html: String, _ classes: String = "", order: Int? = nil) -> String {
        let kind = classes.isEmpty ? "" : " class=\"\(classes)\""
        return "<td\(kind)\(order.map { " data-sort=\"\($0)\"" } ?? "")>\(html)</td>"
    }
}
