import Testing

@testable import Pintle
@testable import PintlePolicyFile

@Suite("Notes in policies")
struct PolicyNoteTests {
    private static func policy(
        note: String = "the shop's servers", pinNote: String = "key 2026", schema: String = "policy.schema.json",
        enforcement: String = "enforce"
    ) -> String {
        """
        {"$schema": "\(schema)", "version": 1, "hosts": [
          {"host": "a.example", "pins": ["\(PolicyText.pin)"], "backupPins": "none-accepted"},
          {"host": "b.example", "note": "\(note)", "enforcement": "\(enforcement)",
           "pins": ["\(PolicyText.pin)", {"spki": "\(PolicyText.third)", "note": "\(pinNote)"}],
           "backupPins": [{"certificate": "\(PolicyText.fingerprint)", "at": "leaf", "note": "\(pinNote)"}]}]}
        """
    }

    private static func ids(_ text: String) -> [String] {
        PolicyText.problems(text).map { "\($0.id) \($0.path)" }
    }

    private func read(_ text: String) throws -> PinningPolicy { try PinningPolicy(json: Array(text.utf8)) }

    @Test("A policy keeps its notes, each at its rule or pin, also when it is written")
    func kept() throws {
        let policy = try read(Self.policy())
        let written = try read(String(decoding: policy.numbered(7).json(), as: UTF8.self))
        for policy in [policy, written] {
            #expect(policy.notes.schema == "policy.schema.json")
            #expect(policy.notes[.rule(0)] == nil && policy.notes[.rule(0)["pins"][0]] == nil)
            #expect(policy.notes[.rule(1)] == "the shop's servers")
            #expect(policy.notes[.rule(1)["pins"][0]] == nil)
            #expect(policy.notes[.rule(1)["pins"][1]] == "key 2026")
            #expect(policy.notes[.rule(1)["backupPins"][0]] == "key 2026")
            #expect(policy.notes.nearest(to: .rule(1)["pins"][1]) == "key 2026")
            #expect(policy.notes.nearest(to: .rule(1)["pins"][0]) == "the shop's servers")
            #expect(policy.notes.nearest(to: .rule(0)["pins"][1]) == nil && policy.notes.nearest(to: .root) == nil)
        }
        #expect(written.updateVersion == 7 && written.numbered(0).json() == policy.json())
    }

    @Test("Policies that differ only in notes have the same rules")
    func withoutEffect() throws {
        let policy = try read(Self.policy())
        let other = try read(Self.policy(note: "others", pinNote: "moved", schema: "elsewhere"))
        #expect(policy.hasSameRules(as: other) && policy.json() != other.json())
        #expect(policy.hosts.map(\.self) == other.hosts.map(\.self))
        #expect(policy.hosts.map { $0.pins + $0.backupPins } == other.hosts.map { $0.pins + $0.backupPins })
        // The twin differs in a term.
        #expect(!policy.hasSameRules(as: try read(Self.policy(enforcement: "reportOnly"))))
    }

    @Test("A note has up to 200 characters and no control characters")
    func limits() throws {
        for note in ["", "é → ü 🔑", String(repeating: "n", count: 200)] {
            #expect(try read(Self.policy(note: note)).notes[.rule(1)] == note)
            #expect(try read(Self.policy(pinNote: note)).notes[.rule(1)["pins"][1]] == note)
        }
        for note in [
            String(repeating: "n", count: 201), "two\\nlines", "bell\\u0007", "\\u001b[2J", "c1\\u0085", "\\u202e",
            "a\\u2028b",
        ] {
            #expect(Self.ids(Self.policy(note: note)) == ["invalid-note hosts[1].note"])
            #expect(
                Self.ids(Self.policy(pinNote: note)) == [
                    "invalid-note hosts[1].pins[1].note", "invalid-note hosts[1].backupPins[0].note",
                ])
        }
        let number = Self.policy().replacingText("\"the shop's servers\"", with: "7")
        #expect(Self.ids(number) == ["wrong-type hosts[1].note"])
        #expect(Self.ids(number.replacingText("\"policy.schema.json\"", with: "{}")).first == "wrong-type $schema")
    }

    @Test("A note has its place: not in the policy itself, an expiry or an issuer's key")
    func places() {
        #expect(Self.ids("{\"version\": 1, \"note\": \"n\", \"hosts\": []}") == ["unknown-key note"])
        let anchors = PolicyText.rule("a.example", "\"anchors\": {\"system\": true, \"note\": \"n\"}")
        #expect(Self.ids(PolicyText.policy(anchors)) == ["unknown-key hosts[0].anchors.note"])
    }
}
