import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

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
        #expect(page.contains("<h1>Versions 2.1, 2.2 cannot connect to api.example.com</h1>"))
        #expect(page.contains("from 2027-03-01 until 2027-09-01, versions 2.1, 2.2 cannot connect to"))
        #expect(page.contains(">2027-03-01</text>"))
        #expect(page.contains("<title>version 2.1 cannot connect from 2027-03-01 until 2027-09-01</title>"))
        #expect(!page.contains("version 2.3 cannot connect"))
        #expect(page.contains("<svg viewBox="))
        for foreign in ["<script", "http://", "https://", "src=", "href=", "@import", "url(h", "onload", "NaN", "inf"] {
            #expect(!page.contains(foreign), "\(foreign)")
        }
        let document = try PageXML.elements(of: page)
        #expect(document.contains("svg") && document.contains("li"))
    }

    @Test("The bar of a version goes from its release to the end of its support")
    func bars() throws {
        func bar(until end: String?) throws -> [Double] {
            var scene = PlanFixture()
            scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
            scene.supportedUntil = end
            let directory = try TemporaryDirectory()
            let plan = try directory.write(scene.text, to: "plan.json")
            let run = ToolRun("plan", plan, "--at", "2026-11-20", "--html", directory.path(of: "plan.html"))
            #expect(run.code == 0)
            let page = String(decoding: try directory.read("plan.html"), as: UTF8.self)
            let pattern = #/<rect x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)" height="18" class="users"/>/#
            let match = try #require(page.firstMatch(of: pattern))
            return [Double(match.1) ?? -1, Double(match.2) ?? -1]
        }
        let whole = try bar(until: nil)
        let part = try bar(until: "2027-01-01")
        #expect(whole[0] == 150 && whole[1] == 790)
        #expect(part[0] == 150 && part[1] > 0 && part[1] < 400)
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

    @Test("The table has a column for each month and marks locked-out versions")
    func table() throws {
        let run = ToolRun("plan", "\(PlanFixture.examples)/same-key-renewed.json", "--at", "2026-11-20")
        let lines = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.first?.hasPrefix("LOCKED OUT ") == true)
        #expect(lines.contains("2026-12 2027-01 2027-02 2027-03 2027-04 2027-05"))
        #expect(lines.contains("api.example.com winter winter >spring spring spring spring"))
        #expect(lines.contains("version 2.1 ok ok x ok ok ok"))
        #expect(run.lines.allSatisfy { $0.count <= 80 || $0.contains("Examples/plans") })
        #expect(run.errors.isEmpty)
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
