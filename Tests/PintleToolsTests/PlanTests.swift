import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyTools

/// The pinning library decides in a plan. Each refusal has a counterpart that differs in one thing and is accepted.
@Suite("Plans")
struct PlanTests {
    /// A lock-out under both certificates, which counts as two.
    private static let always = [
        "1.0 from 2026-11-20T00:00:00Z until 2027-01-10T00:00:00Z pin-mismatch",
        "1.0 from 2027-01-10T00:00:00Z pin-mismatch",
    ]

    @Test("A key that no rule pins locks users out from the switch on; a pinned key does not")
    func mismatch() throws {
        var scene = PlanFixture()
        #expect(try scene.outcome().lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
        #expect(try scene.outcome().lockOuts == [])
        #expect(try scene.outcome().advice == ["make-backup"])
    }

    @Test("A lock-out that began before now is reported from now on")
    func already() throws {
        #expect(
            try PlanFixture().outcome(at: "2027-02-01T10:00:00Z").lockOuts == [
                "1.0 from 2027-02-01T10:00:00Z pin-mismatch"
            ])
    }

    @Test("A pin matches only at its position: a root pinned at the leaf matches nothing")
    func positions() throws {
        var scene = PlanFixture()
        func rule(at position: String) -> String {
            #""pins": [{"spki": "\#(PlanFixture.root)", "at": "\#(position)"}], "backupPins": ["\#(PlanFixture.spare)"]"#
        }
        scene.rule = rule(at: "ca")
        #expect(try scene.outcome().lockOuts == [])
        scene.rule = rule(at: "leaf")
        #expect(try scene.outcome().lockOuts == Self.always)
    }

    @Test("If a rule requires leaf and authority, both must match")
    func leafAndCA() throws {
        var scene = PlanFixture()
        func rule(_ root: String) -> String {
            #""pins": [{"spki": "\#(PlanFixture.current)", "at": "leaf"}, {"spki": "\#(root)", "at": "ca"}], "#
                + #""backupPins": [{"spki": "\#(PlanFixture.next)", "at": "leaf"}], "requires": "leafAndCA""#
        }
        scene.rule = rule(PlanFixture.root)
        #expect(try scene.outcome().lockOuts == [])
        scene.rule = rule(PlanFixture.spare)
        #expect(try scene.outcome().lockOuts == Self.always)
    }

    @Test("The planned issuer key locks out no app, and another one does; the simulation ignores the length of a path")
    func pathTerms() throws {
        var scene = PlanFixture()
        let pins = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
        func rule(_ issuer: String) -> String { pins + #", "issuerKey": "\#(issuer)", "minimumPathLength": 4"# }
        scene.rule = rule(PlanFixture.root)
        #expect(try scene.outcome().lockOuts == [])
        scene.rule = rule(PlanFixture.spare)
        #expect(
            try scene.outcome().lockOuts == Self.always.map { $0.replacing("pin-mismatch", with: "invalid-path other") }
        )
    }

    @Test("Rules that only report and expired pins lock out no user; pins that refuse after their date do")
    func terms() throws {
        var scene = PlanFixture()
        let pins = scene.rule
        scene.rule = pins + #", "enforcement": "reportOnly""#
        #expect(try scene.outcome().lockOuts == [])
        scene.rule = pins + #", "expiry": {"after": "2027-01-20T00:00:00Z", "then": "systemTrust"}"#
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2027-01-10T00:00:00Z until 2027-01-20T00:00:00Z pin-mismatch"
            ])
        scene.rule = pins + #", "expiry": {"after": "2027-01-05T00:00:00Z", "then": "reject"}"#
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2027-01-05T00:00:00Z until 2027-01-10T00:00:00Z pins-expired",
                "1.0 from 2027-01-10T00:00:00Z pins-expired",
            ])
        #expect(try scene.outcome().advice == ["later-expiry"])
    }

    @Test("An expired certificate locks users out under any pins, because the path is checked first")
    func dates() throws {
        var scene = PlanFixture()
        scene.rule = #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        scene.after = scene.after.replacing("2026-11-01", with: "2027-01-12")
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2027-01-10T00:00:00Z until 2027-01-12T00:00:00Z invalid-path not-yet-valid"
            ])
        #expect(try scene.outcome().advice == ["serve-later"])
    }

    @Test("A private root is trusted if it is an anchor of a rule and its key is the planned one")
    func anchors() throws {
        let authority = try CertificateAuthority.root()
        let pin = try PublicKeyPin(subjectPublicKeyInfo: authority.certificate.spkiDER)
        var scene = PlanFixture()
        scene.keys = scene.keys.replacing(PlanFixture.root, with: "\(pin)")
        scene.before += #", "trust": "private""#
        scene.after += #", "trust": "private""#
        let pem = authority.certificate.pem.replacing("\n", with: "\\n")
        let pins = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
        scene.rule = pins + #", "anchors": {"include": ["\#(pem)"]}"#
        #expect(try scene.outcome().lockOuts == [])
        scene.rule = pins
        #expect(
            try scene.outcome().lockOuts.first == "1.0 from 2026-11-20T00:00:00Z until 2027-01-10T00:00:00Z "
                + "invalid-path untrusted-root")
        #expect(try scene.outcome().advice.first == "trust-root")
        let other = try CertificateAuthority.root().certificate.pem.replacing("\n", with: "\\n")
        scene.rule = pins + #", "anchors": {"include": ["\#(other)"]}"#
        #expect(try scene.outcome().lockOuts.count == 2)
    }

    @Test("A pinned certificate matches if the plan has its fingerprint; otherwise a note says so")
    func fingerprints() throws {
        var scene = PlanFixture()
        let print = String(repeating: "ab", count: 32)
        scene.rule = #""pins": [{"certificate": "\#(print)"}], "backupPins": ["\#(PlanFixture.next)"]"#
        let plain = scene.before
        scene.before = plain + #", "fingerprint": "\#(print)""#
        #expect(try scene.outcome().lockOuts == [])
        #expect(try scene.outcome().notes == 0)
        scene.before = plain
        #expect(
            try scene.outcome().lockOuts == [
                "1.0 from 2026-11-20T00:00:00Z until 2027-01-10T00:00:00Z pin-mismatch"
            ])
        #expect(try scene.outcome().notes == 1)
    }

    @Test("The plan simulates the stolen key of a server; it only notes that of an authority")
    func stolenKeys() throws {
        var scene = PlanFixture()
        let keys = scene.keys
        scene.keys = keys.replacing(#""name": "current""#, with: #""name": "current", "compromised": "2026-12-01""#)
        #expect(try scene.outcome().elements("exposures").count == 1)
        #expect(try scene.outcome().notes == 0)
        scene.keys = keys.replacing(#""name": "root""#, with: #""name": "root", "compromised": "2026-12-01""#)
        #expect(try scene.outcome().elements("exposures").isEmpty)
        #expect(try scene.outcome().notes == 1)
    }

    @Test("A host without a rule is refused if the policy says so")
    func unpinnedHosts() throws {
        var scene = PlanFixture()
        scene.host = "other.example.com"
        #expect(try scene.outcome().lockOuts == [])
        scene.policyMembers = #""unpinnedHosts": "reject", "#
        #expect(
            try scene.outcome().lockOuts.first
                == "1.0 from 2026-11-20T00:00:00Z until 2027-01-10T00:00:00Z host-not-allowed")
        #expect(try scene.outcome().advice == ["add-rule"])
    }

    @Test("A host without a rule is unknown if the policy asks the user, and the report says so")
    func askedHosts() throws {
        var scene = PlanFixture()
        scene.host = "other.example.com"
        scene.policyMembers = #""unpinnedHosts": "askUser", "#
        #expect(
            try scene.outcome().lockOuts.first
                == "1.0 from 2026-11-20T00:00:00Z until 2027-01-10T00:00:00Z unknown-host")
        #expect(try scene.outcome().advice == ["add-rule"])
    }

    @Test("The report names a wrong issuer key with advice about it; the right one locks out no user")
    func issuerKey() throws {
        var scene = PlanFixture()
        let pins = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"], "issuerKey": "#
        scene.rule = pins + "\"\(PlanFixture.foreign)\""
        let outcome = try scene.outcome()
        #expect(
            outcome.lockOuts == [
                "1.0 from 2026-11-20T00:00:00Z until 2027-01-10T00:00:00Z invalid-path other",
                "1.0 from 2027-01-10T00:00:00Z invalid-path other",
            ])
        #expect(Set(outcome.advice) == ["change-issuer"])
        let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(scene.text.utf8))
        let words = run.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(
            words.contains(
                "the server shows \"before\", issued by the key \"root\", and the rule's issuerKey is "
                    + PlanFixture.foreign), "\(run.output)")
        #expect(words.contains("change it to \(PlanFixture.root) (key \"root\"), or leave it out"))

        scene.rule = pins + "\"\(PlanFixture.root)\""
        #expect(try scene.outcome().lockOuts == [])
    }

    @Test("Random policies give the same decisions for the hashes of a plan as for the real certificates")
    func realCertificates() throws {
        var numbers = SeededNumbers(state: 20_261_121)
        let now = Date(wholeSeconds: 1_795_000_000)
        let identities = try (0..<6).map { _ in try CertificateAuthority.root() }
        let pins = try identities.map { try PublicKeyPin(subjectPublicKeyInfo: $0.certificate.spkiDER) }
        let keys = pins.enumerated().map { RotationPlan.Key(name: "\($0.offset)", pin: $0.element) }
        let endpoint = ServerEndpoint(host: try ServerName("a.example.test"))
        var trusted = 0
        for _ in 0..<200 {
            let order = Array(identities.indices.shuffled(using: &numbers).prefix(3))
            let plan = RotationPlan(
                until: now.addingDays(10), keys: keys,
                certificates: [
                    .init(name: "c", keys: order, notBefore: now.addingDays(-1), notAfter: now.addingDays(9))
                ], servers: [], apps: [], updates: [], policies: [])
            func pick() -> [Pin] {
                let positions = PinPosition.allCases
                return pins.indices.shuffled(using: &numbers).prefix(2).map { index in
                    Pin(.publicKey(pins[index]), at: positions[Int.random(in: 0..<3, using: &numbers)])
                }
            }
            let expiry: PinExpiry = Bool.random(using: &numbers) ? .never : .rejecting(after: now.addingDays(-1))
            let (picked, backups) = (pick(), pick())
            let policy = try PinningPolicy {
                try PinnedHost(
                    "example.test", includingSubdomains: Bool.random(using: &numbers), pins: picked,
                    backupPins: backups.filter { !picked.contains($0) }, backup: .noneAccepted, expiry: expiry,
                    enforcement: Int.random(in: 0..<4, using: &numbers) == 0 ? .reportOnly : .enforce)
            }
            let path = ValidatedPath(uncheckedLeafToAnchor: order.map { identities[$0].certificate.der })
            let real = policy.decide(endpoint, path: path, at: now)
            let planned = plan.decision(policy, about: endpoint, serving: 0, at: now)
            #expect(real.reason == planned.reason && real.isTrusted == planned.isTrusted)
            if case .trusted(.pinMatched(let one)) = real, case .trusted(.pinMatched(let two)) = planned {
                #expect(one.depth == two.depth && one.isBackup == two.isBackup)
            }
            trusted += real.isTrusted ? 1 : 0
        }
        #expect((20...180).contains(trusted))
    }
}
