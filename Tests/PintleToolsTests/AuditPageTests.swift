import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyTools
@testable import PintleTools

@Suite("The page of an audit")
struct AuditPageTests {
    private let directory: TemporaryDirectory
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func page(_ lines: [String]) throws -> String {
        let results = try directory.write(lines.map { $0 + "\n" }.joined(), to: "results.ndjson")
        let path = directory.path(of: "report.html")
        let run = ToolRun(arguments: ["report", results, "--html", path], now: Self.now)
        #expect(run.code != 2, "\(run.errors)")
        return String(decoding: try directory.read("report.html"), as: UTF8.self)
    }

    private func line(
        _ host: String, _ verdict: String = "\"decision\": \"trusted\", \"reason\": \"pin-matched\"",
        ends: Double? = nil,
        more: String = ""
    ) -> String {
        let end = ends.map { ", \"certificateEnds\": \"\(RFC3339.string(from: Self.now + $0 * 86_400))\"" } ?? ""
        return "{\"host\": \"\(host)\", \"port\": 443, \"at\": \"2027-01-15T08:00:00Z\", \(verdict)\(end)\(more)}"
    }

    @Test("No text in a result can become markup, and the page loads nothing")
    func hostile() throws {
        let attack = "</td><script>alert(1)</script><img src=x onerror='a()'>&quot;\\u202E\\u001B[2J"
        let text = try page([
            line("a.test", "\"decision\": \"rejected\", \"reason\": \"\(attack)\", \"pathFailure\": \"\(attack)\""),
            line("b.test", "\"error\": {\"code\": \"\(attack)\", \"message\": \"\(attack)\"}"),
            line(
                "c.test",
                more: ", \"rule\": \"\(attack)\", \"problems\": [{\"id\": \"\(attack)\", \"message\": \"\(attack)\"}]"),
        ])
        #expect(!text.contains("<script>alert") && !text.contains("<img") && !text.contains("onerror='"))
        #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(!text.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x1B })
        #expect(text.components("<script>") == 1 && text.components("</script>") == 1)
        let plain = try page([line("a.test", ends: 10)]).replacing("http://www.w3.org/2000/svg", with: "")
        for outside in ["http://", "https://", "url(", "@import", "src=", "href="] {
            #expect(!plain.contains(outside), "\(outside)")
        }
    }

    @Test("The content security policy of the page allows only its own style and script, by their hashes")
    func contentSecurityPolicy() throws {
        let text = try page([line("a.test")])
        for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
            let content = try #require(text.between("<\(element)>", "</\(element)>"))
            let hash = try runProcess(
                ["bash", "-c", "openssl dgst -sha256 -binary | base64"], input: Array(content.utf8)
            ).output.filter { !$0.isWhitespace }
            #expect(text.contains("\(directive) 'sha256-\(hash)'"))
        }
        #expect(text.contains("default-src 'none'"))
        #expect(!text.contains("unsafe-inline") && !text.contains(" style="))
    }

    @Test("The page lists the worst servers first, and each server in one row")
    func rows() throws {
        let text = try page([
            line("fine.test"), line("late.test", "\"error\": {\"code\": \"connect-timeout\"}"),
            line("warned.test", more: ", \"problems\": [{\"id\": \"live-on-backup\", \"severity\": \"warning\"}]"),
            line("bad.test", "\"decision\": \"rejected\", \"reason\": \"pin-mismatch\""),
        ])
        let servers = try #require(text.between("<table id=\"servers\"", "</table>"))
        let table = try #require(servers.between("<tbody>", "</tbody>"))
        let order = ["bad.test", "late.test", "warned.test", "fine.test"].compactMap { name in
            table.offset(of: "<td>\(name):443</td>")
        }
        #expect(order.count == 4 && order == order.sorted())
        #expect(table.components("<tr>") == 4)
        #expect(
            text.contains("<b>4</b> servers") && text.contains("<b>2</b> trusted") && text.contains("<b>1</b> rejected")
        )
    }

    @Test("The page counts the servers with one kind of problem in one row, and names the first of them")
    func kinds() throws {
        func ends(_ host: String, _ day: String) -> String {
            let message = "the certificate of \(host):443 at leaf ends \(day)"
            return line(
                host,
                more: ", \"problems\": [{\"id\": \"live-certificate-ends\", \"severity\": \"warning\", "
                    + "\"message\": \"\(message)\"}]")
        }
        let late = "\"error\": {\"code\": \"connect-timeout\", \"message\": \"no answer\"}"
        let text = try page([
            line("late.test", late), ends("a.test", "2027-01-20"), ends("b.test", "2027-01-21"),
            ends("c.test", "2027-01-22"), line("fine.test"),
        ])
        let table = try #require(text.between("<table id=\"problems\"", "</table>"))
        #expect(
            table.between("<tbody>\n", "</tbody>") == """
                <tr><td>live-certificate-ends</td><td class="number">3</td>\
                <td>a.test:443: the certificate of the server at leaf ends 2027-01-20</td></tr>
                <tr><td>connect-timeout</td><td class="number">1</td><td>late.test:443: no answer</td></tr>

                """)
        #expect(try !page([line("fine.test")]).contains("id=\"problems\""))
    }

    @Test("The timeline draws each end in its week")
    func timeline() throws {
        var timeline = AuditTimeline(now: Self.now)
        for days in [-1.0, 0, 6.9, 7, 363, 364, 4_000] {
            timeline.add(try AuditRecord(Array(line("a.test", ends: days).utf8)))
        }
        #expect(timeline.bars.indices.filter { timeline.bars[$0].certificates > 0 } == [0, 1, 2, 52, 53])
        #expect([0, 1, 2, 52, 53].map { timeline.bars[$0].certificates } == [1, 2, 1, 1, 2])
        let text = try page([line("a.test", ends: 10, more: ", \"pinsEnd\": \"2028-01-01T00:00:00Z\"")])
        let svg = try #require(text.between("<svg", "</svg>"))
        #expect(svg.components("<rect class=\"certificates\"") == 1)
        #expect(svg.components("<rect class=\"pins\"") == 1)
        #expect(svg.contains("1 certificate; one is a.test:443"))
    }

    @Test("A page that cannot be written is an error and leaves no incomplete file")
    func unwritable() throws {
        let results = try directory.write(line("a.test") + "\n", to: "results.ndjson")
        #expect(ToolRun("report", results, "--html", directory.path(of: "none/report.html")).code == 2)
        #expect(ToolRun("report", results, "--html", "/dev/full").code == 2)
        try directory.write("{}\n", to: "bad.ndjson")
        try directory.write("before", to: "report.html")
        let bad = ToolRun(
            "report", directory.path(of: "bad.ndjson"), "--html", directory.path(of: "report.html"))
        #expect(bad.code == 2)
        #expect(try directory.read("report.html") == Array("before".utf8))
    }
}

extension String {
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count - 1
    }

    fileprivate func between(_ start: String, _ end: String) -> String? {
        let parts = split(separator: start, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return parts[1].split(separator: end, maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
    }

    fileprivate func offset(of text: String) -> Int? {
        let parts = split(separator: text, maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? parts[0].count : nil
    }
}
