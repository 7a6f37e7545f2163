import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole

@Suite("Exports that would refuse every server of a rule")
struct ExportLockOutTests {
    private let directory: TemporaryDirectory
    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="
    private static let anywhere = "\"pins\": [\"\(pin)\"], \"backupPins\": [\"\(spare)\"]"

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes a policy file with one rule, which has the host and these members.
    private func policy(_ members: String) throws -> String {
        try directory.write(
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \(members)}]}", to: "policy.json")
    }

    /// Returns the text without the line breaks that fit it to the terminal.
    private func unwrapped(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test(
        "A format that compares pins with the leaf refuses a rule that pins authorities, because no server would pass",
        arguments: ["curl", "envoy"])
    func authoritiesAtTheLeaf(format: String) throws {
        func run(_ members: String, _ more: String...) throws -> ToolRun {
            let target = directory.path(of: "out")
            unlink(target)
            let run = ToolRun(arguments: ["export", try policy(members), "--to", format, "-o", target] + more)
            #expect(run.code == (InputFile.exists(target) ? 0 : 2))
            return run
        }
        let authority = "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"ca\"}]"
        let refused = try run(authority + ", \"backupPins\": [\"\(Self.spare)\"]")
        #expect(refused.code == 2)
        #expect(refused.errors.contains("refuse every server of example.com"), "\(refused.errors)")
        // No option changes a position that the policy states.
        #expect(
            refused.errors.contains(
                "cannot pin an authority; add the server's own key to the rule: pintle pin example.com"))
        #expect(!refused.errors.contains("--pins-at"))
        let both = try run(
            authority + ", \"backupPins\": [\"\(Self.spare)\"]}, {\"host\": \"example.net\", \(Self.anywhere)",
            "--pins-at", "ca")
        #expect(
            unwrapped(both.errors).contains(
                "say so: --pins-at leaf, for the others; add the server's own key to the rule: pintle pin example.com"),
            "\(both.errors)")
        #expect(try run(authority + ", \"backupPins\": \"none-accepted\"").code == 2)
        // The export is allowed if the rule also pins a leaf, pins the key as a leaf, or only reports.
        let leaf = "{\"spki\": \"\(Self.spare)\", \"at\": \"leaf\"}"
        #expect(try run(String(authority.dropLast()) + ", \(leaf)], \"backupPins\": \"none-accepted\"").code == 0)
        #expect(try run(authority.replacing("ca", with: "leaf") + ", \"backupPins\": [\"\(Self.spare)\"]").code == 0)
        #expect(
            try run(
                authority + ", \"backupPins\": [\"\(Self.spare)\"], \"enforcement\": \"reportOnly\"}, "
                    + "{\"host\": \"example.net\", \(Self.anywhere)"
            ).code == 0)
        // The tool can only guess whether the other pin is a leaf's. The loss `position` says so.
        let mixed = try run(String(authority.dropLast()) + ", \"\(Self.spare)\"], \"backupPins\": \"none-accepted\"")
        #expect(mixed.code == 0)
        #expect(
            unwrapped(mixed.errors).contains("if they are authorities', every server is refused"), "\(mixed.errors)")
        // The author of the policy can settle that with --pins-at.
        #expect(try run(Self.anywhere).code == 0)
        let said = try run(Self.anywhere, "--pins-at", "ca")
        #expect(said.code == 2 && said.errors.contains("say so: --pins-at leaf"))
        #expect(try run(Self.anywhere, "--pins-at", "leaf").code == 0)
    }

    @Test(
        "Export does not take an imported list of authorities for servers' keys, unless --pins-at says so",
        arguments: ["ats", "curl", "envoy"])
    func importedAuthorities(format: String) throws {
        func keys(_ count: Int) throws -> [String] {
            try (0..<count).map { _ in
                "\(try PublicKeyPin(subjectPublicKeyInfo: CertificateAuthority.root().certificate.spkiDER))"
            }
        }
        func run(_ hosts: [String], _ keys: [String], backup: String? = nil, _ more: String...) throws -> ToolRun {
            let pins = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            let backups = backup.map { "[\"\($0)\"]" } ?? "\"none-accepted\""
            let rules = hosts.map { "{\"host\": \"\($0)\", \"pins\": [\(pins)], \"backupPins\": \(backups)}" }
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}", to: "list.json")
            return ToolRun(arguments: ["export", path, "--to", format] + more)
        }
        let five = try keys(5)
        let list = try run(["example.test"], five)
        #expect(list.code == 2)
        #expect(list.output.isEmpty)
        #expect(list.errors.contains(format == "ats" ? "--pins-at ca for authorities" : "--pins-at leaf"))
        #expect(try run(["example.test"], five, "--pins-at", "leaf").code == 0)
        #expect(try run(["example.test"], five, "--pins-at", "ca").code == (format == "ats" ? 0 : 2))
        #expect(try run(["example.test"], Array(five.prefix(4))).code == 0)
        #expect(try run(["example.test"], Array(five.prefix(4)), backup: five[4]).code == 0)
        let hosts = ["example.com", "example.net", "example.org", "example.test"]
        #expect(try run(hosts, [five[0]]).code == 2)
        // Servers of four domains may share a key, and an imported list never has backups.
        let shared = try run(hosts, [five[0]], backup: five[4])
        #expect(shared.code == 0)
        #expect(
            unwrapped(shared.errors).contains("if they are authorities', every server is refused"), "\(shared.errors)")
        #expect(try run(["a.example.com", "b.example.com", "c.example.com", "d.example.com"], [five[0]]).code == 0)
    }

    @Test("ATS requires a leaf and an authority if both are listed, so a bare pin beside an authority's is refused")
    func mixedPositions() throws {
        let mixed =
            "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"ca\"}], \"backupPins\": [\"\(Self.spare)\"]"
        let run = ToolRun("export", try policy(mixed), "--to", "ats")
        #expect(run.code == 2)
        #expect(run.errors.contains("--pins-at ca"))
        let told = ToolRun("export", try policy(mixed), "--to", "ats", "--pins-at", "ca")
        #expect(told.code == 0)
        #expect(!told.output.contains("NSPinnedLeafIdentities"))
        // The other pin is in use, and the tool guesses that it is a leaf's. The loss `position` says so.
        let inUse =
            "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"ca\"}, \"\(Self.spare)\"], \"backupPins\": \"none-accepted\""
        let guessed = ToolRun("export", try policy(inUse), "--to", "ats")
        #expect(guessed.code == 0)
        #expect(guessed.errors.contains("position") && unwrapped(guessed.errors).contains("a leaf and a ca must match"))
    }

    @Test("ATS requires a match in both of its lists, so a list of only backups would refuse every server")
    func listOfBackups() throws {
        func run(_ backupPosition: String) throws -> ToolRun {
            let members =
                "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"leaf\"}], "
                + "\"backupPins\": [{\"spki\": \"\(Self.spare)\", \"at\": \"\(backupPosition)\"}]"
            return ToolRun("export", try policy(members), "--to", "ats")
        }
        let refused = try run("ca")
        #expect(refused.code == 2)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("only backups would stand for one of them"), "\(refused.errors)")
        #expect(try run("leaf").code == 0)
    }

    @Test(
        "Export refuses a rule if it can write only backups for it, because no server would pass",
        arguments: ["ats", "nsc", "okhttp", "trustkit", "curl"])
    func backupsOnly(format: String) throws {
        let fingerprint = CertificatePin(certificate: try CertificateAuthority.root().certificate.der)
        func run(_ pins: String, _ more: String = "") throws -> ToolRun {
            let members =
                "\"pins\": [\(pins)], \"backupPins\": [{\"spki\": \"\(Self.spare)\", \"at\": \"leaf\"}]\(more)"
            return ToolRun("export", try policy(members), "--to", format)
        }
        let certificate = "{\"certificate\": \"\(fingerprint)\", \"at\": \"leaf\"}"
        let refused = try run(certificate)
        #expect(refused.code == 2)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("only backups, which no server shows yet"), "\(refused.errors)")
        #expect(refused.errors.contains("refuse every server of example.com"))
        // The export is allowed if the rule also pins a key in use, or only reports.
        #expect(try run(certificate + ", {\"spki\": \"\(Self.pin)\", \"at\": \"leaf\"}").code == 0)
        let reporting = ", \"enforcement\": \"reportOnly\"}, {\"host\": \"example.net\", \(Self.anywhere)"
        #expect(try run(certificate, reporting).code == 0)
    }
}
