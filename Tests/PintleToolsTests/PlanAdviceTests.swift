import FoundationEssentials
import Pintle
import PintlePolicyFile
import Testing

/// Advice must help. The tool gives no advice that would lock out other users or serve a stolen key. Each such test
/// also has a case in which the tool gives the advice.
@Suite("Advice of plans")
struct PlanAdviceTests {
    private func rule(_ pins: String..., backups: [String]) -> String {
        func list(_ pins: [String]) -> String { pins.map { "\"\($0)\"" }.joined(separator: ", ") }
        return #""pins": [\#(list(pins))], "backupPins": [\#(list(backups))]"#
    }

    private func stealing(_ key: String, on day: String, _ keys: String) -> String {
        keys.replacing(#""name": "\#(key)""#, with: #""name": "\#(key)", "compromised": "\#(day)""#)
    }

    private func item(_ id: String, in outcome: PlanOutcome) -> JSONValue? {
        outcome.elements("advice").first { outcome.text($0, "id") == id }
    }

    private func texts(_ outcome: PlanOutcome) -> [String] {
        outcome.elements("advice").compactMap { outcome.text($0, "message") }
    }

    // MARK: Stolen keys

    @Test("The tool advises to withdraw a stolen key the day after the server stops using it, or at once if it has")
    func withdrawal() throws {
        var scene = PlanFixture()
        let keys = scene.keys
        scene.fetches = true
        scene.rule = rule(PlanFixture.current, backups: [PlanFixture.next])
        scene.keys = stealing("current", on: "2027-01-05", keys)
        var outcome = try scene.outcome()
        let still = try #require(item("withdraw-pin", in: outcome))
        #expect(outcome.text(still, "by") == "2027-01-11T00:00:00Z")
        #expect(outcome.text(still, "message")?.contains("from 2027-01-11 on, not before") == true)
        scene.keys = stealing("current", on: "2027-01-20", keys)
        outcome = try scene.outcome()
        let gone = try #require(item("withdraw-pin", in: outcome))
        #expect(outcome.text(gone, "by") == "2027-01-20T00:00:00Z")
        #expect(outcome.text(gone, "message")?.contains("at once") == true)
    }

    @Test("Following that advice locks no user out; withdrawing the pin on the day of the theft does")
    func withdrawalFollowed() throws {
        var scene = PlanFixture()
        scene.fetches = true
        scene.rule = rule(PlanFixture.current, backups: [PlanFixture.next])
        scene.keys = stealing("current", on: "2027-01-05", scene.keys)
        let withdrawn = scene.policy(rule(PlanFixture.next, backups: [PlanFixture.spare]))
        func lockOuts(published day: String) throws -> [String] {
            scene.updates = """
                {"version": 7, "published": "\(day)", "expires": "2027-06-01", "policy": \(withdrawn)}
                """
            return try scene.outcome().lockOuts
        }
        #expect(try lockOuts(published: "2027-01-11") == [])
        #expect(try lockOuts(published: "2027-01-05").count == 1)
    }

    @Test("If the server never stops using a stolen key, the tool advises to switch first")
    func withdrawalNever() throws {
        var scene = PlanFixture()
        scene.rule = rule(PlanFixture.current, backups: [PlanFixture.next])
        scene.keys = stealing("current", on: "2027-01-05", scene.keys)
        #expect(try !texts(scene.outcome()).contains { $0.hasPrefix("switch to a certificate for another key") })
        scene.after = scene.before
        #expect(try texts(scene.outcome()).contains { $0.hasPrefix("switch to a certificate for another key") })
    }

    @Test("The advice waits until every server of a rule has switched")
    func withdrawalOfSharedRule() throws {
        var scene = PlanFixture()
        scene.host = "example.com"
        scene.rule = rule(PlanFixture.current, backups: [PlanFixture.next]) + #", "includeSubdomains": true"#
        scene.keys = stealing("current", on: "2027-01-05", scene.keys)
        func days(otherSwitches day: String) throws -> [String] {
            let other = """
                "servers": [{"host": "www.example.com", "serves": [{"from": "2026-11-01", "certificate": "before"},
                  {"from": "\(day)", "certificate": "after"}]}, 
                """
            let text = scene.text.replacing("\"servers\": [", with: other)
            let outcome = try PlanOutcome(ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(text.utf8)))
            return outcome.elements("advice").filter { outcome.text($0, "id") == "withdraw-pin" }
                .compactMap { outcome.text($0, "by") }
        }
        #expect(try days(otherSwitches: "2027-01-09") == ["2027-01-11T00:00:00Z", "2027-01-11T00:00:00Z"])
        #expect(try days(otherSwitches: "2027-01-25") == ["2027-01-26T00:00:00Z", "2027-01-26T00:00:00Z"])
    }

    // MARK: Another key

    @Test("The tool does not advise a key that the victims pin if other versions refuse it")
    func knownKey() throws {
        var scene = PlanFixture()
        scene.keys += #", {"name": "spare", "pin": "\#(PlanFixture.spare)"}"#
        let knowing = rule(PlanFixture.next, backups: [PlanFixture.spare])
        scene.addVersion(released: "2027-01-10", rule: knowing)
        #expect(try scene.outcome().lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(try scene.outcome().advice.contains("use-known-key"))
        let other = rule(PlanFixture.next, backups: [PlanFixture.foreign])
        scene.addVersion(released: "2027-01-10", rule: other)
        #expect(try scene.outcome().lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(try !scene.outcome().advice.contains("use-known-key"))
    }

