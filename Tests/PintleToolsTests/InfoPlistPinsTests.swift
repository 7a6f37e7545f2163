import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintlePolicyTools

/// Pins in an Info.plist beside a policy: the system enforces them, whatever a signed update brings.
@Suite("Info.plist pins beside a policy")
struct InfoPlistPinsTests {
    private let fixture: SyncFixture
    private static let id = "info-plist-lacks-key"

    init() throws {
        fixture = try SyncFixture()
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write("<plist>\n<dict/>\n</plist>\n", to: "Info.plist")
        _ = fixture.sync()
    }

    /// Returns the paths in the policy at which lint finds that the Info.plist lacks a key.
    private func lacking(_ policy: String = "policy.json", _ options: String...) throws -> [String] {
        let run = ToolRun(arguments: ["lint", fixture.directory.path(of: policy), "--json"] + options)
        let problems = try run.json()["problems"]?.elements.map(Array.init) ?? []
        return problems.filter { $0["id"]?.string == Self.id }.compactMap { $0["path"]?.string }
    }

    private var rotated: [String] { [SyncFixture.pins[1], SyncFixture.pins[2]] }

    @Test("A key that the Info.plist lacks is a warning until sync has written it")
    func newKey() throws {
        #expect(try lacking() == [])
        try fixture.policy(hosts: ["api.example.com"], pins: rotated)
        #expect(try lacking() == ["hosts[0].backupPins[0]"])
        #expect(fixture.sync().code == 0)
        #expect(try lacking() == [])
    }

    @Test("The policy of an update is held against the Info.plist that --sync names, and the warning names updates")
    func update() throws {
        try fixture.policy(
            hosts: ["api.example.com"], pins: rotated, top: "\"updateVersion\": 8,", to: "policy-8.json")
        #expect(try lacking("policy-8.json") == [])
        let sync = fixture.directory.path(of: SyncFile.name)
        #expect(try lacking("policy-8.json", "--sync", sync) == ["hosts[0].backupPins[0]"])
        let run = ToolRun("lint", fixture.directory.path(of: "policy-8.json"), "--sync", sync)
        #expect(run.code == 1)
        #expect(run.output.contains("so the system refuses a server that shows it, also if a signed update brings"))
        let allowed = ToolRun(
            "lint", fixture.directory.path(of: "policy-8.json"), "--sync", sync, "--allow",
            "\(Self.id):api.example.com")
        #expect(allowed.code == 0)
    }

    @Test("Entries of a parent domain count, and entries for other hosts do not")
    func parents() throws {
        try fixture.policy(hosts: ["example.com"], rule: "\"includeSubdomains\": true,")
        #expect(fixture.sync().code == 0)
        try fixture.policy(hosts: ["a.example.com", "a.b.example.com", "example.org"], pins: rotated)
        #expect(try lacking() == ["hosts[0].backupPins[0]"])
        // The entry of a sub-domain, which a rule of the parent decides.
        try fixture.policy(hosts: ["a.example.com"])
        #expect(fixture.sync().code == 0)
        try fixture.policy(hosts: ["example.com"], pins: rotated, rule: "\"includeSubdomains\": true,")
        #expect(try lacking() == ["hosts[0].backupPins[0]"])
        try fixture.policy(hosts: ["example.com"], pins: rotated)
        #expect(try lacking() == [])
    }

    @Test("Pins of the leaf are not held against a list of authorities")
    func lists() throws {
        try fixture.directory.write(
            try fixture.text("Info.plist").replacing("NSPinnedLeafIdentities", with: "NSPinnedCAIdentities"),
            to: "Info.plist")
        #expect(try lacking() == [])
        try fixture.directory.write(
            try fixture.text("policy.json").replacing("\"leaf\"", with: "\"ca\"").replacing(
                SyncFixture.pins[1], with: SyncFixture.pins[2]), to: "policy.json")
        #expect(try lacking() == ["hosts[0].backupPins[0]"])
    }

    @Test("A file of sync for another policy is ignored; an Info.plist that cannot be read is a warning")
    func others() throws {
        try fixture.policy(hosts: ["api.example.com"], pins: rotated)
        try fixture.policy(hosts: ["api.example.com"], pins: rotated, to: "other.json")
        #expect(try lacking("other.json") == [])
        #expect(try lacking("policy.json") != [])
        try fixture.directory.write("bplist00", to: "Info.plist")
        let run = ToolRun("lint", fixture.directory.path(of: "policy.json"))
        #expect(run.code == 0)
        #expect(run.errors.contains("the policy is not held against"))
        // With --sync, lint must not pass without having looked.
        let path = fixture.directory.path(of: SyncFile.name)
        #expect(ToolRun("lint", fixture.directory.path(of: "policy.json"), "--sync", path).code == 2)
        try fixture.directory.write("{", to: SyncFile.name)
        #expect(ToolRun("lint", fixture.directory.path(of: "policy.json")).code == 0)
        #expect(ToolRun("lint", fixture.directory.path(of: "policy.json"), "--sync", path).code == 2)
    }

