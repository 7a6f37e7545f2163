import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// Parts of a plan that no pin checks lock out no user. The report must say that they were not checked.
@Suite("Gaps of plans")
struct PlanGapTests {
    private func notes(_ scene: PlanFixture) throws -> [String] {
        let outcome = try scene.outcome()
        return outcome.document["notes"]?.elements?.compactMap(\.string) ?? []
    }

    private func words(_ scene: PlanFixture) -> (code: Int32, text: String) {
        let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(scene.text.utf8))
        return (run.code, run.output.split { $0 == " " || $0 == "\n" }.joined(separator: " "))
    }

    private var pinned: PlanFixture {
        var scene = PlanFixture()
        scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
        return scene
    }

    @Test("A plan whose pins are checked has no notes")
    func none() throws {
        #expect(try notes(pinned) == [])
        #expect(words(pinned).code == 0)
        #expect(
            words(pinned).text.contains(
                "No simulated version is locked out. Not simulated: versions other than 1.0. 2026"))
    }

    @Test("The result says which versions, times and users were not simulated")
    func notSimulated() throws {
        var scene = pinned
        #expect(try scene.outcome().notSimulated == ["versions other than 1.0"])
        scene.supportedUntil = "2027-02-01"
        #expect(
            try scene.outcome().notSimulated == [
                "versions other than 1.0", "version 1.0 from 2027-02-01 on", "the gaps in the notes",
            ])
        scene.supportedUntil = nil
        scene.fetches = true
        scene.updates = """
            {"version": 7, "published": "2026-12-01", "expires": "2027-06-01", "policy": \(scene.policy())}
            """
        #expect(
            try scene.outcome().notSimulated == [
                "versions other than 1.0", "users who take longer than 1 day to fetch an update",
            ])
        scene.fetches = false
        #expect(try scene.outcome().notSimulated == ["versions other than 1.0"])
    }

    @Test("A plan with a time in which no version is supported is incomplete")
    func noVersion() throws {
        var scene = pinned
        scene.supportedUntil = "2026-11-20"
        #expect(try scene.outcome().result == "incomplete")
        #expect(try scene.outcome().notSimulated == ["any version", "the gaps in the notes"])
        #expect(
            try notes(scene) == ["no version is released and supported between 2026-11-20 and 2027-03-01"])
        scene.supportedUntil = "2026-11-21"
        #expect(try scene.outcome().result == "incomplete")
        #expect(try notes(scene) == ["no version is supported on 2026-11-21"])
        scene.supportedUntil = nil
        #expect(try scene.outcome().result == "ok")
    }

    @Test("The page of a plan with gaps is a warning, and that of one without them is not")
    func colour() throws {
        func verdict(_ scene: PlanFixture) throws -> Bool {
            let directory = try TemporaryDirectory()
            let page = directory.path(of: "plan.html")
            let run = ToolRun("plan", "-", "--at", "2026-11-20", "--html", page, input: Array(scene.text.utf8))
            #expect(run.code == 0)
            let text = String(decoding: try directory.read("plan.html"), as: UTF8.self)
            #expect(text.contains("<h1>No simulated version is locked out</h1>"))
            #expect(text.contains("<p>Not simulated: versions other than 1.0"))
            return text.contains("<header class=\"good\">")
        }
        var scene = pinned
        #expect(try verdict(scene))
        scene.host = "api.exmaple.com"
        #expect(try !verdict(scene))
    }

    @Test("A host with another spelling in the policy has no rule")
    func noRule() throws {
        var scene = pinned
        scene.host = "api.exmaple.com"
        #expect(try notes(scene) == ["version 1.0: no rule, so that any key passes for api.example.com"])
        #expect(words(scene).code == 0)
        #expect(words(scene).text.hasPrefix("incomplete stdin 2026-11-20 to 2027-03-01 No simulated version is"))
        #expect(words(scene).text.contains("Not simulated: versions other than 1.0; the gaps in the notes."))
        #expect(try scene.outcome().result == "incomplete")
        #expect(try pinned.outcome().result == "ok")
        #expect(!words(scene).text.contains("nothing to do"))
    }

    @Test("The report notes a server that begins during the plan or after its end")
    func unserved() throws {
        var scene = pinned
        let text = scene.text
        func notes(from first: String, to second: String) throws -> [String] {
            let later = text.replacing(#""from": "2026-11-01""#, with: #""from": "\#(first)""#)
                .replacing(#""from": "2027-01-10""#, with: #""from": "\#(second)""#)
            let run = ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(later.utf8))
            return try PlanOutcome(run).document["notes"]?.elements?.compactMap(\.string) ?? []
        }
        #expect(
            try notes(from: "2028-03-01", to: "2028-03-02") == [
                "api.example.com serves nothing in the plan: it begins on 2028-03-01, after the end"
            ])
        #expect(
            try notes(from: "2027-01-01", to: "2027-01-10") == [
                "api.example.com serves nothing before 2027-01-01: it is not simulated until then"
            ])
        #expect(try notes(from: "2026-11-20", to: "2027-01-10") == [])
        scene.until = "2027-02-01"
        #expect(try self.notes(scene) == [])
    }

    @Test("The report says that expired pins and rules that only report accept any key")
    func unchecked() throws {
        var scene = pinned
        let rule = scene.rule
        scene.rule = rule + #", "expiry": {"after": "2027-01-01T00:00:00Z", "then": "systemTrust"}"#
        #expect(
            try notes(scene).first?.hasPrefix("from 2027-01-01 on, version 1.0: pins that have expired") == true)
        scene.rule = rule + #", "expiry": {"after": "2027-04-01T00:00:00Z", "then": "systemTrust"}"#
        #expect(try notes(scene) == [])
        scene.rule = rule.replacing(PlanFixture.next, with: PlanFixture.spare) + #", "enforcement": "reportOnly""#
        #expect(try notes(scene).first?.hasPrefix("from 2027-01-10 on, version 1.0: a rule that only reports") == true)
        scene.rule = rule + #", "enforcement": "reportOnly""#
        #expect(try notes(scene) == [])
    }

    @Test("The report notes a stolen key without a certificate if a version pins it")
    func stolenSpare() throws {
        var scene = pinned
        let keys = scene.keys
        scene.keys = keys + #", {"name": "spare", "pin": "\#(PlanFixture.spare)", "compromised": "2026-12-01"}"#
        #expect(try notes(scene) == [])
        scene.rule = scene.rule.replacing(
            #""\#(PlanFixture.next)""#, with: #""\#(PlanFixture.next)", "\#(PlanFixture.spare)""#)
        #expect(try notes(scene).count == 1)
        #expect(try notes(scene).first?.hasPrefix(#""spare" is stolen from 2026-12-01 on"#) == true)
    }

    @Test("The report notes a switch on the last day of a certificate, because that day's first second ends it")
    func lastDay() throws {
        var scene = pinned
        scene.before = scene.before.replacing("2027-06-01", with: "2027-01-10")
        #expect(try notes(scene).first?.contains("write \"2027-01-10T23:59:59Z\"") == true)
        scene.before = scene.before.replacing("2027-01-10", with: "2027-01-10T23:59:59Z")
        #expect(try notes(scene) == [])
    }

    @Test("A version does not take an update that is replaced before the version is released")
    func replacedUpdate() throws {
        var scene = pinned
        scene.fetches = true
        let rule = scene.rule
        func update(_ version: Int, _ day: String) -> String {
            #"{"version": \#(version), "published": "\#(day)", "expires": "2027-06-01", "policy": \#(scene.policy())}"#
        }
        scene.updates = update(1, "2026-12-01") + ", " + update(2, "2027-01-01")
        scene.addVersion(released: "2026-12-31", rule: rule, fetches: true)
        #expect(try scene.outcome().firstUpdate == ["accepted", "accepted"])
        scene.addVersion(released: "2027-01-01", rule: rule, fetches: true)
        #expect(try scene.outcome().firstUpdate == ["accepted", "rejected"])
        #expect(words(scene).text.contains("update 1, published 2026-12-01: taken by version 1.0; not by version 2.0"))
    }
}
