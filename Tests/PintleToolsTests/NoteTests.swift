import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@Suite("Notes of policies in the tool")
struct NoteTests {
    private let directory: TemporaryDirectory
    private let identity: Identity
    private let anchors: String
    private static let spare = "sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM="
    /// The key of ISRG Root X1.
    private static let root = "sha256/C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M="

    init() throws {
        directory = try TemporaryDirectory()
        let authority = try CertificateAuthority.root(name: "Root")
        identity = try authority.issue(hosts: ["example.test"])
        anchors = try directory.write(authority.certificate.pem, to: "root.pem")
    }

    private func policy(key: PrivateKey? = nil, more: String = "") throws -> String {
        let pin = try PublicKeyPin(subjectPublicKeyInfo: key?.spkiDER ?? identity.certificate.spkiDER)
        return try directory.write(
            """
            {"$schema": "policy.schema.json", "version": 1, "hosts": [
              {"host": "other.test", "pins": ["\(Self.root)"], "backupPins": ["\(Self.spare)"]},
              {"host": "example.test", "note": "keys are in the safe",
               "pins": [{"spki": "\(pin)", "note": "key of 2026"}],
               "backupPins": [{"spki": "\(Self.spare)", "note": "key in the safe"}]\(more)}]}
            """, to: "policy.json")
    }

    private func check(_ policy: String) throws -> ToolRun {
        let server = try LoopbackTLSServer(identity)
        return ToolRun(
            arguments: [
                "check", "https://example.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors", anchors,
            ])
    }

    @Test("Inspect shows the notes of rules and pins, and names known roots that have none")
    func inspect() throws {
        let policy = try policy()
        let run = ToolRun(arguments: ["inspect", policy])
        #expect(run.code == 0)
        #expect(run.output.contains("  note    keys are in the safe\n"))
        #expect(
            run.output.contains("  (\"key of 2026\")\n")
                && run.output.contains("\(Self.spare)  (\"key in the safe\")\n"))
        #expect(run.output.contains("\(Self.root)  (ISRG Root X1)\n") && run.output.contains("\(Self.spare)\n"))
        // A note cannot pose as the name of a root, nor hide it.
        let posing = ToolRun(
            arguments: ["inspect", try self.policy().replacingNotes(in: directory, of: Self.root, "ISRG Root X2")])
        #expect(posing.output.contains("\(Self.root)  (ISRG Root X1, \"ISRG Root X2\")\n"))
        let document = try ToolRun(arguments: ["inspect", policy, "--json"]).json()
        let rules = document["policy"]?["hosts"]?.elements.map(Array.init)
        #expect(rules?.last?["note"]?.string == "keys are in the safe")
        #expect(document["policy"]?["$schema"]?.string == "policy.schema.json")
    }

    @Test("Check shows the notes of the rule that decides, also after a mismatch")
    func check() throws {
        let trusted = try check(try policy())
        #expect(trusted.code == 0, "\(trusted.errors)")
        #expect(
            trusted.output.contains("<- pin 1 (\"key of 2026\")") && trusted.output.contains("(\"key in the safe\")"))
        #expect(trusted.output.contains("keys are in the safe"))
        let refused = try check(try policy(key: try PrivateKey()))
        #expect(refused.code == 1)
        #expect(refused.output.contains("(\"key of 2026\")\n") && refused.output.contains("(\"key in the safe\")\n"))
    }

    @Test("Lint shows the note of the pin, or else of the rule, that a finding is about")
    func lint() throws {
        let policy = try policy(more: ", \"expiry\": {\"after\": \"2020-01-01T00:00:00Z\", \"then\": \"reject\"}")
        let run = ToolRun(arguments: ["lint", policy])
        #expect(run.code == 1 && run.output.contains("      note: keys are in the safe\n"), "\(run.output)")
        let problems = try ToolRun(arguments: ["lint", policy, "--json"]).json()["problems"]?.elements.map(Array.init)
        let expired = problems?.first { $0["id"]?.string == "expired" }
        #expect(expired?["note"]?.string == "keys are in the safe")
        #expect(problems?.filter { $0["note"] != nil }.count == 1)
    }

    @Test("The rule of an authority names its roots")
    func authority() throws {
        let key = try directory.write(try PrivateKey(.p256).pem, to: "backup.key")
        let run = ToolRun(
            arguments: ["pin", "--authority", "letsencrypt", "--host", "example.test", key, "--as", "policy"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.contains("\"spki\": \"\(Self.root)\""))
        #expect(run.output.contains("\"note\": \"ISRG Root X1\""))
        #expect((try? PinningPolicy(json: Array(run.output.utf8))) != nil)
    }

    @Test("A signed update has the notes of its policy")
    func update() throws {
        let key = directory.path(of: "update.key")
        #expect(ToolRun(arguments: ["keygen", "--out", key]).code == 0)
        let update = directory.path(of: "update.json")
        let run = ToolRun(
            arguments: [
                "sign", "--key", key, "--version", "8", "--expires", RFC3339.string(from: Date() + 86_400),
                try policy(), "-o", update,
            ])
        #expect(run.code == 0, "\(run.errors)")
        #expect(ToolRun(arguments: ["inspect", update]).output.contains("(\"key in the safe\")"))
    }
}

extension String {
    /// Gives a pin of this policy a note, and returns the path of the new policy.
    fileprivate func replacingNotes(in directory: TemporaryDirectory, of pin: String, _ note: String) throws -> String {
        let text = String(decoding: try directory.read("policy.json"), as: UTF8.self)
        return try directory.write(
            text.replacing("\"\(pin)\"", with: #"{"spki": "\#(pin)", "note": "\#(note)"}"#), to: "posing.json")
    }
}
