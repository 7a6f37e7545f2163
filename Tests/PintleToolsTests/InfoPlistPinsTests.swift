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