    @Test("The tool does not advise a key that is stolen before the certificate ends")
    func knownStolenKey() throws {
        var scene = PlanFixture()
        let keys = scene.keys + #", {"name": "spare", "pin": "\#(PlanFixture.spare)"}"#
        func names() throws -> Bool {
            try texts(scene.outcome()).contains { $0.contains("or get") && $0.contains(#""spare""#) }
        }
        // The certificate ends on 2027-06-01, before this theft.
        scene.keys = stealing("spare", on: "2027-06-02", keys)
        #expect(try names())
        scene.keys = stealing("spare", on: "2027-01-11", keys)
        #expect(try !names())
    }

    // MARK: A later switch

    @Test("The tool does not advise to wait if other versions refuse the certificate that is served until then")
    func laterSwitch() throws {
        var scene = PlanFixture()
        let both = rule(PlanFixture.current, backups: [PlanFixture.next])
        scene.supportedUntil = "2027-02-01"
        scene.addVersion(released: "2026-10-01", rule: both)
        let outcome = try scene.outcome()
        let later = try #require(item("switch-later", in: outcome))
        #expect(outcome.text(later, "by") == "2027-02-01T00:00:00Z")
        let newOnly = rule(PlanFixture.next, backups: [PlanFixture.spare])
        scene.addVersion(released: "2027-01-10", rule: newOnly)
        let advice = try scene.outcome().advice
        #expect(!advice.contains("switch-later") && advice.contains("no-later-switch"))
    }

    @Test("The tool does not advise to wait while the key that is served until then is stolen")
    func laterSwitchStolen() throws {
        var scene = PlanFixture()
        let keys = scene.keys
        scene.supportedUntil = "2027-02-01"
        scene.addVersion(released: "2026-10-01", rule: rule(PlanFixture.current, backups: [PlanFixture.next]))
        scene.keys = stealing("current", on: "2027-02-01", keys)
        #expect(try scene.outcome().advice.contains("switch-later"))
        scene.keys = stealing("current", on: "2027-01-31", keys)
        let advice = try scene.outcome().advice
        #expect(!advice.contains("switch-later") && advice.contains("no-later-switch"))
    }

    // MARK: Releases

    @Test("Users do not go back to an older version, so the tool advises to hold back a release that is not out yet")
    func holdBack() throws {
        var scene = PlanFixture()
        scene.rule = rule(PlanFixture.current, backups: [PlanFixture.next])
        let newOnly = rule(PlanFixture.next, backups: [PlanFixture.spare])
        scene.addVersion(released: "2027-01-01", rule: newOnly)
        let outcome = try scene.outcome()
        #expect(
            outcome.lockOuts == ["2.0 from 2027-01-01T00:00:00Z until 2027-01-10T00:00:00Z pin-mismatch"])
        let held = try #require(item("hold-back", in: outcome))
        #expect(outcome.text(held, "by") == "2027-01-01T00:00:00Z")
        #expect(outcome.text(held, "pin") == PlanFixture.current)
        #expect(!outcome.advice.contains("end-support"))
        scene.addVersion(released: "2026-10-01", rule: newOnly)
        let out = try scene.outcome().advice
        #expect(out.contains("add-pin") && !out.contains("hold-back") && !out.contains("end-support"))
        scene.addVersion(released: "2027-01-10", rule: newOnly)
        #expect(try scene.outcome().lockOuts == [])
    }

    // MARK: Updates

    @Test("The tool allows two weeks for an update unless the plan says how many days users need")
    func daysToFetch() throws {
        var scene = PlanFixture()
        scene.fetches = true
        func by() throws -> String? {
            let outcome = try scene.outcome()
            return item("publish-update", in: outcome).flatMap { outcome.text($0, "by") }
        }
        scene.daysToFetch = nil
        #expect(try by() == "2026-12-27T00:00:00Z")
        scene.daysToFetch = 3
        #expect(try by() == "2027-01-07T00:00:00Z")
    }

    @Test("An update keeps the pin of the current certificate until the switch, whichever policy is its base")
    func harmlessUpdate() throws {
        var scene = PlanFixture()
        scene.fetches = true
        func base(_ rule: String) throws -> String? {
            scene.addVersion(released: "2026-10-01", rule: rule, fetches: true)
            let update = try texts(scene.outcome()).first {
                $0.hasPrefix("or publish an update") && $0.contains(#"(key "next")"#)
            }
            return update?.firstRange(of: "with the policy of version ").map {
                String(update?[$0.upperBound...].prefix(3) ?? "")
            }
        }
        #expect(try base(rule(PlanFixture.current, backups: [PlanFixture.next])) == "2.0")
        #expect(try base(rule(PlanFixture.next, backups: [PlanFixture.foreign])) == "1.0")
    }

    @Test("One update is for all versions; the advice lists those that do not take its policy separately")
    func onePolicy() throws {
        var scene = PlanFixture()
        scene.fetches = true
        let own = rule(PlanFixture.current, backups: [PlanFixture.spare])
        scene.addVersion(released: "2026-10-01", rule: own, fetches: true)
        func takers() throws -> [String]? {
            let outcome = try scene.outcome()
            return item("publish-update", in: outcome)?["apps"]?.elements?.compactMap(\.string)
        }
        #expect(try takers() == ["1.0", "2.0"])
        #expect(try !scene.outcome().advice.contains("no-update"))
        // Neither version takes the policy of the other, because each has a host that the other lacks.
        scene.rule += #"}, {"host": "old.example.com", \#(own)"#
        let policy = """
            {"version": 1, "hosts": [{"host": "api.example.com", \(own)}, {"host": "new.example.com", \(own)}]}
            """
        scene.addVersion(released: "2026-10-01", rule: own, fetches: true, policy: policy)
        #expect(try takers() == ["2.0"])
        #expect(try scene.outcome().advice.contains("no-update"))
    }
}
