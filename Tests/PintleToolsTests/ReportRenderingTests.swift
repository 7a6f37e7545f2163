import FoundationEssentials
import Pintle
import Testing

@testable import PintleConsole

@Suite("Reports as text")
struct ReportTextTests {
    private func lines(
        _ report: Report, width: Int = 40, recordWidth: Int? = nil, isColored: Bool = false, isVerbose: Bool = false
    ) -> [String] {
        let sink = ByteSink(isTerminal: isColored) { _ in true }
        return ReportText(
            width: width, tableWidth: width, recordWidth: recordWidth ?? width, excerptWidth: width, ellipsis: "…",
            palette: Palette(for: sink, environment: [:], isWanted: true), isVerbose: isVerbose
        ).lines(of: report)
    }

    private func report(_ build: (inout Report) -> Void) -> Report {
        var report = Report()
        build(&report)
        return report
    }

    @Test("A line escapes the values that it gets once, and leaves ordinary ones and its own words as they are")
    func escaping() {
        let attack = "a\u{1B}[2J\u{202E}b\n"
        #expect(Line("é \("Zürich")").text == "é Zürich")
        #expect(Line("\(attack)").text == #"a\u{1B}[2J\u{202E}b\u{A}"#)
        #expect(Line("\(Line(attack))").text == Line(attack).text)
        #expect(Line("\(claim: "Zürich")").text == "Zürich")
        // A stranger may choose letters that run from right to left. In the user's own paths they stay.
        #expect(Line("\(claim: "a\u{5D0}1")").text == #"a\u{5D0}1"#)
        #expect(Line("\("a\u{5D0}1")").text == "a\u{5D0}1")
    }

    @Test("Neighbouring parts of a line with one mark are one part, and an empty part is none")
    func parts() {
        let line: Line = "\("a", .bad)\("b", .bad)\("", .good) c"
        #expect(line.parts == [Line.Part(text: "ab", mark: .bad), Line.Part(text: " c", mark: nil)])
        #expect(Line("a").padded(to: 3).text == "a  " && Line("abc").padded(to: 3).text == "abc")
    }

