import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleTools

/// Plans that cannot be used. Every problem has an id, a place and a remedy, and the tool reports all of them at once.
@Suite("Reading plans")
struct PlanReaderTests {
    private static let good = """
        {"version": 1, "until": "2027-03-01",
         "keys": [
          {"name": "current", "pin": "\(PlanFixture.current)"},
          {"name": "root", "pin": "\(PlanFixture.root)"}],
         "certificates": [
          {"name": "winter", "keys": ["current", "root"], "notBefore": "2026-11-01", "notAfter": "2027-06-01"}],
         "servers": [
          {"host": "api.example.com", "serves": [{"from": "2026-11-01", "certificate": "winter"}]}],
         "apps": [
          {"version": "1.0", "released": "2026-01-01", "policy": {"version": 1, "hosts": []},
           "supportedUntil": "2027-02-01"}],
         "updates": [
          {"version": 7, "published": "2026-12-01", "expires": "2027-02-01", "policy": {"version": 1, "hosts": []}},
          {"version": 8, "published": "2027-01-01", "expires": "2027-02-01", "policy": {"version": 1, "hosts": []}}],
         "daysToFetch": 7}
        """

    struct Change: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        /// The problems, each as `line:column id`.
        let problems: [String]
        var testDescription: String { "\(old) -> \(new)" }

