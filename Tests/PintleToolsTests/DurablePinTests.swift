import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleTools

@Suite("Pins of authority families")
struct DurablePinTests {
    private let fixture: FamilyFixture

    init() throws {
        fixture = try FamilyFixture()
    }

    private func issue(_ id: String, root: Int) throws -> Identity {
        try #require(fixture.families[id])[root].intermediate().issue(hosts: ["example.test"])
    }

    @Test(
        "The answer lists every root of the server's family and marks the one on its path",
        arguments: ["alpha", "beta"])
    func answer(id: String) throws {
        let server = try LoopbackTLSServer(try issue(id, root: 1))
        let run = ToolRun(arguments: ["pin", "example.test", "--durable"] + fixture.arguments(server))
        #expect(run.code == 0, "\(run.errors)")
        let pins = try fixture.pins(id)
        for pin in pins { #expect(run.output.contains("  \(pin)\n")) }
        let all = try ["alpha", "beta", "gamma"].flatMap { try fixture.pins($0) }
        for pin in all where !pins.contains(pin) { #expect(!run.output.contains("\(pin)")) }
        let line = try #require(run.lines.firstIndex { $0.contains("\(pins[1])") })
        #expect(run.lines[line + 1].contains("on the path, not in the built-in family"))
        #expect(run.output.contains("families: \(fixture.file), of \(FamilyFixture.today)"))
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
    }

    @Test(
        "The rule accepts every chain that a single root of the family signs, and no other",
        arguments: ["alpha", "beta", "gamma"])
    func property(id: String) throws {
        let server = try LoopbackTLSServer(try issue(id, root: 0))
        // A family of one root needs another backup.
        let key = try fixture.directory.write(try PrivateKey(.p256).pem, to: "backup.key")
        let run = ToolRun(
            arguments: ["pin", "example.test", key, "--durable", "--as", "policy"] + fixture.arguments(server))
        #expect(run.code == 0, "\(run.errors)")
        let policy = try PinningPolicy(json: Array(run.output.utf8))
        let anchors = try fixture.families.values.joined().map { try Certificate(der: $0.certificate.der) }
        let validator = PathValidator(system: SystemAnchors(replacedBy: anchors))
        for (other, roots) in fixture.families {
            for root in roots {
                for authority in [root, try root.intermediate()] {
                    let identity = try authority.issue(hosts: ["example.test"])
                    let decision = policy.evaluate(
                        try #require(ServerEndpoint("example.test:443")),
                        presented: [identity.certificate.der] + identity.issuers.map(\.der), at: Date(),
                        validate: validator.validate
                    ).decision
                    #expect(decision.isTrusted == (other == id), "\(other)")
                    #expect(decision.reason == (other == id ? "pin-matched" : "pin-mismatch"))
                }
            }
        }
    }

    @Test("A cross-signed root belongs to the family of its key, although the path ends elsewhere")
    func crossSigned() throws {
        let alpha = try #require(fixture.families["alpha"])
        let foreign = try CertificateAuthority.root(name: "Older root")
        let identity = try alpha[2].crossSigned(by: foreign).issue(hosts: ["example.test"])
        let anchors = try fixture.directory.write(foreign.certificate.pem, to: "older.pem")
        let server = try LoopbackTLSServer(identity)
        let run = ToolRun(
            "pin", "example.test", "--durable", "--json", "--connect-to", "127.0.0.1:\(server.port)", "--anchors",
            anchors, "--families", fixture.file)
        #expect(run.code == 0, "\(run.errors)")
        let rule = try #require(try run.json()["rules"]?.elements?.first { _ in true })
        #expect(rule["name"]?.string == "ALPHA")
        let roots = try #require(rule["families"]?.elements?.first { _ in true }?["roots"]?.elements.map(Array.init))
        #expect(roots.map { $0["onPath"]?.boolean ?? false } == [false, false, true, false])
    }

    @Test("A root that an older authority has signed too belongs to its own family, also if the path ends there")
    func crossSignedByFamily() throws {
        let alpha = try #require(fixture.families["alpha"])
        let beta = try #require(fixture.families["beta"])
        let identity = try alpha[0].crossSigned(by: beta[0]).intermediate().issue(hosts: ["example.test"])
        let server = try LoopbackTLSServer(identity)
        let older = try fixture.directory.write(beta[0].certificate.pem, to: "beta.pem")
        for anchors in [older, fixture.anchors] {
            let run = ToolRun(
                "pin", "example.test", "--durable", "--json", "--connect-to", "127.0.0.1:\(server.port)", "--anchors",
                anchors, "--families", fixture.file)
            #expect(run.code == 0, "\(run.errors)")
            #expect(try run.json()["rules"]?.elements?.first { _ in true }?["name"]?.string == "ALPHA")
        }
    }

    @Test("A host whose authority is in no family gets its root and exit code 1, and no rule")
    func foreign() throws {
        let root = try CertificateAuthority.root(name: "Own root")
        let anchors = try fixture.directory.write(root.certificate.pem, to: "own.pem")
        let server = try LoopbackTLSServer(try root.issue(hosts: ["example.test"]))
        let arguments = [
            "pin", "example.test", "--durable", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors,
            "--families", fixture.file,
        ]
        let run = ToolRun(arguments: arguments)
        #expect(run.code == 1)
        #expect(run.output.contains("its authority is in no family"))
        #expect(run.output.contains("\(try FamilyFixture.pin(root.certificate))"))
        #expect(run.output.contains("worth:"))
        let pasted = ToolRun(arguments: arguments + ["--as", "policy"])
        #expect(pasted.code == 1)
        #expect(pasted.output.isEmpty)
        #expect(pasted.errors.contains("its authority is in no family"))
    }

    @Test("A path that is not valid has no authority: exit code 2, nothing printed")
    func invalid() throws {
        let server = try LoopbackTLSServer(try issue("alpha", root: 0))
        let other = try fixture.directory.write(try CertificateAuthority.root().certificate.pem, to: "other.pem")
        let run = ToolRun(
            "pin", "example.test", "--durable", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", other,
            "--families", fixture.file)
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("the path is not valid here (untrusted-root)"))
        // The command of the hint asks the same server with the same roots.
        let command = "pintle pin example.test:443 --connect-to 127.0.0.1:\(server.port) --anchors \(other)"
        #expect(run.errors.contains("look at it: \(command)\n"), "\(run.errors)")
    }

    // MARK: Authorities by name

    @Test("An authority is found by id, name and alias; an edge has the roots of all its families")
    func named() throws {
        let roots = { (name: String) in
            ToolRun("pin", "--authority", name, "--families", fixture.file, "--json")
        }
        for name in ["alpha", "ALPHA", "Alpha"] { #expect(roots(name).code == 0) }
        let edge = try roots("edge").json()["rules"]?.elements?.first { _ in true }
        #expect(edge?["families"]?.elements?.compactMap { $0["id"]?.string } == ["alpha", "beta"])
        let unknown = roots("alpa")
        #expect(unknown.code == 2)
        #expect(unknown.errors.contains("did you mean alpha? (known: alpha, beta, gamma, edge)"))
    }

    @Test("The rule of an authority needs a host, takes backup keys and asks no server")
    func authorityRule() throws {
        let key = try fixture.directory.write(try PrivateKey(.p256).pem, to: "backup.key")
        let options = ["--families", fixture.file, "--as", "policy"]
        let nameless = ToolRun(arguments: ["pin", "--authority", "beta"] + options)
        #expect(nameless.code == 2)
        #expect(nameless.errors.contains("--host HOST"))
        let run = ToolRun(arguments: ["pin", key, "--authority", "beta", "--host", "example.test"] + options)
        #expect(run.code == 0, "\(run.errors)")
        let host = try #require(try PinningPolicy(json: Array(run.output.utf8)).hosts.first)
        #expect((host.pins + host.backupPins).count == 3)
        #expect((host.pins + host.backupPins).filter { $0.position == .ca }.count == 2)
        let asked = ToolRun(arguments: ["pin", "example.test", "--authority", "beta"] + options)
        #expect(asked.code == 2)
        #expect(asked.errors.contains("--authority asks no server"))
    }

    @Test("The rule in Swift and in every other form", arguments: ["swift", "ats", "nsc", "okhttp", "trustkit"])
    func forms(form: String) throws {
        let run = ToolRun(
            "pin", "--authority", "alpha", "--host", "example.com", "--families", fixture.file, "--as", form)
        #expect(run.code == 0, "\(run.errors)")
        let hash = { (pin: PublicKeyPin) in String("\(pin)".dropFirst("sha256/".count)) }
        for pin in try fixture.pins("alpha") { #expect(run.output.contains(hash(pin))) }
        #expect(!run.output.contains(hash(try fixture.pins("beta")[0])))
    }

    @Test("curl compares only the server's own key, so it gets no rule for an authority")
    func curl() throws {
        let run = ToolRun(
            "pin", "--authority", "alpha", "--host", "example.test", "--families", fixture.file, "--as", "curl")
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("it cannot pin an authority"))
    }

    // MARK: Files of families

    @Test("A file older than the built-in one is an error, and nothing is printed; a newer one is taken")
    func older() throws {
        let text = try FamilyFixture.json(fixture.families, date: "2020-01-01")
        let old = try fixture.directory.write(text, to: "old.json")
        let run = ToolRun("pin", "--authority", "alpha", "--families", old)
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("older-families") || run.errors.contains("the file is of 2020-01-01"))
        #expect(ToolRun("pin", "--authority", "alpha", "--families", fixture.file).code == 0)
    }

    @Test("Families that are more than a year old are a warning")
    func age() throws {
        let builtIn = try FamilyFile.builtIn().families
        let later = builtIn.date.addingTimeInterval(367 * 86_400)
        let run = ToolRun("pin", "--authority", "letsencrypt", now: later)
        #expect(run.code == 0)
        #expect(run.errors.contains("the authority families are more than a year old"))
        let soon = ToolRun("pin", "--authority", "letsencrypt", now: builtIn.date.addingTimeInterval(86_400))
        #expect(!soon.errors.contains("more than a year old"))
    }

    @Test("The built-in file can be read, and each family has a root with a hash")
    func builtIn() throws {
        let families = try FamilyFile.builtIn().families
        #expect(families.families.allSatisfy { !$0.pins.isEmpty && !$0.sources.isEmpty })
        #expect(families.edges.allSatisfy { !$0.families.isEmpty && !$0.sources.isEmpty })
        for id in ["amazon", "google", "letsencrypt", "digicert", "sectigo", "globalsign", "sslcom"] {
            #expect(families.selection(named: id) != nil, "\(id)")
        }
    }

    @Test("Keys without --as are refused; a host that is named twice gets one rule")
    func sources() throws {
        let key = try fixture.directory.write(try PrivateKey(.p256).pem, to: "backup.key")
        let run = ToolRun("pin", "--authority", "alpha", "--families", fixture.file, key)
        #expect(run.code == 2)
        #expect(run.errors.contains("add --as"))
        let server = try LoopbackTLSServer(try issue("alpha", root: 0))
        let twice = ToolRun(
            arguments: ["pin", "example.test", "example.test", "--durable", "--as", "policy"]
                + fixture.arguments(server))
        #expect(try PinningPolicy(json: Array(twice.output.utf8)).hosts.count == 1)
    }

    @Test("The command for a policy asks the authority again if the user named it, and else the server")
    func next() throws {
        let named = ToolRun("pin", "--authority", "edge", "--host", "example.test", "--families", fixture.file)
        #expect(named.errors.contains("pintle pin --authority edge --host example.test:443 --families"))
        let server = try LoopbackTLSServer(try issue("alpha", root: 0))
        let asked = ToolRun(arguments: ["pin", "example.test", "--durable"] + fixture.arguments(server))
        #expect(asked.errors.contains("pintle pin example.test --durable --families"))
    }

    @Test("A file that moves a root to another family or leaves one out says so")
    func otherFamilies() throws {
        let builtIn = try FamilyFile.builtIn().families
        let digicert = try #require(builtIn.selection(named: "digicert")?.families[0].pins[0])
        let x1 = try #require(builtIn.selection(named: "letsencrypt")?.families[0].pins[0])
        let file = try fixture.directory.write(
            """
            {"version": 1, "date": "\(FamilyFixture.today)", "families": [
              {"id": "letsencrypt", "name": "Let's Encrypt", "roots": [
                {"name": "X1", "pin": "\(x1)", "from": "a test"}, {"name": "Y", "pin": "\(digicert)", "from": "a test"}]}]}
            """, to: "moved.json")
        let run = ToolRun("pin", "--authority", "letsencrypt", "--json", "--families", file)
        let families = try run.json()["rules"]?.elements?.first { _ in true }?["families"]
        let roots = families?.elements?.first { _ in true }?["roots"]?.elements.map(Array.init)
        #expect(roots?.map { $0["isNew"]?.boolean ?? false } == [false, true])
        let text = ToolRun("pin", "--authority", "letsencrypt", "--families", file)
        #expect(text.errors.contains("leaves out ISRG Root X2, which the built-in family letsencrypt has"))
        let future = try fixture.directory.write(
            try FamilyFixture.json(fixture.families, date: "9999-12-31"), to: "future.json")
        let refused = ToolRun("pin", "--authority", "alpha", "--families", future)
        #expect(refused.code == 2)
        #expect(refused.errors.contains("which has not come yet"))
    }

    @Test("Options that do not go together are refused")
    func usage() throws {
        for arguments in [
            ["pin"], ["pin", "--durable"], ["pin", "--families", fixture.file, "example.test"],
            ["pin", "--durable", "--host", "example.test", "example.test"],
            ["pin", "--durable", "--authority", "alpha"],
            ["pin", "--authority", "letsencrypt", "--anchors", "/nowhere"],
            ["pin", "--authority", "letsencrypt", "--connect-to", "127.0.0.1:1"],
        ] {
            let run = ToolRun(arguments: arguments)
            #expect(run.code == 2, "\(arguments)")
            #expect(run.output.isEmpty)
        }
    }
}
