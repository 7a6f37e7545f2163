import FoundationEssentials
import Pintle
import PintlePolicyFile
import Testing

/// The effects of updates in a plan. The verifier of the apps decides which updates count.
@Suite("Updates in plans")
struct PlanUpdateTests {
    private static let mended = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#

    private func scene(published: String, rule: String = mended) -> PlanFixture {
        var scene = PlanFixture()
        scene.fetches = true
        scene.updates = """
            {"version": 7, "published": "\(published)", "expires": "2027-06-01", "policy": \(scene.policy(rule))}
            """
        return scene
    }

    @Test("An update in time keeps its users connected; apps that fetch no updates are locked out")
    func inTime() throws {
        var scene = scene(published: "2027-01-09")
        #expect(try scene.outcome().lockOuts == [])
        #expect(try scene.outcome().firstUpdate == ["accepted"])
        scene.fetches = false
        #expect(try scene.outcome().lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(try scene.outcome().firstUpdate == ["rejected"])
    }

    @Test("Locked-out users can still fetch an update, so the lock-out ends when it has reached all of them")
    func afterwards() throws {
        #expect(
            try scene(published: "2027-01-20").outcome().lockOuts == [
                "1.0 from 2027-01-10T00:00:00Z until 2027-01-21T00:00:00Z pin-mismatch"
            ])
    }

    @Test("An update counts as not fetched until its days have passed, fourteen if the plan does not say")
    func daysToFetch() throws {
        var scene = scene(published: "2027-01-01")
        scene.daysToFetch = 9
        #expect(try scene.outcome().lockOuts == [])
        scene.daysToFetch = 10
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2027-01-10T00:00:00Z until 2027-01-11T00:00:00Z pin-mismatch"
            ])
        scene.daysToFetch = nil
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2027-01-10T00:00:00Z until 2027-01-15T00:00:00Z pin-mismatch"
            ])
        scene.daysToFetch = 0
        scene.updates = scene.updates.replacing("2027-01-01", with: "2027-01-10")
        #expect(try scene.outcome().lockOuts == [])
    }

    @Test("An update that expires before its days have passed does not count as fetched")
    func expired() throws {
        var scene = scene(published: "2027-01-01")
        scene.daysToFetch = 4
        scene.updates = scene.updates.replacing("2027-06-01", with: "2027-01-05")
        #expect(try scene.outcome().lockOuts == [])
        scene.updates = scene.updates.replacing("2027-01-05", with: "2027-01-04")
        #expect(try scene.outcome().lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
    }

    @Test("Updates that replace one another share their days, because each app fetches one of them")
    func replaced() throws {
        var scene = scene(published: "2027-01-01")
        scene.daysToFetch = 9
        func second(published: String, without pin: String = "") -> String {
            let second = scene.updates.replacing("\"version\": 7", with: "\"version\": 8")
                .replacing("2027-01-01", with: published)
            return pin.isEmpty ? second : second.replacing(pin, with: PlanFixture.spare)
        }
        let first = scene.updates
        scene.updates = first + ", " + second(published: "2027-01-05")
        #expect(try scene.outcome().lockOuts == [])
        // Some users have fetched the first update only. The switch to the key that the second lacks locks out the
        // others.
        scene.updates = first
        scene.updates += ", " + second(published: "2027-01-05", without: PlanFixture.next)
        #expect(try scene.outcome().lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        // Nothing can be fetched between the first update's end and the second, so the days begin again.
        scene.updates = first
        let later = second(published: "2027-01-05")
        scene.updates = first.replacing("2027-06-01", with: "2027-01-04") + ", " + later
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2027-01-10T00:00:00Z until 2027-01-14T00:00:00Z pin-mismatch"
            ])
    }

    @Test("An update that withdraws a key too early locks users out from the hour of its publication")
    func tooEarly() throws {
        let withdrawn = #""pins": ["\#(PlanFixture.next)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        let outcome = try scene(published: "2027-01-08", rule: withdrawn).outcome()
        #expect(outcome.advice == ["keep-pin"])
        let early = outcome.lockOuts
        #expect(early == ["1.0 from 2027-01-08T00:00:00Z until 2027-01-10T00:00:00Z pin-mismatch"])
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
                "1.0 from 2026-11-20T00:00:00Z until 2026-12-02T00:00:00Z host-not-allowed"
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
        scene.daysToFetch = nil
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
