import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

@Suite("Plans as text and as a page")
struct PlanPageTests {
    @Test("The page has the sentences of the text, loads nothing and has no script")
    func page() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "plan.html")
        let run = ToolRun(
            "plan", "\(PlanFixture.examples)/old-app.json", "--at", "2026-11-20", "--html", path)
        #expect(run.code == 1)
        #expect(run.errors == "wrote \(path)\n")
        let page = String(decoding: try directory.read("plan.html"), as: UTF8.self)
        #expect(
            page.contains("from 2027-03-01 until 2027-09-01, 12.4 % of users (versions 2.1, 2.2) cannot connect to"))
        #expect(page.contains("2027-03-01: 12.4 %</text>"))
        #expect(page.contains("<svg viewBox="))
        for foreign in ["<script", "http://", "https://", "src=", "href=", "@import", "url(h", "onload", "NaN", "inf"] {
            #expect(!page.contains(foreign), "\(foreign)")
        }
        let document = try PageXML.elements(of: page)
        #expect(document.contains("svg") && document.contains("li"))
    }

    @Test("A version with 3 % of users is an area in the picture and not a hairline; a larger share is a higher one")
    func leastHeight() throws {
        func height(percent: Int) throws -> Double {
            var scene = PlanFixture()
            scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
            scene.share = #"{"at": "2026-11-20", "percent": \#(percent)}"#
            let directory = try TemporaryDirectory()
            let plan = try directory.write(scene.text, to: "plan.json")
            let run = ToolRun("plan", plan, "--at", "2026-11-20", "--html", directory.path(of: "plan.html"))
            #expect(run.code == 0)
            let page = String(decoding: try directory.read("plan.html"), as: UTF8.self)
            let end = try #require(page.firstRange(of: "\" class=\"users\"/>"))
            let start = try #require(page[..<end.lowerBound].lastIndex(of: "M"))
            let points = page[start..<end.lowerBound].split { "MLZ".contains($0) }
            let places = points.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            return try #require(places.max()) - #require(places.min())
        }
        #expect(try height(percent: 3) >= 5)
        #expect(try height(percent: 8) > height(percent: 3))
        #expect(try height(percent: 100) == 42)
    }

    @Test("Names of a plan are plain text on the page and on the terminal, whatever they contain")
    func escaping() throws {
        var scene = PlanFixture()
        let name = #"<b onclick='x'>&amp;\"</b>"#
        scene.keys = scene.keys.replacing("\"next\"", with: "\"\(name)\"")
        scene.after = scene.after.replacing("\"next\"", with: "\"\(name)\"")
        let directory = try TemporaryDirectory()
        let text = scene.text.replacing(#""name": "after""#, with: #""name": "</svg><i>""#)
            .replacing(#""certificate": "after""#, with: #""certificate": "</svg><i>""#)
        let plan = try directory.write(text, to: "plan.json")
        let run = ToolRun("plan", plan, "--at", "2026-11-20", "--html", directory.path(of: "plan.html"))
        #expect(run.code == 1)
        let page = String(decoding: try directory.read("plan.html"), as: UTF8.self)
        #expect(!page.contains("<b ") && !page.contains("<i>"))
        #expect(page.contains("&lt;b onclick=&#39;x&#39;&gt;&amp;amp;&quot;&lt;/b&gt;"))
        #expect(try !PageXML.elements(of: page).contains("i"))
        let odd = ToolRun(
            "plan", plan, "--at", "2026-11-20", "--html", directory.path(of: "missing/plan.html"))
        #expect(odd.code == 2)
    }

    @Test("The table has a column for each month and marks locked-out users")
    func table() throws {
        let run = ToolRun("plan", "\(PlanFixture.examples)/same-key-renewed.json", "--at", "2026-11-20")
        let lines = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.first?.hasPrefix("LOCKED OUT ") == true)
        #expect(lines.contains("2026-12 2027-01 2027-02 2027-03 2027-04 2027-05"))
        #expect(lines.contains("api.example.com winter winter >spring spring spring spring"))
        #expect(lines.contains("version 2.1 36.5 % 32.3 % 28.2 % x 24.4 % 20.2 % 16.2 %"))
        #expect(run.lines.allSatisfy { $0.count <= 80 || $0.contains("Examples/plans") })
        #expect(run.errors.isEmpty)
    }

    @Test("Shares are read and written exactly, and never shown as 0 % or 100 % unless they are")
    func shares() {
        func read(_ text: String) -> Int? { UserShare(decimal: Array(text.utf8))?.units }
        #expect(read("12.4") == 12_400)
        #expect(read("100") == 100_000)
        #expect(read("100.000") == 100_000)
        #expect(read("0.001") == 1)
        for wrong in [
            "", ".", ".5", "5.", "100.001", "101", "-1", "+1", "1e2", "1.0001", "99999999999999999999", "1.2.3",
        ] {
            #expect(read(wrong) == nil, "\(wrong)")
        }
        #expect(UserShare(units: 12_400).decimal == "12.4")
        #expect(UserShare(units: 12_000).decimal == "12")
        #expect(UserShare(units: 12_004).decimal == "12.004")
        let shown = [0, 1, 99, 100, 12_449, 12_450, 99_900, 99_901, 99_999, 100_000].map {
            UserShare(units: $0).description
        }
        #expect(
            shown == [
                "0 %", "under 0.1 %", "under 0.1 %", "0.1 %", "12.4 %", "12.5 %", "99.9 %", "over 99.9 %",
                "over 99.9 %", "100 %",
            ])
    }

    @Test("A share is linear between two points, and constant before the first and after the last")
    func curves() {
        let start = Date(wholeSeconds: 1_800_000_000)
        let curve = ShareCurve(points: [
            .init(at: start, share: UserShare(units: 10_000)),
            .init(at: start.addingDays(10), share: UserShare(units: 20_000)),
            .init(at: start.addingDays(11), share: .none),
        ])
        let found = [-1, 0, 1, 5, 10, 11, 12].map { curve.share(at: start.addingDays($0)).units }
        #expect(found == [10_000, 10_000, 11_000, 15_000, 20_000, 0, 0])
    }
}

/// A reader for the elements of a page, which is XML except for its first line and for tags that need no end.
enum PageXML {
    static func elements(of page: String) throws -> Set<String> {
        var names: Set<String> = []
        var open: [Substring] = []
        var rest = page.dropFirst("<!DOCTYPE html>".count)
        while let start = rest.firstIndex(of: "<") {
            let end = try #require(rest[start...].firstIndex(of: ">"))
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("/") {
                try #require(open.popLast() == tag.dropFirst())
                continue
            }
            let name = tag.prefix { !$0.isWhitespace && $0 != "/" }
            names.insert(String(name))
            if !tag.hasSuffix("/"), !["meta", "br"].contains(name) { open.append(name) }
        }
        try #require(open.isEmpty)
        return names
    }
}
