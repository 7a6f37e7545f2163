import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

@Suite("The page of a history")
struct HistoryPageTests {
    private typealias Scene = HistoryFixture
    private let scene: HistoryFixture

    init() throws {
        scene = try HistoryFixture()
    }

    private func page(_ lines: [String], policy: String? = nil) throws -> (text: String, run: ToolRun) {
        let path = scene.directory.path(of: "page.html")
        let run = scene.run([try scene.write(lines)], "--html", path, policy: policy)
        #expect(run.code != 2, "\(run.errors)")
        return (String(decoding: try scene.directory.read("page.html"), as: UTF8.self), run)
    }

    @Test("Each server has a lane with its certificates, gaps and dead pins, and the page loads nothing")
    func lanes() throws {
        let (text, run) = try page([
            Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1"),
            Scene.line("a.test", "2026-11-11", Scene.unreached),
            Scene.result("a.test", "2026-11-12", leaf: "2", matched: nil),
            Scene.result("b.test", "2026-11-10", leaf: "b", matched: "b"),
            Scene.result("b.test", "2026-11-12", leaf: "b", matched: "b"),
        ])
        #expect(run.code == 1)
        #expect(run.errors == "wrote \(scene.directory.path(of: "page.html"))\n")
        #expect(text.contains("<h1>1 pin stopped matching at 1 of 2 servers</h1>"))
        #expect(text.components("class=\"server\">") == 2)
        #expect(text.contains(">a.test:443</text>") && text.contains(">b.test:443</text>"))
        // Two leaf certificates of one server and one of the other.
        #expect(text.components("height=\"18\"") == 3)
        #expect(text.components("class=\"key1\"") == 1)
        #expect(text.components("fill=\"url(#gap0)\"") == 1)
        #expect(text.contains("2026-11-11T06:00:00Z: connect-timeout</title>"))
        #expect(text.contains("2026-11-12: 1 pin died</text>"))
        #expect(text.contains("<span class=\"bad\">DIED</span> <code>\(Scene.key("1"))</code>"))
        for foreign in ["<script", "http://", "https://", "src=", "href=", "@import", "url(h", "onload", "NaN", "inf"] {
            #expect(!text.contains(foreign), "\(foreign)")
        }
        #expect(text.contains("default-src 'none'") && !text.contains(" style="))
        let elements = try PageXML.elements(of: text)
        #expect(elements.contains("svg") && elements.contains("table"))
    }

    @Test("No text of a record can become markup on the page, or a command of the terminal")
    func hostile() throws {
        let attack =
            #"</title></text></svg><script>alert(1)</script><img src=x onerror='a()'>\"&quot;\u202E\u001B[2J\u05D0"#
        func result(_ day: String, _ leaf: String, _ middle: String, _ root: String) -> String {
            let path = [
                Scene.certificate("leaf", leaf).replacing("CN=Issuer", with: attack),
                Scene.certificate("1", middle, subject: attack), Scene.certificate("root", root, subject: attack),
            ]
            return Scene.line(
                "a.test", day,
                """
                "decision":"trusted","reason":"pin-matched","matchedPin":"\(Scene.key(leaf))","rule":"\(attack)",\
                "certificates":[\(path.joined(separator: ","))]
                """)
        }
        let (text, run) = try page([
            result("2026-11-10", "1", "M1", "R1"), result("2026-11-11", "2", "M2", "R2"),
            Scene.line("a.test", "2026-11-12", #""error":{"code":"\#(attack)"}"#),
            Scene.line(
                "a.test", "2026-11-13", #""decision":"rejected","reason":"invalid-path","pathFailure":"\#(attack)""#),
        ])
        for output in [text, run.output] {
            #expect(!output.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x1B || $0.value == 0x5D0 })
        }
        #expect(!text.contains("<script") && !text.contains("<img") && !text.contains("onerror='"))
        #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        let elements = try PageXML.elements(of: text)
        #expect(elements.contains("svg") && !elements.contains("img") && !elements.contains("script"))
        // The name of the policy file is the user's own text.
        let named = try page(
            [result("2026-11-10", "1", "M1", "R1"), result("2026-11-11", "1", "M1", "R1")],
            policy: scene.policy(pins: [Scene.key("1")], backups: [Scene.key("2")], name: "<b>.json"))
        #expect(named.text.contains("&lt;b&gt;.json") && !named.text.contains("<b>.json"))
    }

    @Test("A drawing of one instant, of one day and of all years has finite places")
    func spans() throws {
        for days in [["2026-11-10"], ["2026-11-10T00:00:00Z", "2026-11-10T23:00:00Z"], ["0000-01-01", "9999-12-31"]] {
            let (text, _) = try page(days.map { Scene.result("a.test", $0, leaf: "1", matched: "1") })
            #expect(!text.contains("nan") && !text.contains("inf"))
            #expect(text.components("class=\"month\"") <= 10)
            #expect(try PageXML.elements(of: text).contains("svg"))
        }
    }

    @Test("A page that cannot be written is an error, and an unreadable result leaves the old page")
    func unwritable() throws {
        let good = try scene.write([Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1")])
        #expect(scene.run([good], "--html", scene.directory.path(of: "none/page.html")).code == 2)
        #expect(scene.run([good], "--html", "/dev/full").code == 2)
        try scene.directory.write("before", to: "page.html")
        let page = scene.directory.path(of: "page.html")
        #expect(scene.run([try scene.write(["{}\n"], to: "bad")], "--html", page).code == 2)
        #expect(try scene.directory.read("page.html") == Array("before".utf8))
        #expect(scene.run([good], "--html", page).code == 0)
        #expect(try scene.directory.read("page.html") != Array("before".utf8))
    }
}

extension String {
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count - 1
    }
}