        init(_ old: String, _ new: String, _ problems: String...) {
            (self.old, self.new, self.problems) = (old, new, problems)
        }
    }

    private func problems(_ text: String) throws -> [String] {
        let run = ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(text.utf8))
        guard run.code == 2 else { return ["exit \(run.code)"] }
        let document = try run.json()
        let errors = document["errors"]?.elements.map(Array.init) ?? [document["error"]].compactMap(\.self)
        return errors.map { error in
            #expect(error["hint"]?.string?.isEmpty == false)
            #expect(error["file"]?.string == "stdin")
            let place = "\(error["line"]?.integer ?? 0):\(error["column"]?.integer ?? 0)"
            return "\(place) \(error["code"]?.string ?? "")"
        }
    }

    @Test("The plan that the other plans are derived from is valid")
    func good() throws {
        #expect(try problems(Self.good) == ["exit 0"])
    }

    @Test(
        "Each problem has its id and its place",
        arguments: [
            Change(#""version": 1, "until""#, #""version": 2, "until""#, "1:13 unsupported-version"),
            Change(#""version": 1, "until""#, #""until""#, "1:1 missing-key"),
            Change(#""until": "2027-03-01""#, #""until": "2027-02-29""#, "1:25 invalid-date"),
            Change(#""until": "2027-03-01""#, #""until": "2027-03-01T00:00:00""#, "1:25 invalid-date"),
            Change(#""until": "2027-03-01""#, #""until": 20270301"#, "1:25 wrong-type"),
            Change(#""until""#, #""til""#, "1:1 missing-key", "1:16 unknown-key"),
            Change("{\"version\": 1, \"until\"", "[{\"version\": 1, \"until\"", "15:19 unexpected-end"),
            Change(#""pin": "sha256/bY6"#, #""pin": "sha256/bY7"#, "exit 0"),
            Change(#"bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="#, "bY6x", "3:30 wrong-pin-length"),
            Change(PlanFixture.root, PlanFixture.current, "4:27 duplicate-pin"),
            Change(#""name": "root""#, #""name": "current""#, "4:12 duplicate-name", "6:42 unknown-name"),
            Change(#""name": "root""#, #""name": """#, "4:12 invalid-name", "6:42 unknown-name"),
            Change(#""name": "root""#, #""name": "a\u202eb""#, "4:12 invalid-name", "6:42 unknown-name"),
            Change(#""name": "root", "#, #""name": "root", "compromised": "soon", "#, "4:35 invalid-date"),
            Change(#"["current", "root"]"#, #"["current", "current"]"#, "6:42 duplicate-name"),
            Change(#"["current", "root"]"#, "[]", "6:30 empty-list"),
            Change(#""notAfter": "2027-06-01""#, #""notAfter": "2026-11-01""#, "6:90 dates-out-of-order"),
            Change(#""notAfter": "2027"#, #""trust": "nobody", "notAfter": "2027"#, "6:87 unknown-value"),
            Change(#""notAfter": "2027"#, #""fingerprint": "ab", "notAfter": "2027"#, "6:93 wrong-pin-length"),
            Change(#""host": "api.example.com""#, #""host": "*.example.com""#, "8:12 invalid-host"),
            Change(#""host": "api.example.com""#, #""host": "api.example.com", "port": 0"#, "8:39 invalid-port"),
            Change(
                #"{"host": "api.example.com", "serves": ["#,
                #"{"host": "api.example.com", "serves": [{"from": "2026-11-02", "certificate": "winter"}, "#,
                "8:100 dates-out-of-order"),
            Change(#""certificate": "winter""#, #""certificate": "wintre""#, "8:80 unknown-name"),
            Change(#""version": "1.0", "#, "", "10:3 missing-key"),
            Change(#""supportedUntil": "2027-02-01""#, #""supportedUntil": "2026-01-01""#, "11:22 dates-out-of-order"),
            Change(#""supportedUntil": "2027-02-01""#, #""supportedUntil": "2026-01-02""#, "exit 0"),
            Change(#""supportedUntil": "2027-02-01""#, #""supportedUntil": "soon""#, "11:22 invalid-date"),
            Change(#""daysToFetch": 7"#, #""daysToFetch": 0"#, "exit 0"),
            Change(#""daysToFetch": 7"#, #""daysToFetch": 7.5"#, "15:17 invalid-day"),
            Change(#""daysToFetch": 7"#, #""daysToFetch": -1"#, "15:17 invalid-day"),
            Change(#""daysToFetch": 7"#, #""daysToFetch": "7""#, "15:17 wrong-type"),
            Change(
                #""expires": "2027-02-01", "policy""#, #""expires": "2026-12-01", "policy""#,
                "13:56 dates-out-of-order"),
            Change(#""version": 8"#, #""version": 7"#, "14:15 versions-out-of-order"),
            Change(#""version": 8"#, #""version": 0"#, "14:15 invalid-update-version"),
            Change(#""published": "2027-01-01""#, #""published": "2026-12-01""#, "14:31 dates-out-of-order"),
            Change(
                #""policy": {"version": 1, "hosts": []},"# + "\n   \"supportedUntil\"",
                #""policy": {"version": 1, "host": []},"# + "\n   \"supportedUntil\"", "10:58 missing-key",
                "10:73 unknown-key"),
            Change(
                #""policy": {"version": 1, "hosts": []},"# + "\n   \"supportedUntil\"",
                #""policy": 1,"# + "\n   \"supportedUntil\"", "10:58 wrong-type"),
            Change(
                #""policy": {"version": 1, "hosts": []},"# + "\n   \"supportedUntil\"",
                #""policy": "missing/policy.json","# + "\n   \"supportedUntil\"", "10:58 unreadable-file"),
            Change(#""version": 1, "until""#, #""version": 1, "version": 1, "until""#, "1:16 duplicate-key"),
        ])
    func problem(change: Change) throws {
        #expect(Self.good.contains(change.old))
        #expect(try problems(Self.good.replacing(change.old, with: change.new, maxReplacements: 1)) == change.problems)
    }

    @Test("The tool reports all problems at once, in the order of the file, up to a hundred")
    func many() throws {
        let keys = (0..<60).map { _ in "{}" }.joined(separator: ", ")
        let text = Self.good.replacing(#""keys": ["#, with: #""keys": [\#(keys), "#, maxReplacements: 1)
        let found = try problems(text)
        #expect(found.count == 100)
        #expect(found.first == "2:11 missing-key")
        let lists = try problems(Self.good.replacing("2026-11-01", with: "never"))
        #expect(lists == ["6:64 invalid-date", "8:51 invalid-date"])
    }

    @Test("The article lists every key of the format and every kind of advice")
    func documented() throws {
        let catalogue = PlanFixture.examples.replacing("Examples/plans", with: "Sources/PintleTools/PintleTools.docc")
        let data = try Data(contentsOf: URL(filePath: catalogue + "/PlanningRotations.md"))
        let article = String(decoding: data, as: UTF8.self)
        let keys =
            [PlanKeys.Plan.allCases.map(\.rawValue), PlanKeys.Key.allCases.map(\.rawValue)]
            + [PlanKeys.Certificate.allCases.map(\.rawValue), PlanKeys.Server.allCases.map(\.rawValue)]
            + [PlanKeys.Switch.allCases.map(\.rawValue), PlanKeys.App.allCases.map(\.rawValue)]
            + [PlanKeys.Update.allCases.map(\.rawValue)]
            + [PlanKeys.Trust.allCases.map(\.rawValue)]
            + [PlanKeys.Renewal.allCases.map(\.rawValue), PlanKeys.RenewalKeys.allCases.map(\.rawValue)]
        for key in keys.joined() { #expect(article.contains("`\(key)`"), "\(key)") }
        for kind in PlanAdvice.Kind.allCases { #expect(article.contains("\n| `\(kind.rawValue)` |"), "\(kind)") }
    }

    @Test("The error about the former curve of an update names the key that replaces it")
    func reach() throws {
        let curve = #""version": 8, "reach": [{"day": 7, "percent": 95}]"#
        let text = Self.good.replacing(#""version": 8"#, with: curve)
        #expect(try problems(text) == ["14:27 unknown-key"])
        let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(text.utf8))
        #expect(run.errors.contains(#"write "daysToFetch" beside "updates""#))
        // The list of known keys does not offer it.
        let typo = ToolRun(
            "plan", "-", "--at", "2026-11-20",
            input: Array(Self.good.replacing(#""version": 8"#, with: #""verzion": 8"#).utf8))
        #expect(typo.code == 2 && !typo.errors.contains("reach"))
    }

    @Test("The error about the former shares of users comes once, and says what replaces them")
    func share() throws {
        let app = #"{"version": "1.0""#
        let shares = #""share": [{"at": "2026-11-20", "percent": 12.4}], "#
        let text = Self.good.replacing(
            app,
            with: #"{\#(shares)"version": "0.9", "released": "2025-01-01", "policy": {"version": 1, "hosts": []}}, "#
                + #"{\#(shares)"version": "1.0""#)
        #expect(try problems(text) == ["10:13 unknown-key"])
        let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(text.utf8))
        #expect(run.errors.contains("apps[0].share is no longer read"))
        #expect(run.errors.contains(#"leave "share" out of all versions"#))
        #expect(try problems(text.replacing(shares, with: "")) == ["exit 0"])
        // The list of known keys does not offer it.
        let typo = ToolRun(
            "plan", "-", "--at", "2026-11-20",
            input: Array(Self.good.replacing("supportedUntil", with: "supportUntil").utf8))
        #expect(typo.code == 2 && !typo.errors.contains("share"))
    }

    @Test("Lists have limits")
    func limits() throws {
        let keys = (0...64).map { "{\"name\": \"\($0)\"}" }.joined(separator: ", ")
        let start = try #require(Self.good.firstRange(of: "\"keys\": ["))
        let end = try #require(Self.good.firstRange(of: "\"certificates\""))
        let text = Self.good[..<start.lowerBound] + "\"keys\": [\(keys)],\n" + Self.good[end.lowerBound...]
        #expect(try problems(String(text)).first == "2:10 too-many")
    }

    @Test("The error about a plan that has ended, or runs for more than ten years, names the remedy")
    func span() throws {
        func code(at now: String) throws -> String? {
            let run = ToolRun("plan", "-", "--json", "--at", now, input: Array(Self.good.utf8))
            #expect(run.code == (now == "2027-02-28T23:59:59Z" || now == "2018-01-01" ? 0 : 2))
            return try run.code == 2 ? run.json()["error"]?["code"]?.string : nil
        }
        #expect(try code(at: "2027-02-28T23:59:59Z") == nil)
        #expect(try code(at: "2027-03-01") == "plan-is-over")
        #expect(try code(at: "2018-01-01") == nil)
        #expect(try code(at: "2017-01-01") == "plan-too-long")
        #expect(ToolRun("plan", "-", "--at", "today", input: Array(Self.good.utf8)).code == 2)
    }

    @Test("The tool reads a policy file from the plan's folder and reports problems with their place in that file")
    func policyFile() throws {
        let directory = try TemporaryDirectory()
        let text = Self.good.replacing(
            #"{"version": 1, "hosts": []},"# + "\n   \"supportedUntil\"", with: "\"p/one.json\",\n   \"supportedUntil\""
        )
        let plan = try directory.write(text, to: "plan.json")
        try directory.write(#"{"version": 1, "hosts": []}"#, to: "p/one.json")
        #expect(ToolRun("plan", plan, "--at", "2026-11-20").code == 0)
        try directory.write("{\"version\": 1,\n \"hosts\": {}}", to: "p/one.json")
        let error = try ToolRun("plan", plan, "--at", "2026-11-20", "--json").json()["error"]
        #expect(error?["code"]?.string == "wrong-type")
        #expect(error?["file"]?.string == directory.path(of: "p/one.json"))
        #expect(error?["line"]?.integer == 2)
    }
}
