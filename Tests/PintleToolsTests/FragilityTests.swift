import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleText
@testable import PintleTools

@Suite("The likely end of pins")
struct FragilityTests {
    private let fixture: FamilyFixture
    private let roots: [PintleTestKit.CertificateAuthority]

    init() throws {
        fixture = try FamilyFixture()
        roots = try #require(fixture.families["alpha"])
    }

    private static let spare = "\"sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM=\""

    @discardableResult
    private func policy(_ pins: [Any], backups: [Any] = [spare]) throws -> String {
        func list(_ pins: [Any]) -> String { pins.map { "\($0)" }.joined(separator: ", ") }
        return try fixture.directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.test", "pins": [\(list(pins))], "backupPins": [\(list(backups))]}]}
            """, to: "policy.json")
    }

    private func quoted(_ certificate: MintedCertificate) throws -> String {
        "\"\(try FamilyFixture.pin(certificate))\""
    }

    private func issue(days: Int = 90, by authority: PintleTestKit.CertificateAuthority? = nil) throws -> Identity {
        try (authority ?? roots[0].intermediate()).issue(hosts: ["example.test"]) {
            $0.notAfter = .fromNow(days: days)
        }
    }

    private func lint(_ policy: String, _ server: LoopbackTLSServer, _ options: String...) throws -> ToolRun {
        ToolRun(
            arguments: ["lint", policy, "--live", "--json"] + fixture.arguments(server) + options,
            environment: ["LANG": "C.UTF-8", "SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"])
    }

    private func fragility(_ run: ToolRun) throws -> JSONValue? {
        try run.json()["servers"]?.elements?.first { _ in true }?["fragility"]
    }

    private func ids(_ run: ToolRun) throws -> [String] {
        try run.json()["problems"]?.elements?.compactMap { $0["id"]?.string } ?? []
    }

    /// Writes results of audits that saw these certificates, a minute apart.
    private func history(_ identities: [Identity], policy: String, named name: String) throws -> [String] {
        try identities.enumerated().flatMap { index, identity in
            let server = try LoopbackTLSServer(identity)
            let path = fixture.directory.path(of: "\(name)-\(index).ndjson")
            let run = ToolRun(
                arguments: ["audit", policy, "-o", path, "--hosts", "-"] + fixture.arguments(server).dropFirst(2),
                input: Array("example.test 127.0.0.1:\(server.port)\n".utf8),
                now: Date().addingTimeInterval(Double(index - identities.count) * 60))
            #expect(run.code <= 1, "\(run.errors)")
            // As if the server had been reached at one address each time.
            let text = String(decoding: try InputFile(path, standardInput: ByteSource([])).bytes, as: UTF8.self)
            try fixture.directory.write(
                text.replacing("\"connectTo\":\"127.0.0.1:\(server.port)\",", with: ""), to: "\(name)-\(index).ndjson")
            return ["--from", path]
        }
    }

    // MARK: Leaves

    @Test(
        "A leaf key of a short certificate is likely to end after two thirds of its life; that is no problem of the rule"
    )
    func shortLeaf() throws {
        let identity = try issue(days: 90)
        let server = try LoopbackTLSServer(identity)
        let run = try lint(try policy([try quoted(identity.certificate)]), server)
        #expect(run.code == 0, "\(run.output)")
        let fragility = try #require(try fragility(run))
        #expect(fragility["id"]?.string == "fragile-pin")
        let validity = try Certificate(der: identity.certificate.der).validity
        #expect(fragility["until"]?.string == RFC3339.string(from: ValidityText.lastThird(of: validity)))
        #expect(fragility["because"]?.string?.contains("no renewal was seen") == true)
        let roots = try follow("pintle pin example.test:443 --durable", of: "or pin the roots: ", server)
        #expect(roots.code == 0, "\(roots.errors)")
        for pin in try fixture.pins("alpha") { #expect(roots.output.contains("\(pin)")) }
        try policy(["{\"certificate\": \"\(CertificatePin(certificate: identity.certificate.der))\"}"])
        let key = try follow("pintle pin example.test:443", of: "pin the key: ", server)
        #expect(key.code == 0, "\(key.errors)")
        #expect(key.output.contains("\(try FamilyFixture.pin(identity.certificate))"))
    }

    /// Lints the policy, and runs the command of a note, which must lead to the same server with the same roots.
    ///
    /// - Parameter words: those before the command.
    private func follow(_ command: String, of words: String, _ server: LoopbackTLSServer) throws -> ToolRun {
        let arguments = fixture.arguments(server)
        let lint = ToolRun(arguments: ["lint", fixture.directory.path(of: "policy.json"), "--live"] + arguments)
        let isOfServer = command.contains(":443")
        let isOfFamily = command.contains("--durable") || command.contains("--authority")
        let options = (isOfServer ? arguments.prefix(4) : []) + (isOfFamily ? arguments.suffix(2) : [])
        let line = ([command] + options).joined(separator: " ")
        #expect(lint.output.contains("\(words)\(line)\n"), "\(lint.output)")
        return ToolRun(arguments: line.split(separator: " ").dropFirst().map(String.init))
    }

    @Test("A leaf key of a long certificate, or of a private authority, has no likely end")
    func lastingLeaf() throws {
        let long = try issue(days: 190)
        #expect(try fragility(lint(try policy([try quoted(long.certificate)]), LoopbackTLSServer(long))) == nil)
        let own = try CertificateAuthority.root(name: "Own")
        let identity = try own.issue(hosts: ["example.test"]) { $0.notAfter = .fromNow(days: 30) }
        let anchors = try fixture.directory.write(own.certificate.pem, to: "own.pem")
        let server = try LoopbackTLSServer(identity)
        let run = ToolRun(
            "lint", try policy([try quoted(identity.certificate)]), "--live", "--json", "--connect-to",
            "127.0.0.1:\(server.port)", "--anchors", anchors, "--families", fixture.file)
        #expect(run.code == 0, "\(run.output)")
        #expect(try fragility(run) == nil)
    }

    @Test("A rule that also pins the whole family lasts")
    func withFamily() throws {
        let identity = try issue()
        let pins =
            try [try quoted(identity.certificate)]
            + fixture.pins("alpha").map { "{\"spki\": \"\($0)\", \"at\": \"ca\"}" }
        let run = try lint(try policy(pins), LoopbackTLSServer(identity))
        #expect(try fragility(run) == nil)
        #expect(!(try ids(run)).contains("live-unmatched-pin"))
    }

    // MARK: Authorities

    @Test("One root of a family is incomplete, in the file and at the server; all roots are not")
    func incomplete() throws {
        let identity = try issue()
        let one = try lint(try policy([try quoted(roots[0].certificate)]), LoopbackTLSServer(identity))
        #expect(try ids(one) == ["family-incomplete"])
        #expect(try fragility(one)?["id"]?.string == "family-incomplete")
        #expect(
            try fragility(one)?["because"]?.string?.hasPrefix("ALPHA also issues from alpha 2, alpha 3, alpha 4")
                == true)
        let all = try fixture.pins("alpha").map { "\"\($0)\"" }
        let whole = try lint(try policy(all), LoopbackTLSServer(identity))
        #expect(whole.code == 0, "\(whole.output)")
        #expect(try fragility(whole) == nil)
    }

    @Test("A server on its last key of its own, or a root as the backup of a leaf, is a problem also with families")
    func ownBackups() throws {
        let identity = try issue()
        let server = try LoopbackTLSServer(identity)
        let leaf = try quoted(identity.certificate)
        let other = "{\"spki\": \"\(try FamilyFixture.pin(roots[1].certificate))\", \"at\": \"ca\"}"
        let moved = try lint(try policy([Self.spare, other], backups: [leaf]), server)
        #expect(try ids(moved).contains("live-on-backup"))
        let inUse = try lint(try policy([leaf], backups: [try quoted(roots[0].certificate)]), server)
        #expect(try ids(inUse).contains("live-backup-in-use"))
        // A rule with the whole family in both lists has neither problem.
        let all = try fixture.pins("alpha").map { "{\"spki\": \"\($0)\", \"at\": \"ca\"}" }
        let whole = try lint(try policy([all[1]], backups: [all[0], all[2], all[3], Self.spare]), server)
        #expect(whole.code == 0, "\(whole.output)")
    }

    @Test("If the renewal is overdue, the pin is likely to match until the certificate ends")
    func overdue() throws {
        let identity = try issue(days: 3)
        let server = try LoopbackTLSServer(identity)
        let end = try Certificate(der: identity.certificate.der).validity.notAfter
        let late = ToolRun(
            arguments: ["lint", try policy([try quoted(identity.certificate)]), "--live", "--json"]
                + fixture.arguments(server), now: end.addingTimeInterval(-3_600))
        #expect(try fragility(late)?["until"]?.string == RFC3339.string(from: end))
        #expect(try fragility(late)?["because"]?.string?.contains("the renewal was due on") == true)
    }

    @Test("A rule of nothing but one authority has nothing left without it; a key of one's own is enough")
    func single() throws {
        let all = try fixture.pins("beta").map { "\"\($0)\"" }
        let beta = try #require(fixture.families["beta"])[0]
        let identity = try issue(by: beta)
        let run = try lint(try policy([all[0]], backups: [all[1]]), LoopbackTLSServer(identity))
        #expect(try ids(run) == ["single-authority"])
        #expect(try fragility(run)?["id"]?.string == "single-authority")
        #expect(try fragility(run)?["until"] == nil)
        let twin = try lint(try policy(all), LoopbackTLSServer(identity))
        #expect(twin.code == 0, "\(twin.output)")
    }

    @Test("An intermediate of an authority that exchanges them is fragile, before and at the server")
    func intermediate() throws {
        let issuing = try roots[0].intermediate(name: "Issuing 1")
        let more = """
            "rotation": {"sources": [{"url": "https://a.example", "read": "2026-01-01", "sentence": "They change."}]},
            "intermediates": [{"name": "Issuing 1", "pin": "\(try FamilyFixture.pin(issuing.certificate))", "from": "a test"}],
            """
        let file = try fixture.directory.write(
            try FamilyFixture.json(fixture.families, more: more), to: "rotating.json")
        let path = try policy([try quoted(issuing.certificate)])
        let offline = ToolRun("lint", path, "--json", "--families", file)
        #expect(try ids(offline) == ["fragile-pin"])
        let server = try LoopbackTLSServer(try issue(by: issuing))
        let live = ToolRun(
            "lint", path, "--live", "--json", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", fixture.anchors,
            "--families", file)
        #expect(try ids(live) == ["fragile-pin", "fragile-pin"])
        #expect(try fragility(live)?["because"]?.string?.hasPrefix("ALPHA exchanges its intermediates") == true)
        let text = ToolRun(
            "lint", path, "--live", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", fixture.anchors,
            "--families", file)
        #expect(
            text.output.contains(
                "pin the roots instead: pintle pin example.test:443 --durable --connect-to 127.0.0.1:\(server.port) "
                    + "--anchors \(fixture.anchors) --families \(file)\n"), "\(text.output)")
        // The same intermediate, if the authority says nothing of the kind.
        #expect(ToolRun("lint", path, "--json", "--families", fixture.file).code == 0)
    }

    @Test("Lint warns of families that are more than a year old, if the policy pins one of their keys")
    func age() throws {
        let pin = try #require(try FamilyFile.builtIn().families.selection(named: "letsencrypt")?.families[0].pins[0])
        let later = try FamilyFile.builtIn().families.date.addingTimeInterval(367 * 86_400)
        let path = try policy(["\"\(pin)\""])
        #expect(ToolRun("lint", path, now: later).errors.contains("more than a year old"))
        #expect(!ToolRun("lint", path).errors.contains("more than a year old"))
        #expect(
            !ToolRun("lint", try policy([try quoted(roots[0].certificate)]), now: later).errors.contains("year old"))
    }

    // MARK: History

    @Test("A key that outlived a renewal lasts; a key that came with the last renewal does not")
    func history() throws {
        let first = try issue()
        let kept = try first.renewed(by: try roots[0].intermediate())
        let path = try policy([try quoted(first.certificate)])
        let seen = try history([first, kept], policy: path, named: "kept")
        let keeping = try LoopbackTLSServer(kept)
        let lasting = ToolRun(
            arguments: ["lint", path, "--live", "--json"] + fixture.arguments(keeping) + seen)
        #expect(lasting.code == 0, "\(lasting.output)\(lasting.errors)")
        #expect(try fragility(lasting) == nil)
        let other = try issue()
        let changed = try policy([try quoted(other.certificate)])
        let server = try LoopbackTLSServer(other)
        let fragile = ToolRun(
            arguments: ["lint", changed, "--live", "--json"] + fixture.arguments(server)
                + (try history([first, other], policy: changed, named: "changed")))
        #expect(try fragility(fragile)?["id"]?.string == "fragile-pin")
        #expect(try fragility(fragile)?["because"]?.string?.contains("brought a new key") == true, "\(fragile.output)")
        #expect(try ids(fragile) == ["fragile-pin"])
    }

    @Test("A pool of servers with two certificates is no series of renewals")
    func pool() throws {
        let (first, second) = (try issue(), try issue())
        let path = try policy([try quoted(first.certificate)], backups: [try quoted(second.certificate)])
        let seen = try history([first, second, first, second], policy: path, named: "pool")
        let server = try LoopbackTLSServer(second)
        let run = ToolRun(arguments: ["lint", path, "--live", "--json"] + fixture.arguments(server) + seen)
        #expect(try fragility(run)?["because"]?.string?.contains("no renewal was seen") == true)
        #expect(!(try ids(run)).contains("fragile-pin"))
    }

    @Test("The results of an audit carry the judgement")
    func audit() throws {
        let identity = try issue()
        let server = try LoopbackTLSServer(identity)
        let run = ToolRun(
            arguments: ["audit", try policy([try quoted(identity.certificate)]), "--json"] + fixture.arguments(server))
        let line = try JSONDocument(Array(try #require(run.lines.first).utf8), limits: .init(allowsAnyNumber: true))
            .root
        #expect(line["fragility"]?["id"]?.string == "fragile-pin")
        #expect(line["reason"]?.string == "pin-matched")
    }
}