    @Test("Only a terminal shows marks, and words keep them on the next line")
    func marks() {
        let report = report { $0.fact("x", .wrapped("one \("two three", .bad) four")) }
        #expect(lines(report, width: 17) == ["  x       one two", "          three", "          four"])
        let (red, end) = ("\u{1B}[31m", "\u{1B}[0m")
        #expect(
            lines(report, width: 17, isColored: true) == [
                "  x       one \(red)two\(end)", "          \(red)three\(end)", "          four",
            ])
        #expect(lines(report, isColored: true) == ["  x       one \(red)two three\(end) four"])
    }

    @Test("Values are never broken, sentences between words, and lists between their items")
    func values() {
        let report = report {
            $0.fact("pin", "a value that is longer than its line")
            $0.fact("note", .wrapped("a sentence that is longer than its line"))
            $0.fact("in", .items(["first item", "second item", "third item"]))
        }
        #expect(
            lines(report, width: 34) == [
                "  pin     a value that is longer than its line", "  note    a sentence that is",
                "          longer than its line", "  in      first item, second item,", "          third item",
            ])
    }

    @Test("Names of certificates are shortened in the middle, and shown in full with -v")
    func names() {
        let name = "CN=a certificate with a name that does not fit"
        let report = report {
            $0.fact("by", .name(name, besides: 20))
            $0.fact("for", .names(["first.example.com", "second.example.com", "third.example.com"]))
            $0.fact("of", .name("CN=short", besides: 20))
        }
        #expect(
            lines(report) == [
                "  by      CN=a certi…s not fit", "  for     first.example.com, + 2 more", "  of      CN=short",
            ])
        let full = lines(report, isVerbose: true)
        #expect(full.first == "  by      \(name)" && full.contains("          third.example.com"))
    }

    @Test("A row is one line if it fits; else its last column moves below, and a heading loses it")
    func rows() {
        func row(_ last: Line, _ width: Int, _ kind: Report.RowWidth = .table, recordWidth: Int? = nil) -> [String] {
            lines(report { $0.row("a   b ", last: last, kind) }, width: width, recordWidth: recordWidth)
        }
        #expect(row("", 20) == ["a   b"])
        #expect(row("last words", 18) == ["a   b   last words"])
        #expect(row("last words", 17) == ["a   b", "    last words"])
        #expect(row("last words", 12) == ["a   b", "    last", "    words"])
        #expect(row("last words", 17, .heading) == ["a   b"])
        #expect(row("last words", 18, .heading) == ["a   b   last words"])
        #expect(row("last words", 12, .record) == ["a   b", "    last", "    words"])
        #expect(row("last words", 12, .record, recordWidth: .max) == ["a   b   last words"])
    }

    @Test("A table has its numbers in columns, a long name on its own line, and the facts of each row below it")
    func table() {
        let long = "a-name-that-is-longer-than-forty-eight-columns.example.com"
        let table = Report.Table(
            id: "x", columns: [.init(title: "Server"), .number("Results"), .number("Gaps"), .init(title: "Pins")],
            narrow: 30,
            rows: .all([
                [
                    .init(lines: ["a.test"]), .init(lines: ["12"]), .init(lines: ["0"]),
                    .init(facts: [("\("DIED", .bad)", ["pin", "since"]), ("a label that is long", ["value"])]),
                ], [.init(lines: ["\(long)"]), .init(lines: ["3"]), .init(lines: ["4"]), .init()],
            ]))
        let blanks = String(repeating: " ", count: 44)
        #expect(
            lines(report { $0.table(table) }, width: 80) == [
                "server\(blanks)results  gaps", "a.test\(blanks)     12     0", long,
                "      \(blanks)      3     4", "", "a.test", "  DIED        pin", "              since",
                "  a label that is long  value", "", long,
            ])
    }

    @Test("Text has the lines of a picture, and neither figures nor the rows that only a page has")
    func blocks() {
        let report = report {
            $0.figures([(1, "server", nil)])
            $0.picture(Report.Picture(title: "Page", svg: { "<svg/>" }))
            $0.picture(Report.Picture(text: { width, ellipsis in ["\(width) \(ellipsis)"] }))
            $0.table(
                Report.Table(
                    title: "Page", id: "x", columns: [.init(title: "A")], narrow: 30,
                    rows: .ofPage { write throws(ToolError) in try write([.init(lines: ["row"])]) }))
        }
        #expect(lines(report) == ["40 …"])
    }

    @Test(
        "A list has its labels, details and, if it is spaced, empty lines; several steps have numbers; an empty list is none"
    )
    func list() {
        let spaced = report {
            $0.list("N", [("one", "detail"), ("two", nil)], label: "note", others: "note", isSpaced: true)
            $0.list("none", [], label: "note", isSpaced: true)
        }
        #expect(lines(spaced) == ["", "  note    one", "          detail", "", "  note    two"])
        let plain = report { $0.list("N", [("one", nil), ("two", nil)], label: "next:") }
        #expect(lines(plain) == ["  next:   one", "          two"])
        let steps = report { $0.list("N", [("one", "detail"), ("two", nil)], label: "next:", isSteps: true) }
        #expect(lines(steps) == ["  next:   1. one", "             detail", "          2. two"])
        #expect(lines(report { $0.list("N", [("one", nil)], label: "next:", isSteps: true) }) == ["  next:   one"])
    }
}

