import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

@Suite("pintle history")
struct AuditHistoryTests {
    private typealias Scene = HistoryFixture
    private let scene: HistoryFixture

    init() throws {
        scene = try HistoryFixture()
    }

    /// Returns the files of three days: `a.test` moves to a new key on the third, `b.test` changes nothing, and
    /// `c.test` was reached once.
    private func days() throws -> [String] {
        let a = [("2026-11-10", "a1"), ("2026-11-11", "a1"), ("2026-11-13", "a2")]
        return try a.enumerated().map { index, one in
            var lines = [
                Scene.result(
                    "a.test", one.0, leaf: one.1, through: index == 2 ? "M2" : "M1", matched: index == 2 ? nil : "a1"),
                Scene.result("b.test", one.0, leaf: "b1", matched: "b1"),
            ]
            if index == 1 { lines.append(Scene.result("c.test", one.0, leaf: "c1", matched: "c1")) }
            if index == 0 { lines.append(Scene.line("a.test", "2026-11-12", Scene.unreached)) }
            return try scene.write(lines, to: "day\(index).ndjson")
        }
    }

    @Test("The text names the server that changed, its days and the pin that died, and counts the others")
    func text() throws {
        let files = try days()
        let run = scene.run(files)
        #expect(run.code == 1)
        #expect(run.errors.isEmpty)
        #expect(
            run.output == """
                PINS LOST   1 pin stopped matching at 1 of 3 servers; 8 results from 2026-11-10 to 2026-11-13

                server      results  gaps  leaf key  certificate  intermediates  root
                a.test:443        3     1         1            1              1     0

                a.test:443
                  2026-11-13  new leaf certificate, new key; other intermediates: CN=M2 (not yet
                              2026-11-11)
                  DIED        \(Scene.key("a1"))
                              seen until 2026-11-11, missing since 2026-11-13; no pin is left
                              that serves (rule a.test)

                1 server changed nothing
                1 server has one result with a valid path, which proves nothing: c.test:443
                judged: the pins that matched in earlier results; name a policy file to judge
                all of its pins

                """)
        // The order of the files has no effect, and a file that is named twice adds nothing but results.
        #expect(scene.run(files.reversed()).output == run.output)
        let again = scene.run(files + [files[0]])
        #expect(again.output == run.output.replacing("8 results", with: "11 results"))
    }

    @Test("Servers that keep their keys are fine, and a single result proves nothing")
    func fine() throws {
        let first = try scene.write([Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1")], to: "1")
        let second = try scene.write([Scene.result("a.test", "2026-11-11", leaf: "1", matched: "1")], to: "2")
        let run = scene.run([first, second])
        #expect(run.code == 0)
        #expect(
            run.output.hasPrefix(
                "ok   No pin stopped matching; 0 of 1 server changed; 2 results from 2026-11-10 to 2026-11-11\n"))
        #expect(run.output.contains("\n1 server changed nothing\n"))
        let single = scene.run([first])
        #expect(single.code == 0)
        #expect(single.output.contains("1 server has one result with a valid path, which proves nothing: a.test:443"))
        #expect(!single.output.contains("changed nothing"))
        let unseen = scene.run([try scene.write([Scene.line("a.test", "2026-11-10", Scene.expired)], to: "3")])
        #expect(unseen.code == 0)
        #expect(unseen.output.contains("1 server showed no valid path in any result: a.test:443"))
    }

    @Test("Without a policy a pin dies by pin-mismatch; if another pin matched since, it is retired")
    func records() throws {
        let first = Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1")
        func run(_ last: String) throws -> ToolRun { scene.run([try scene.write([first, last])], "--json") }
        func states(_ run: ToolRun) throws -> [String?] {
            try run.json()["hosts"]?.firstElement?["pins"]?.elements?.map { $0["state"]?.string } ?? []
        }
        let died = try run(Scene.result("a.test", "2026-11-11", leaf: "2", matched: nil))
        #expect(died.code == 1)
        #expect(try states(died) == ["died"])
        let retired = try run(Scene.result("a.test", "2026-11-11", leaf: "2", matched: "2"))
        #expect(retired.code == 0)
        #expect(try states(retired) == ["retired", "alive"])
        // The policy lost the pin, but the server still shows its key.
        let shown = try run(Scene.result("a.test", "2026-11-11", leaf: "1", matched: nil))
        #expect(shown.code == 0)
        #expect(try states(shown) == ["alive"])
        // The newest result decides: a server that came back has not lost the pin.
        let back = scene.run([
            try scene.write([
                first, Scene.result("a.test", "2026-11-11", leaf: "2", matched: nil),
                Scene.result("a.test", "2026-11-12", leaf: "1", matched: "1"),
            ])
        ])
        #expect(back.code == 0)
        #expect(Self.words(back).contains("an earlier leaf certificate is back, with another key (not yet 2026-11-11)"))
        #expect(
            Self.words(back).contains("went back to an earlier leaf certificate, as a pool of servers does: a.test:443")
        )
        // A mismatch in every result: no pin ever matched, so none died.
        let never = scene.run([
            try scene.write(["10", "11"].map { Scene.result("a.test", "2026-11-\($0)", leaf: "1", matched: nil) })
        ])
        #expect(never.code == 0)
        #expect(Self.words(never).contains("1 server showed none of the pins in any result: a.test:443"))
    }

    @Test("A policy's pins are judged against each path, at the position that the policy names")
    func policy() throws {
        let file = try scene.write([
            Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1"),
            Scene.result("a.test", "2026-11-11", leaf: "2", through: "M2", matched: nil),
        ])
        func pins(_ policy: String) throws -> (code: Int32, states: [String]) {
            let run = scene.run([file], "--json", policy: policy)
            let host = try run.json()["hosts"]?.firstElement
            return (run.code, host?["pins"]?.elements?.compactMap { $0["state"]?.string } ?? [])
        }
        func located(_ name: String, _ position: String) -> String {
            "{\"spki\": \"\(Scene.key(name))\", \"at\": \"\(position)\"}"
        }
        let mixed = try pins(
            scene.policy(pins: [Scene.key("1"), Scene.key("R1")], backups: [Scene.key("2"), Scene.key("spare")]))
        #expect(mixed.code == 1)
        #expect(mixed.states == ["died", "alive", "alive", "unseen"])
        let alive = try pins(scene.policy(pins: [Scene.key("R1")], backups: [Scene.key("2"), Scene.key("spare")]))
        #expect(alive.code == 0)
        #expect(alive.states == ["alive", "alive", "unseen"])
        let places = try pins(
            scene.policy(
                pins: [located("R1", "ca"), located("1", "leaf")], backups: [located("M2", "leaf"), located("2", "ca")])
        )
        #expect(places.states == ["alive", "died", "unseen", "unseen"])
        let certificate = try pins(
            scene.policy(
                pins: ["{\"certificate\": \"\(Scene.fingerprint("M1"))\"}"],
                backups: ["{\"certificate\": \"\(Scene.fingerprint("R1"))\"}"]))
        #expect(certificate.states == ["died", "alive"])
    }

    @Test("The text of a dead pin says if another pin of the rule still serves")
    func served() throws {
        let file = try scene.write([
            Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1"),
            Scene.result("a.test", "2026-11-11", leaf: "2", matched: "2"),
        ])
        let served = scene.run([file], policy: try scene.policy(pins: [Scene.key("1")], backups: [Scene.key("2")]))
        #expect(served.code == 1)
        #expect(Self.words(served).contains("missing since 2026-11-11; another pin serves"))
        #expect(Self.words(served).contains("judged: the pins of \(scene.directory.path(of: "policy.json"))"))
        let lost = scene.run([file], policy: try scene.policy(pins: [Scene.key("1")], backups: [Scene.key("spare")]))
        #expect(lost.code == 1)
        #expect(Self.words(lost).contains("no pin is left"))
        // A rule that wants a pin at both places is not served by one.
        let located = { (name: String, position: String) in
            "{\"spki\": \"\(Scene.key(name))\", \"at\": \"\(position)\"}"
        }
        let both = scene.run(
            [file], "--json",
            policy: try scene.policy(
                pins: [located("1", "leaf"), located("R1", "ca")], backups: [located("spare", "leaf")],
                more: ", \"requires\": \"leafAndCA\""))
        #expect(both.code == 1)
        #expect(try both.json()["hosts"]?.firstElement?["isServed"]?.boolean == false)
        let whole = scene.run(
            [file], "--json",
            policy: try scene.policy(
                pins: [located("1", "leaf"), located("R1", "ca")], backups: [located("2", "leaf")],
                more: ", \"requires\": \"leafAndCA\""))
        #expect(try whole.json()["hosts"]?.firstElement?["isServed"]?.boolean == true)
    }

    @Test("Results of several policies are mixed and named, which a plain report refuses")
    func mixed() throws {
        let lines = [
            Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1"),
            Scene.result("a.test", "2026-11-11", leaf: "1", matched: "1", policy: "bb"),
        ]
        let file = try scene.write(lines)
        let run = scene.run([file])
        #expect(run.code == 0)
        #expect(run.output.contains("mixed: the results are of 2 policies"))
        #expect(ToolRun("report", file).errors.contains("was decided by another policy"))
        let same = scene.run([try scene.write([lines[0], lines[0].replacing("11-10", with: "11-11")])])
        #expect(!same.output.contains("mixed"))
    }

    @Test("The JSON document has the changes, gaps, pins and renewals of each server")
    func json() throws {
        let run = scene.run(try days(), "--json")
        #expect(run.code == 1)
        let root = try run.json()
        #expect(
            ToolRun.keys(root) == [
                "result", "servers", "results", "from", "until", "changed", "unchanged", "died", "policies", "anchors",
                "hosts",
            ])
        #expect(root["result"]?.string == "died")
        let hosts = try #require(root["hosts"]?.elements.map(Array.init))
        #expect(hosts.compactMap { $0["host"]?.string } == ["a.test", "b.test", "c.test"])
        #expect(hosts.compactMap { $0["proves"]?.boolean } == [true, true, false])
        let a = try #require(hosts.first)
        #expect(a["counts"]?["leafKey"]?.integer == 1 && a["counts"]?["root"]?.integer == 0)
        #expect(a["gaps"]?.firstElement?["reason"]?.string == "connect-timeout")
        let change = a["changes"]?.firstElement
        #expect(change?["notYet"]?.string == "2026-11-11T06:00:00Z")
        #expect(change?["seen"]?.string == "2026-11-13T06:00:00Z")
        #expect(change?["before"]?["leafKey"]?.string == Scene.key("a1"))
        #expect(change?["after"]?["intermediates"]?.firstElement?.string == Scene.key("M2"))
        #expect(a["pins"]?.firstElement?["missingSince"]?.string == "2026-11-13T06:00:00Z")
        #expect(a["renewals"]?["count"]?.integer == 1 && a["renewals"]?["keptKey"]?.integer == 0)
        #expect(a["renewals"]?["lifetimeDays"]?.integer == 90)
    }

    @Test("Unusable command lines and inputs are errors, and nothing is printed or written")
    func unusable() throws {
        let file = try scene.write([Scene.result("a.test", "2026-11-10", leaf: "1", matched: "1")])
        let policy = try scene.policy(pins: [Scene.key("1")], backups: [Scene.key("2")])
        let wrong: [([String], String)] = [
            ([], "RESULTS is missing"), ([file, "--resume"], "unknown option --resume"),
            ([file, "--html", file], "would replace"), ([file, "--policy", policy, "--html", policy], "would replace"),
            ([file, "--policy", scene.directory.path(of: "none.json")], "none.json: no such file"),
            ([scene.directory.path(of: "none")], "none: no such file"),
            ([try scene.write([], to: "empty")], "there is no result to report on"),
            ([file, policy], "policy.json:1: the last line is neither a result of an audit"),
        ]
        for (arguments, message) in wrong {
            let run = ToolRun(arguments: ["history"] + arguments)
            #expect(run.code == 2, "\(arguments)")
            #expect(run.errors.contains(message), "\(run.errors)")
            #expect(run.output.isEmpty)
        }
        for arguments in [[], ["--policy", policy]] {
            #expect(ToolRun(arguments: ["history", file] + arguments).code == 0)
        }
    }

    @Test("Many changes are counted whole and printed in part")
    func many() throws {
        let lines = (0..<500).map { index in
            Scene.result(
                "a.test", "2026-11-10T\(Self.two(index / 60)):\(Self.two(index % 60)):00Z", leaf: "\(index % 2)",
                matched: "\(index % 2)")
        }
        let file = try scene.write(lines + [Scene.result("b.test", "2026-11-10", leaf: "b", matched: "b")])
        let run = scene.run([file])
        #expect(run.lines.count { $0.contains("(not yet") } == 20)
        #expect(run.output.contains("  479 earlier changes; --json has more\n"))
        let page = scene.directory.path(of: "page.html")
        #expect(scene.run([file], "--html", page).code == 0)
        let text = String(decoding: try scene.directory.read("page.html"), as: UTF8.self)
        #expect(text.split(separator: "height=\"18\"").count - 1 == HistoryLanes.mostBoxes + 1)
        let json = try scene.run([file], "--json").json()["hosts"]?.firstElement
        #expect(json?["changes"]?.count == 499)
    }

    /// Returns the output without the breaks of its lines.
    private static func words(_ run: ToolRun) -> String {
        run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
