import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintlePolicyTools

/// A rule that lists the roots of authorities has all but one of them in `backupPins`. If one of these matches, the
/// authority has moved. That calls for no new backup key, unlike a server that has moved to its owner's backup key.
@Suite("Backup pins of authorities")
struct AuthorityBackupTests {
    private let fixture: FamilyFixture
    /// The pins of all roots of an edge with two authorities, as `pintle pin --authority` writes them.
    private let rule: String

    init() throws {
        fixture = try FamilyFixture()
        let run = ToolRun(
            "pin", "--authority", "edge", "--host", "example.test", "--as", "policy", "--families", fixture.file)
        rule = try fixture.directory.write(run.output, to: "policy.json")
    }

    /// Returns a server whose certificate comes from this root. Its key is not pinned.
    private func server(_ id: String, _ root: Int) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(try #require(fixture.families[id])[root].issue(hosts: ["example.test"]))
    }

    private func run(_ command: String, _ policy: String, _ server: LoopbackTLSServer, _ options: String...) -> ToolRun
    {
        let host = command == "check" ? ["check", "example.test", "--policy", policy] : [command, policy]
        return ToolRun(arguments: host + options + fixture.arguments(server))
    }

    /// Writes a policy whose pin in use is another key than the server's, which is the backup.
    private func policy(pins: String, backups: String) throws -> String {
        try fixture.directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.test", "pins": [\(pins)], "backupPins": [\(backups)]}]}
            """, to: "own.json")
    }

    private static let spare = "\"sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM=\""

    @Test(
        "Check asks for no new backup key if an authority moved to another root, or a CDN to another authority",
        arguments: [("alpha", 1), ("beta", 1)])
    func check(authority: String, root: Int) throws {
        let run = run("check", rule, try server(authority, root))
        #expect(run.code == 0)
        #expect(run.output.contains("<- backup pin "))
        #expect(run.output.contains("\nnext: nothing to do until "))
        #expect(run.output.contains("key of \(authority.uppercased()): you need no new backup key\n"))
        #expect(!run.output.contains("make a new backup") && !run.output.contains("no backup\n"))
        #expect(run.output.contains("  a key of ALPHA\n"))
        let json = try self.run("check", rule, try server(authority, root), "--json").json()
        #expect(json["isBackup"]?.boolean == true && json["backupsInUse"] == nil)
        // The pin in use is the first root of the first authority.
        let first = self.run("check", rule, try server("alpha", 0))
        #expect(first.output.contains("<- pin 1") && !first.output.contains("you need no new backup key"))
    }

    @Test("An audit and lint warn of no backup in use, and the results say that the key is an authority's")
    func audit() throws {
        let server = try server("beta", 0)
        let run = run("audit", rule, server, "--json")
        #expect(run.code == 0)
        #expect(run.output.contains("\"backup\":\"authority\"") && !run.output.contains("live-"))
        let lint = self.run("lint", rule, server, "--live", "--allow", "shared-authority-only:example.test")
        #expect(lint.code == 0, "\(lint.output)")
    }

    @Test("A server on the backup key of its owner is told to make a new one, also beside pins of authorities")
    func ownKey() throws {
        let identity = try #require(fixture.families["gamma"])[0].issue(hosts: ["example.test"])
        let leaf = "\"\(try FamilyFixture.pin(identity.certificate))\""
        let server = try LoopbackTLSServer(identity)
        let roots = try fixture.pins("alpha").map { "\"\($0)\"" }.joined(separator: ", ")
        for pins in [Self.spare, roots] {
            let policy = try policy(pins: pins, backups: leaf)
            #expect(run("check", policy, server).output.contains("\nnext: the backup key is in use: make a new backup"))
            #expect(run("audit", policy, server, "--json").output.contains("\"backup\":\"matched\""))
            #expect(run("lint", policy, server, "--live").output.contains("live-on-backup"))
        }
        // An owner's key beside the roots is gone, and only the backup is left.
        let beside = try policy(
            pins: "{\"spki\": \(Self.spare), \"at\": \"leaf\"}, \(roots)",
            backups: "\"\(try fixture.pins("gamma")[0])\"")
        #expect(run("check", beside, server).output.contains("\nnext: the backup key is in use: make a new backup"))
        // A root behind a rule of the owner's keys is the last thing that still matches.
        let root = "\"\(try fixture.pins("gamma")[0])\""
        let last = try policy(pins: Self.spare, backups: root)
        #expect(run("check", last, server).output.contains("\nnext: the backup key is in use: make a new backup"))
    }

    @Test("An intermediate in use, with another as backup, calls for a new backup: the next renewal may use a third")
    func intermediates() throws {
        let alpha = try #require(fixture.families["alpha"])
        let issuers = try [alpha[0].intermediate(name: "First"), alpha[0].intermediate(name: "Second")]
        let pins = try issuers.map { "\"\(try FamilyFixture.pin($0.certificate))\"" }
        let members = pins.map { "{\"name\": \"an issuer\", \"pin\": \($0), \"from\": \"a test\"}" }
        let json = try FamilyFixture.json(
            fixture.families, more: "\"intermediates\": [\(members.joined(separator: ", "))], ")
        let file = try fixture.directory.write(json, to: "issuers.json")
        let server = try LoopbackTLSServer(try issuers[1].issue(hosts: ["example.test"]))
        let policy = try policy(pins: pins[0], backups: pins[1])
        let arguments = ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", fixture.anchors, "--families", file]
        let check = ToolRun(arguments: ["check", "example.test", "--policy", policy] + arguments)
        #expect(check.output.contains("\nnext: the backup key is in use: make a new backup"), "\(check.output)")
        let audit = ToolRun(arguments: ["audit", policy, "--json"] + arguments)
        #expect(audit.output.contains("\"backup\":\"matched\""), "\(audit.output)")
    }

    @Test("A backup root above the root in use, which signed it too, is neither unused nor a backup in use")
    func crossSigned() throws {
        let alpha = try #require(fixture.families["alpha"])
        let identity = try alpha[0].crossSigned(by: alpha[1]).issue(hosts: ["example.test"])
        // Without the first root among the anchors the path ends in the second.
        let anchors = try fixture.directory.write(alpha[1].certificate.pem, to: "second.pem")
        let pins = try fixture.pins("alpha").map { "\"\($0)\"" }
        let policy = try policy(pins: pins[0], backups: pins[1])
        let server = try LoopbackTLSServer(identity)
        let arguments = ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors, "--families", fixture.file]
        let check = ToolRun(arguments: ["check", "example.test", "--policy", policy] + arguments)
        #expect(check.output.contains("  a key of ALPHA, in the live chain at depth 2\n"), "\(check.output)")
        #expect(!check.output.contains("make a new backup"))
        let audit = ToolRun(arguments: ["audit", policy, "--json"] + arguments)
        #expect(audit.output.contains("\"backup\":\"authority\""), "\(audit.output)")
    }

    @Test("A plan that ends on a backup pin asks for a new backup, unless it is a key of an authority")
    func plan() throws {
        let roots = try fixture.pins("alpha")
        var scene = PlanFixture()
        scene.keys = """
            {"name": "current", "pin": "\(PlanFixture.current)"}, {"name": "next", "pin": "\(PlanFixture.next)"},
            {"name": "root 1", "pin": "\(roots[0])"}, {"name": "root 2", "pin": "\(roots[1])"}
            """
        scene.before = #""keys": ["current", "root 1"], "notBefore": "2026-11-01", "notAfter": "2027-06-01""#
        scene.after = #""keys": ["next", "root 2"], "notBefore": "2026-11-01", "notAfter": "2027-06-01""#
        scene.rule = #""pins": ["\#(roots[0])"], "backupPins": ["\#(roots[1])", "\#(roots[2])"]"#
        func advice(_ options: String...) throws -> [String] {
            try PlanOutcome(
                ToolRun(
                    arguments: ["plan", "-", "--json", "--at", "2026-11-20"] + options, input: Array(scene.text.utf8))
            ).advice
        }
        #expect(try advice("--families", fixture.file) == [])
        #expect(try advice() == ["make-backup"])
        scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.next)"]"#
        #expect(try advice("--families", fixture.file) == ["make-backup"])
    }
}
