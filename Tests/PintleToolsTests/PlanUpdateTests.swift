import FoundationEssentials
import Pintle
import Testing

/// The effects of updates in a plan. The verifier of the apps decides which updates count.
@Suite("Updates in plans")
struct PlanUpdateTests {
    private static let mended = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#

    private func scene(published: String, rule: String = mended, more: String = "") -> PlanFixture {
        var scene = PlanFixture()
        scene.fetches = true
        scene.updates = """
            {"version": 7, "published": "\(published)", "expires": "2027-06-01", "policy": \(scene.policy(rule))\(more)}
            """
        return scene
    }

    @Test("An update in time keeps its users connected; apps that fetch no updates are locked out")
    func inTime() throws {
        var scene = scene(published: "2027-01-09")
        #expect(try scene.outcome().lockOuts == [])
        #expect(try scene.outcome().firstUpdate == ["accepted"])
        scene.fetches = false
        #expect(try scene.outcome().lockOuts == ["1.0 100 % from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(try scene.outcome().firstUpdate == ["rejected"])
    }

    @Test("Locked-out users can still fetch an update, so the lock-out ends when it has reached all of them")
    func afterwards() throws {
        #expect(
            try scene(published: "2027-01-20").outcome().lockOuts == [
                "1.0 100 % from 2027-01-10T00:00:00Z until 2027-01-21T00:00:00Z pin-mismatch"
            ])
    }

    @Test("An update reaches the share of its reach, and no user after it has expired")
    func reach() throws {
        let half = #", "reach": [{"day": 2, "percent": 50}, {"day": 4, "percent": 80}]"#
        #expect(
            try scene(published: "2027-01-01", more: half).outcome().lockOuts == [
                "1.0 20 % from 2027-01-10T00:00:00Z pin-mismatch"
            ])
        var short = scene(published: "2027-01-01", more: half)
        short.updates = short.updates.replacing("2027-06-01", with: "2027-01-03")
        #expect(try short.outcome().lockOuts == ["1.0 50 % from 2027-01-10T00:00:00Z pin-mismatch"])
    }

    @Test("The next update replaces an update for the users it reaches")
    func replaced() throws {
        var scene = scene(published: "2027-01-01", more: #", "reach": [{"day": 8, "percent": 80}]"#)
        // After four days 40 % have the first update. The second lacks the new key and reaches a quarter of the users.
        let second = scene.updates.replacing("\"version\": 7", with: "\"version\": 8")
            .replacing("2027-01-01", with: "2027-01-05").replacing("\"percent\": 80", with: "\"percent\": 25")
            .replacing(#""day": 8"#, with: #""day": 1"#).replacing(PlanFixture.next, with: PlanFixture.spare)
        scene.updates += ", " + second
        #expect(try scene.outcome().lockOuts == ["1.0 85 % from 2027-01-10T00:00:00Z pin-mismatch"])
    }

    @Test("An update that withdraws a key too early locks users out from the hour of its publication")
    func tooEarly() throws {
        let withdrawn = #""pins": ["\#(PlanFixture.next)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        let outcome = try scene(published: "2027-01-08", rule: withdrawn).outcome()
        #expect(outcome.advice == ["keep-pin"])
        let early = outcome.lockOuts
        #expect(early == ["1.0 50 % from 2027-01-08T00:00:00Z until 2027-01-10T00:00:00Z pin-mismatch"])
        var onTime = scene(published: "2027-01-10", rule: withdrawn)
        onTime.rule = Self.mended
        #expect(try onTime.outcome().lockOuts == [])
    }

    @Test("An update cannot add a host that the app shipped no rule for, unless the app allows that")
    func scope() throws {
        var scene = PlanFixture()
        scene.fetches = true
        scene.host = "other.example.com"
        scene.policyMembers = #""unpinnedHosts": "reject", "#
        let rules = """
            {"version": 1, "unpinnedHosts": "reject", "hosts": [{"host": "other.example.com", \(Self.mended)},
              {"host": "api.example.com", \(Self.mended)}]}
            """
        scene.updates = """
            {"version": 7, "published": "2026-12-01", "expires": "2027-06-01", "policy": \(rules)}
            """
        #expect(try scene.outcome().firstUpdate == ["out-of-scope"])
        #expect(try scene.outcome().lockOuts.count == 2)
        scene.policyMembers = #""unpinnedHosts": "reject", "updates": {"anyHost": true}, "#
        #expect(try scene.outcome().firstUpdate == ["accepted"])
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 100 % from 2026-11-20T00:00:00Z until 2026-12-02T00:00:00Z host-not-allowed"
            ])
    }

    @Test("An app refuses an update with a lower version than its shipped policy")
    func floor() throws {
        var scene = scene(published: "2026-12-01")
        scene.policyMembers = #""updateVersion": 8, "#
        #expect(try scene.outcome().firstUpdate == ["rollback"])
        scene.policyMembers = #""updateVersion": 6, "#
        #expect(try scene.outcome().firstUpdate == ["accepted"])
    }

    @Test("The advice names the pin, the day and the versions that an update helps")
    func advice() throws {
        var scene = PlanFixture()
        scene.fetches = true
        let outcome = try scene.outcome()
        let item = try #require(outcome.elements("advice").first { outcome.text($0, "id") == "publish-update" })
        #expect(outcome.text(item, "by") == "2026-12-27T00:00:00Z")
        #expect(outcome.text(item, "pin") == PlanFixture.next)
        #expect(item["apps"]?.elements?.compactMap(\.string) == ["1.0"])
        // The pins of this rule end earlier and then refuse. An update that adds a pin would not help.
        scene.rule += #", "expiry": {"after": "2027-01-05T00:00:00Z", "then": "reject"}"#
        #expect(try !scene.outcome().advice.contains("publish-update"))
    }
}