@Suite("Reports as pages")
struct ReportHTMLTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func page(_ result: Line = "Fine", _ build: (inout Report) -> Void = { _ in }) throws -> String {
        var report = Report()
        build(&report)
        var html = ""
        let page = ReportPage(kind: "Kind", result: result, verdict: .good, report: report)
        try ReportHTML(page, date: Self.now).write { html += $0 }
        _ = try PageXML.elements(of: html)
        return html
    }

    private func table(isSortable: Bool = false, _ cells: [Report.Table.Cell]) -> Report.Table {
        Report.Table(
            title: "Rows", id: "rows", columns: [.init(title: "Name"), .number("Count")], narrow: 30,
            isSortable: isSortable, rows: .all([cells]))
    }

    @Test("Whatever is inserted is escaped once, at every place of a page")
    func escaping() throws {
        let attack = "</title><script>alert('1')</script>&amp;\"\u{202E}\u{1B}"
        let escaped = #"&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;&quot;\u{202E}\u{1B}"#
        func places(_ text: String) throws -> String {
            try page("1\(text)") {
                $0.fact("2\(text)", .wrapped("3\(text)"))
                $0.fact("", .names(["4\(text)"]))
                $0.fact("", .items(["5\(text)"]))
                $0.fact("", .name(before: "6\(text)", "7\(text)", after: "8\(text)", besides: 0))
                $0.fact("", .title("9\(text)", ""))
                $0.list("10\(text)", [("11\(text)", "12\(text)")])
                $0.picture(Report.Picture(title: "13\(text)", legend: [("key", "14\(text)")]))
                $0.figures([(1, "15\(text)", .bad)])
                $0.table(
                    table([
                        .init(lines: ["16\(text)", "\("17" + text, .code)"], facts: [("18\(text)", ["19\(text)"])]),
                        .init(lines: ["\("20" + text, .link("21" + text))"]),
                    ]))
            }
        }
        let hostile = try places(attack)
        #expect(!hostile.contains("<script") && !hostile.contains("'1'"))
        #expect(!hostile.unicodeScalars.contains { [0x202E, 0x1B].contains($0.value) })
        let ordinary = try places(" Zürich")
        for number in 1...21 {
            #expect(hostile.contains("\(number)\(escaped)"), "\(number)")
            #expect(ordinary.contains("\(number) Zürich"), "\(number)")
        }
    }

    @Test("Marks become elements, and a verdict the class of its cell")
    func marks() throws {
        let html = try page {
            $0.fact("", "\("a", .good) \("b", .strong) \("c", .dim) \("d", .code) \("e", .link("/f"))")
            $0.table(table([.init(lines: ["x"], mark: .bad, order: 3), .init(lines: ["1"])]))
        }
        #expect(
            html.contains(
                "<span class=\"good\">a</span> <strong>b</strong> <small>c</small> <code>d</code> "
                    + "<a href=\"/f\" rel=\"noreferrer\">e</a>"))
        #expect(html.contains("<tr><td class=\"bad\" data-sort=\"3\">x</td><td class=\"number\">1</td></tr>"))
    }

    @Test("A page has its steps first, and neither lines nor prose nor rows of text")
    func blocks() throws {
        let html = try page {
            $0.line("text only")
            $0.prose("text only")
            $0.row("text only", last: "text only", .table)
            $0.picture(Report.Picture(text: { _, _ in ["text only"] }))
            $0.list("Notes", [("note", nil)])
            $0.picture(Report.Picture(title: "Drawing", svg: { "<svg></svg>" }))
            $0.list("What to do", [("step", nil)], isSteps: true)
        }
        #expect(!html.contains("text only"))
        let places = [
            "</header>", "<ol>\n<li>step", "<ul>\n<li>note", "<h2>Drawing</h2>\n<figure tabindex=\"0\"><svg>",
        ].compactMap {
            html.firstRange(of: $0)?.lowerBound
        }
        // A narrow screen shows a part of a drawing, and says so.
        #expect(html.contains("figure::before { content: \"Scroll sideways"))
        #expect(places.count == 4 && places == places.sorted())
    }

    @Test("Only a page with a sortable table has a script, and its policy names no other")
    func script() throws {
        let cells = [Report.Table.Cell(lines: ["x"]), .init()]
        let (sortable, plain) = (
            try page { $0.table(table(isSortable: true, cells)) }, try page { $0.table(table(cells)) }
        )
        #expect(sortable.contains("script-src 'sha256-") && sortable.contains("<script>"))
        #expect(!plain.contains("script-src") && !plain.contains("<script>"))
        for html in [sortable, plain] {
            #expect(html.contains("default-src 'none'; style-src 'sha256-") && !html.contains("unsafe"))
        }
    }

    @Test("A row is written before the next one is made, and an error of a row ends the page")
    func streaming() throws {
        var events: [String] = []
        var report = Report()
        report.table(
            Report.Table(
                id: "x", columns: [.init(title: "A")], narrow: 30,
                rows: .ofPage { write throws(ToolError) in
                    for row in ["first", "second"] {
                        events.append("made \(row)")
                        try write([.init(lines: ["\(row)"])])
                    }
                    throw .unusable("broken", "no more")
                }))
        let page = ReportPage(kind: "Kind", result: "Fine", verdict: nil, report: report)
        #expect(throws: ToolError.self) {
            try ReportHTML(page, date: Self.now).write { text in
                if text.hasPrefix("<tr>") { events.append(text) }
            }
        }
        #expect(
            events == [
                "made first", "<tr><td>first</td></tr>\n", "made second", "<tr><td>second</td></tr>\n",
            ])
    }
}