    // MARK: Plans

    @Test("An update does not help a version whose Info.plist lacks the new key")
    func plan() throws {
        try fixture.policy(
            hosts: ["api.example.com"], pins: [PlanFixture.current, PlanFixture.spare].map { String($0.dropFirst(7)) })
        #expect(fixture.sync().code == 0)
        var scene = PlanFixture()
        scene.fetches = true
        scene.updates = """
            {"version": 7, "published": "2027-01-01", "expires": "2027-06-01", "policy":
             \(scene.policy(#""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#))}
            """
        #expect(try scene.outcome().lockOuts == [])
        func outcome() throws -> PlanOutcome {
            let text = scene.text.replacing(
                "\"version\": \"1.0\",",
                with:
                    "\"version\": \"1.0\", \"infoPlist\": \(JSONWriter.quoted(fixture.directory.path(of: "Info.plist"))),"
            )
            return try PlanOutcome(ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(text.utf8)))
        }
        let locked = try outcome()
        #expect(locked.lockOuts == ["1.0 from 2027-01-10T00:00:00Z invalid-path other"])
        #expect(locked.advice.contains("info-plist"))
        // A release with the new key in its file can connect.
        try fixture.policy(
            hosts: ["api.example.com"], pins: [PlanFixture.current, PlanFixture.next].map { String($0.dropFirst(7)) })
        #expect(fixture.sync().code == 0)
        #expect(try outcome().lockOuts == [])
    }

    private struct Advised {
        var reason = ""
        var advice = ""
        var pins: [String] = []
        var lockOuts: [String] = []
    }

    /// Returns what a plan says about an Info.plist with these lists.
    private func advised(
        leaves: [String] = [], authorities: [String] = [], text: String = PlanFixture().text
    ) throws -> Advised {
        let lists = [("NSPinnedLeafIdentities", leaves), ("NSPinnedCAIdentities", authorities)].map { key, pins in
            let items = pins.map { "<dict><key>SPKI-SHA256-BASE64</key><string>\($0.dropFirst(7))</string></dict>" }
            return pins.isEmpty ? "" : "<key>\(key)</key><array>\(items.joined())</array>"
        }
        try fixture.directory.write(
            "<plist><dict><key>NSPinnedDomains</key><dict><key>api.example.com</key><dict>\(lists.joined())</dict></dict></dict></plist>",
            to: "App.plist")
        let plan = text.replacing(
            "\"version\": \"1.0\",",
            with: "\"version\": \"1.0\", \"infoPlist\": \(JSONWriter.quoted(fixture.directory.path(of: "App.plist"))),")
        let input = Array(plan.utf8)
        let words = ToolRun("plan", "-", "--at", "2026-11-20", input: input).output
            .split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        let outcome = try PlanOutcome(ToolRun("plan", "-", "--at", "2026-11-20", "--json", input: input))
        let items = outcome.elements("advice").filter { outcome.text($0, "id") == "info-plist" }
        return Advised(
            reason: words, advice: items.compactMap { outcome.text($0, "message") }.joined(separator: "\n"),
            pins: items.compactMap { outcome.text($0, "pin") }, lockOuts: outcome.lockOuts)
    }

    private static let enforced = "and the Info.plist, which the system enforces whatever the policy says, pins"

    /// The plan, whose policy pins the key of its second certificate too.
    private static func scene(_ pins: String = #"["\#(PlanFixture.current)", "\#(PlanFixture.next)"]"#) -> PlanFixture {
        var scene = PlanFixture()
        scene.rule = #""pins": \#(pins), "backupPins": ["\#(PlanFixture.spare)"]"#
        return scene
    }

    @Test("A plan names the list of the Info.plist that lacks a key, and the keys for that list")
    func lackingLists() throws {
        let (current, next, root) = (PlanFixture.current, PlanFixture.next, PlanFixture.root)
        let text = Self.scene().text
        // The list of authorities has a key of the path, so the leaf's is the only one that is missing.
        let leaf = try advised(leaves: [current], authorities: [root], text: text)
        #expect(leaf.lockOuts == ["1.0 from 2027-01-10T00:00:00Z invalid-path other"])
        #expect(leaf.reason.contains("\(Self.enforced) leaves, but not \"next\""))
        #expect(!leaf.reason.contains("and authorities, but"))
        #expect(leaf.advice.contains("put \(next) (key \"next\") into NSPinnedLeafIdentities of"))
        #expect(!leaf.advice.contains("NSPinnedCAIdentities"))
        #expect(leaf.pins == [next])
        let authority = try advised(leaves: [current, next], authorities: [PlanFixture.foreign], text: text)
        #expect(authority.reason.contains("\(Self.enforced) authorities, but not \"root\""))
        #expect(authority.advice.contains("put \(root) (key \"root\") into NSPinnedCAIdentities of"))
        #expect(!authority.advice.contains("NSPinnedLeafIdentities"))
        // The leaf's key does not count in the list of authorities.
        let wrongList = try advised(authorities: [current, next], text: text)
        #expect(wrongList.reason.contains("\(Self.enforced) authorities, but not \"root\""))
        let both = try advised(leaves: [current], authorities: [PlanFixture.foreign], text: text)
        #expect(both.reason.contains("\(Self.enforced) leaves, but not \"next\", and authorities, but not \"root\""))
        #expect(
            both.advice.contains(
                "put \(next) (key \"next\") into NSPinnedLeafIdentities and \(root) (key \"root\") into "
                    + "NSPinnedCAIdentities of"))
        #expect(try advised(leaves: [current, next], authorities: [root], text: text).lockOuts == [])
        #expect(try advised(leaves: [current, next], text: text).lockOuts == [])
    }

    @Test("A plan says which keys the policy has to pin before sync can write them")
    func unpinnedKeys() throws {
        let (current, root) = (PlanFixture.current, PlanFixture.root)
        let lists = (leaves: [current], authorities: [PlanFixture.foreign])
        func advice(_ pins: String) throws -> String {
            try advised(leaves: lists.leaves, authorities: lists.authorities, text: Self.scene(pins).text).advice
        }
        let both = #""\#(current)", "\#(PlanFixture.next)""#
        #expect(try advice("[\(both)]").contains("of a release, with pintle sync once the policy pins \"root\"; and"))
        #expect(try advice("[\(both), \"\(root)\"]").contains("of a release, with pintle sync; and"))
        #expect(try advice(#"[\#(both), {"spki": "\#(root)", "at": "ca"}]"#).contains("with pintle sync; and"))
        // A leaf's pin does not put the key among the authorities.
        #expect(try advice(#"[\#(both), {"spki": "\#(root)", "at": "leaf"}]"#).contains("pins \"root\"; and"))
    }

    @Test("A plan says that an Info.plist cannot have a pin of a certificate, so that sync does not write its key")
    func certificatePins() throws {
        let print = String(repeating: "ab", count: 32)
        var scene = Self.scene(#"["\#(PlanFixture.current)", {"certificate": "\#(print)"}]"#)
        scene.after += #", "fingerprint": "\#(print)""#
        let certificate = try advised(leaves: [PlanFixture.current], text: scene.text)
        let remark =
            "with pintle sync once the policy pins \"next\": an Info.plist cannot have the pin of a certificate"
        #expect(certificate.lockOuts == ["1.0 from 2027-01-10T00:00:00Z invalid-path other"])
        #expect(certificate.advice.contains(remark))
        scene.rule = Self.scene().rule
        let key = try advised(leaves: [PlanFixture.current], text: scene.text)
        #expect(key.advice.contains("NSPinnedLeafIdentities") && !key.advice.contains(remark))
    }

    @Test("A plan does not advise to put a key into the Info.plist that each renewal makes")
    func laterKeys() throws {
        let text = """
            {"version": 1, "until": "2027-12-01", "keys": [
              {"name": "current", "pin": "\(PlanFixture.current)"}, {"name": "root", "pin": "\(PlanFixture.root)"}],
             "certificates": [
              {"name": "listed", "keys": ["current", "root"], "notBefore": "2026-11-01", "notAfter": "2027-02-01"}],
             "servers": [{"host": "api.example.com", "serves": [{"from": "2026-11-01", "certificate": "listed"}],
              "renews": {"from": "2027-01-10", "every": 30, "lifetime": 47, "keys": "new", "authorities": ["root"]}}],
             "apps": [{"version": "1.0", "released": "2026-01-01", "fetchesUpdates": false, "policy": {"version": 1,
              "hosts": [{"host": "api.example.com", "pins": ["\(PlanFixture.root)"],
               "backupPins": ["\(PlanFixture.spare)"]}]}}]}
            """
        let later = try advised(leaves: [PlanFixture.current], authorities: [PlanFixture.root], text: text)
        #expect(later.reason.contains("\(Self.enforced) leaves, but not a new key"), "\(later)")
        #expect(later.advice.contains("cannot have a key that each renewal makes: keep one key at all renewals"))
        #expect(later.pins == [])
        #expect(try advised(authorities: [PlanFixture.root], text: text).lockOuts == [])
    }

    @Test("An Info.plist that a plan names and that cannot be read is an error; one without pins changes nothing")
    func unusablePlist() throws {
        let text = PlanFixture().text.replacing(
            "\"version\": \"1.0\",",
            with: "\"version\": \"1.0\", \"infoPlist\": \(JSONWriter.quoted(fixture.directory.path(of: "App.plist"))),")
        let plain = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(PlanFixture().text.utf8))
        #expect(ToolRun("plan", "-", "--at", "2026-11-20", input: Array(text.utf8)).code == 2)
        try fixture.directory.write("<plist><dict/></plist>", to: "App.plist")
        let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(text.utf8))
        #expect(run.code == plain.code && run.output == plain.output)
    }
}
