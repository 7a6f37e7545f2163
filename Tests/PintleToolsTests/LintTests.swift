import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Lint and inspect")
struct LintTests {
    private let now: Date
    private let directory: TemporaryDirectory

    init() throws {
        now = try RFC3339.date(from: "2026-11-20T12:00:00Z")
        directory = try TemporaryDirectory()
    }

    private static let good = """
        {
          "version": 1,
          "hosts": [
            { "host": "example.test",
              "pins": ["sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY="],
              "backupPins": ["sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM="],
              "expiry": {"after": "2027-11-20T00:00:00Z", "then": "systemTrust"} }
          ]
        }
        """

    @Test("A good policy gives one line and exit code 0")
    func good() throws {
        let path = try directory.write(Self.good, to: "policy.json")
        let run = ToolRun("lint", path, now: now)
        #expect(run.code == 0)
        #expect(run.output == "ok   \(path)   1 rule, no problems\n")
        #expect(try ToolRun("lint", path, "--json", now: now).json()["errors"]?.integer == 0)
    }

    @Test("Every problem comes with place, line and help, in the format of compilers")
    func problems() throws {
        let path = try directory.write(
            """
            { "version": 1,
              "hosts": [ { "host": "example.test",
                  "pins": ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="] } ] }
            """, to: "policy.json")
        let run = ToolRun("lint", path, now: now)
        #expect(run.code == 1)
        let lines = run.lines
        #expect(lines[0].hasPrefix("\(path):3:16: error: empty-input-pin: "))
        #expect(lines[1] == "    3 |       \"pins\": [\"sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"] } ] }")
        #expect(lines[2] == "      |                ^")
        #expect(lines[3].hasPrefix("      help: "))
        #expect(lines.dropLast().last?.hasSuffix(" in \(path)") == true)
        #expect(run.errors.isEmpty)
    }

    @Test("JSON lists the same problems with the keys of the contract")
    func json() throws {
        let run = ToolRun("lint", "-", "--json", input: Array("{\"version\":1,\"hosts\":[{}],\"x\":1}".utf8), now: now)
        #expect(run.code == 1)
        let document = try run.json()
        #expect(ToolRun.keys(document) == ["problems", "errors", "warnings"])
        let problems = try #require(document["problems"]?.elements.map(Array.init))
        #expect(document["errors"]?.integer == Int64(problems.count))
        #expect(ToolRun.keys(problems[0]) == ["id", "severity", "path", "line", "column", "message", "help"])
        let ids = problems.compactMap { $0["id"]?.string }
        #expect(ids.contains("missing-key"))
        #expect(ids.contains("unknown-key"))
    }

    @Test("--expires-within sets how soon an expiry counts as a problem")
    func expiresWithin() throws {
        let path = try directory.write(Self.good, to: "policy.json")
        let run = ToolRun("lint", path, "--expires-within", "400d", now: now)
        #expect(run.code == 1)
        #expect(run.output.contains("expires-soon"))
        #expect(ToolRun("lint", path, "--expires-within", "300d", now: now).code == 0)
        #expect(ToolRun("lint", path, "--expires-within", "soon", now: now).code == 2)
    }

    @Test("An unreadable file gives exit code 2, and broken JSON is a problem with its place")
    func unreadable() throws {
        #expect(ToolRun("lint", directory.path(of: "missing.json"), now: now).code == 2)
        let run = ToolRun("lint", "-", input: Array("{\n  \"version\": 1,\n}".utf8), now: now)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("stdin:"))
    }

    @Test("Lint finds anchor files beside the policy")
    func anchorFiles() throws {
        let root = try CertificateAuthority.root()
        try directory.write(root.certificate.pem, to: "roots/private.pem")
        let policy = """
            {"version": 1, "hosts": [{"host": "example.test", "anchors": {"include": ["roots/private.pem"]}}]}
            """
        #expect(ToolRun("lint", try directory.write(policy, to: "policy.json"), now: now).code == 0)
        let other = try TemporaryDirectory()
        let run = ToolRun("lint", try other.write(policy, to: "policy.json"), now: now)
        #expect(run.code == 1)
        #expect(run.output.contains("unreadable-anchor-file"))
    }

    @Test(
        "Pins of roots that only this machine trusts are a warning; pins of a private root are not")
    func sharedAuthority() throws {
        let machine = try CertificateAuthority.root()
        let own = try CertificateAuthority.root()
        let file = try directory.write("# roots\n" + machine.certificate.pem, to: "machine.pem")
        let environment = ["LANG": "C.UTF-8", "SSL_CERT_FILE": file, "SSL_CERT_DIR": directory.path(of: "none")]
        func lint(_ certificate: MintedCertificate, command: String = "lint") throws -> [String] {
            let pin = try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER)
            let fingerprint = CertificatePin(certificate: certificate.der)
            let path = try directory.write(
                """
                {"version": 1, "hosts": [{"host": "a.example.test", "pins": ["\(pin)"],
                    "backupPins": [{"certificate": "\(fingerprint)", "at": "ca"}]}]}
                """, to: "pinned.json")
            let run = ToolRun(command, path, "--json", environment: environment, now: now)
            #expect(run.code == (command == "lint" && run.output.contains("\"id\"") ? 1 : 0))
            return try run.json()["problems"]?.elements?.compactMap { $0["id"]?.string } ?? ["unreadable"]
        }
        #expect(try lint(machine.certificate) == ["shared-authority-only"])
        #expect(try lint(machine.certificate, command: "inspect") == ["shared-authority-only"])
        #expect(try lint(own.certificate) == [])
    }

    @Test("A problem of more than 20 rules is one line with their number; JSON and annotations list all")
    func shared() throws {
        func policy(_ count: Int) throws -> String {
            let rules = (0..<count).map { number in
                "{\"host\": \"h\(number).example.test\", \"pins\": [\"sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY=\"], "
                    + "\"backupPins\": \"none-accepted\"}"
            }
            return try directory.write(
                "{\"version\": 1, \"hosts\": [{\"host\": \"one.test\"}, \(rules.joined(separator: ",\n"))]}",
                to: "many.json")
        }
        let many = ToolRun("lint", try policy(21), now: now)
        #expect(many.code == 1)
        #expect(many.lines.count { $0.contains("no-way-back") } == 1)
        #expect(many.output.contains("h0.example.test has neither a backup pin nor an expiry"))
        let others = "h1.example.test, h2.example.test, h3.example.test"
        #expect(many.output.contains("; the same of 20 more rules, such as \(others) (--json lists all)"))
        #expect(many.lines.count { $0.contains("rule-without-effect") } == 1)
        #expect(many.output.contains("22 problems (0 errors, 22 warnings)"))
        let all = try ToolRun("lint", try policy(21), "--json", now: now).json()["problems"]
        #expect(all?.elements?.count { $0["id"]?.string == "no-way-back" } == 21)
        #expect(ToolRun("lint", try policy(21), "--github", now: now).lines.count { $0.contains("no-way-back") } == 21)
        let few = ToolRun("lint", try policy(20), now: now)
        #expect(few.lines.count { $0.contains("no-way-back") } == 20)
        #expect(!few.output.contains("more rules"))
    }

    @Test("Lint never merges errors, or warnings that differ in more than the name of the rule, into one line")
    func notShared() throws {
        func lines(_ id: String, _ member: (Int) -> String) throws -> Int {
            let pin = "sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY="
            let rules = (0..<21).map { "{\"host\": \"h\($0).example.test\", \"pins\": [\"\(pin)\"], \(member($0))}" }
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ",\n"))]}", to: "apart.json")
            return ToolRun("lint", path, now: now).lines.count { $0.contains(": \(id): ") }
        }
        func expiry(_ day: Int) -> String {
            let text = day < 10 ? "0\(day)" : "\(day)"
            return
                "\"backupPins\": \"none-accepted\", \"expiry\": {\"after\": \"2026-12-\(text)T00:00:00Z\", \"then\": \"reject\"}"
        }
        #expect(try lines("no-backup-pin") { _ in "\"backupPins\": []" } == 21)
        #expect(try lines("expires-soon") { expiry($0 + 1) } == 21)
        #expect(try lines("expires-soon") { _ in expiry(1) } == 1)
    }

    @Test("Lint says that one of two pins in use may be the backup if there is no backup")
    func moveToBackups() throws {
        func help(_ pins: String) throws -> String {
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [{\"host\": \"example.test\", \"pins\": [\(pins)]}]}", to: "two.json")
            let problem = try ToolRun("lint", path, "--json", now: now).json()["problems"]?.elements?.first { _ in true
            }
            #expect(problem?["id"]?.string == "no-backup-pin")
            return problem?["help"]?.string ?? ""
        }
        let one = "\"sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY=\""
        let two = one + ", \"sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM=\""
        #expect(try help(two).contains("or move one of them to backupPins"))
        #expect(try !help(one).contains("backupPins"))
    }

    // MARK: Accepted warnings

    private static let two = """
        {"version": 1, "hosts": [
          {"host": "a.test", "enforcement": "reportOnly", "pins": ["sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY="]},
          {"host": "b.test", "port": 8443, "pins": ["sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY="],
            "backupPins": "none-accepted"}]}
        """

    @Test("An accepted warning is listed and does not count; the other one does")
    func allowed() throws {
        let path = try directory.write(Self.two, to: "policy.json")
        let both = ToolRun(
            "lint", path, "--allow", "report-only:a.test", "--allow", "no-way-back:b.test:8443", now: now)
        #expect(both.code == 0)
        #expect(
            both.lines.prefix(1) == [
                "\(path):2:37: allowed: report-only: a wrong key of a.test is reported and let through"
            ])
        #expect(both.output.hasSuffix("ok   \(path)   2 rules, no problems; 2 warnings allowed\n"))
        let one = ToolRun("lint", path, "--allow", "report-only:a.test", now: now)
        #expect(one.code == 1)
        #expect(one.output.contains("warning: no-way-back: b.test:8443 has neither"))
        #expect(one.output.hasSuffix("1 problem (0 errors, 1 warning) in \(path); 1 warning allowed\n"))
        // The id by itself is for warnings about the whole file, so that a later rule is not hidden too.
        #expect(ToolRun("lint", path, "--allow", "report-only", now: now).output.contains("warning: report-only: "))
        let empty = try directory.write("{\"version\": 1, \"hosts\": []}", to: "empty.json")
        #expect(ToolRun("lint", empty, now: now).code == 1)
        #expect(ToolRun("lint", empty, "--allow", "nothing-pinned", now: now).code == 0)
    }

    @Test("JSON and annotations have the accepted warnings apart from the problems")
    func allowedForPrograms() throws {
        let path = try directory.write(Self.two, to: "policy.json")
        let json = ToolRun("lint", path, "--json", "--allow", "report-only:a.test", now: now)
        #expect(json.code == 1)
        func ids(_ key: StaticString) throws -> [String]? {
            try json.json()[key]?.elements?.compactMap { $0["id"]?.string }
        }
        #expect(try ids("problems") == ["no-way-back"])
        #expect(try ids("allowed") == ["report-only"])
        #expect(try json.json()["warnings"]?.integer == 1)
        let lines = ToolRun("lint", path, "--github", "--allow", "report-only:a.test", now: now).lines
        #expect(lines.first?.hasPrefix("::notice file=\(path),line=2,col=37,title=report-only::") == true)
        #expect(lines.dropFirst().first?.hasPrefix("::warning file=\(path),line=4,col=19,title=no-way-back::") == true)
    }

    @Test("An --allow that hides nothing is a problem, unless an error may be the reason")
    func unusedAllowance() throws {
        let path = try directory.write(Self.good, to: "policy.json")
        let run = ToolRun("lint", path, "--allow", "report-only:example.test", now: now)
        #expect(run.code == 1)
        #expect(
            run.lines.first
                == "\(path): warning: allow-without-effect: --allow report-only:example.test hides nothing")
        let json = try ToolRun("lint", path, "--json", "--allow", "report-only:example.test", now: now).json()
        #expect(json["problems"]?.elements?.compactMap { $0["id"]?.string } == ["allow-without-effect"])
        // HOST has the port of the rule.
        let two = try directory.write(Self.two, to: "two.json")
        let portless = ToolRun(
            "lint", two, "--allow", "report-only:a.test", "--allow", "no-way-back:b.test", now: now)
        #expect(portless.code == 1)
        #expect(portless.output.contains("--allow no-way-back:b.test hides nothing"))
        let broken = try directory.write(
            Self.two.replacing("\"reportOnly\"", with: "\"report-only\""), to: "broken.json")
        let errors = ToolRun("lint", broken, "--allow", "report-only:a.test", now: now)
        #expect(errors.output.contains("error: unknown-value: "))
        #expect(!errors.output.contains("allow-without-effect"))
    }

    @Test("An error cannot be accepted, and an unknown id is a mistake of the command line")
    func refusedAllowance() throws {
        let path = try directory.write(
            "{\"version\": 1, \"hosts\": [{\"host\": \"a.test\", "
                + "\"pins\": [\"sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY=\"]}]}", to: "policy.json")
        let error = ToolRun("lint", path, "--allow", "no-backup-pin:a.test", now: now)
        #expect(error.code == 2)
        #expect(error.errors.contains("--allow: only warnings can be hidden, and no-backup-pin is an error"))
        #expect(ToolRun("lint", path, "--allow", "live-unreachable:a.test:443", now: now).code == 2)
        let typo = ToolRun("lint", path, "--allow", "reportonly:a.test", now: now)
        #expect(typo.code == 2)
        #expect(typo.errors.contains("did you mean \"report-only\"?"))
    }

    // MARK: Files that are no policy

    @Test("Lint says what a file of certificates or keys is, and which command reads it")
    func noPolicy() throws {
        let identity = try CertificateAuthority.root().issue(hosts: ["example.test"])
        let certificate = try directory.write(identity.certificate.pem + identity.certificate.pem, to: "server.pem")
        let der = try directory.write(identity.certificate.der, to: "server.der")
        let key = try directory.write(identity.key.pem, to: "server.key")
        let (pem, binary, secret) = (ToolRun("lint", certificate), ToolRun("lint", der), ToolRun("lint", key))
        for run in [pem, binary, secret] { #expect(run.code == 2 && run.output.isEmpty) }
        #expect(pem.errors.contains("\(certificate): not a policy: the file holds 2 certificates"))
        #expect(pem.errors.contains("pintle inspect \(certificate) shows it"))
        #expect(pem.errors.contains("pintle pin \(certificate) --as policy"))
        #expect(binary.errors.contains("\(der): not a policy: the file holds 1 certificate"))
        #expect(secret.errors.contains("\(key): not a policy: the file holds 1 private key"))
        #expect(secret.errors.contains("its pin: pintle pin \(key)"))
        #expect(try ToolRun("lint", key, "--json").json()["error"]?["code"]?.string == "no-policy")
        let encrypted = try directory.write(
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", to: "encrypted.key")
        #expect(
            ToolRun("lint", encrypted).errors.contains("not a policy: PEM block 1: the private key is encrypted"))
        // The commands that are named read the files.
        for file in [certificate, der, key] { #expect(ToolRun("inspect", file).code == 0) }
        // Other commands that read a policy say the same.
        #expect(
            ToolRun("export", certificate, "--to", "nsc").errors.contains("not a policy: the file holds 2 certificates")
        )
        // Text is left to the policy's reader, which knows the line.
        for text in ["0.0.0.0\n", "hosts:\n", ""] {
            let run = ToolRun("lint", "-", input: Array(text.utf8), now: now)
            #expect(run.code == 1, "\(text)")
            #expect(run.output.hasPrefix("stdin:"))
        }
    }

    @Test("Inspect prints each label of a rule apart from its value")
    func inspectLabels() throws {
        let pins = """
            "pins": [{"spki": "sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY=", "at": "leaf"}, \
            {"spki": "sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM=", "at": "ca"}], "backupPins": "none-accepted"
            """
        let path = try directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.test", \(pins), "requires": "leafAndCA", "minimumPathLength": 3,
             "issuerKey": "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI=", "withdraws": "why"}]}
            """, to: "labels.json")
        let output = ToolRun("inspect", path, now: now).output
        #expect(output.contains("\n  requires   one pin at the leaf and one at a ca\n"))
        #expect(output.contains("\n  withdraws  \"why\"\n"))
        #expect(output.contains("\n  path       3 certificates or more, leaf and anchor counted\n"))
        #expect(
            output.contains(
                "\n  issuer     sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI=, of the certificate above the leaf\n"
            ))
        let policy = try ToolRun("inspect", path, "--json", now: now).json()["policy"]?["hosts"]?.elements?.first { _ in
            true
        }
        #expect(policy?["minimumPathLength"]?.integer == 3)
        #expect(policy?["issuerKey"]?.string == "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI=")
        #expect(output.contains("\n  rule       enforced"))
    }

    @Test("The name of a policy with problems cannot change the terminal, and an ordinary one is shown as it is")
    func inspectName() throws {
        let text = Self.good.replacing("2027-11-20", with: "2026-12-20")
        for (name, shown) in [("zürich.json", "zürich.json"), ("a\u{1B}[2J\u{202E}.json", #"a\u{1B}[2J\u{202E}.json"#)]
        {
            let run = ToolRun("inspect", try directory.write(text, to: name), now: now)
            #expect(run.errors == "\n1 problem: see 'pintle lint \(directory.path(of: shown))'\n")
        }
    }

    @Test("Inspect shows the rules of a policy and says that nothing was verified")
    func inspectPolicy() throws {
        let path = try directory.write(Self.good, to: "policy.json")
        let run = ToolRun("inspect", path, now: now)
        #expect(run.code == 0)
        #expect(
            run.output == """
                \(path)   policy, 1 rule; nothing was verified

                  other hosts  the system's validation decides

                example.test
                  rule    enforced; pins expire 2027-11-20, then system trust
                  pin     sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY=
                  backup  sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM=

                """)
        let document = try ToolRun("inspect", path, "--json", now: now).json()
        #expect(document["kind"]?.string == "policy")
        #expect(document["verified"]?.boolean == false)
        #expect(document["policy"]?["hosts"]?.count == 1)
    }

    @Test("Inspect shows every field of a certificate")
    func inspectCertificate() throws {
        let identity = try CertificateAuthority.root().issue(hosts: ["example.test"])
        let path = try directory.write(identity.certificate.pem, to: "cert.pem")
        let run = ToolRun("inspect", path, now: now)
        #expect(run.code == 0)
        for text in ["subject       CN=example.test", "serial        ", "usage         digitalSignature", "serverAuth"]
        {
            #expect(run.output.contains(text))
        }
        let item = try ToolRun("inspect", path, "--json").json()["certificates"]?.elements?.first { _ in true }
        #expect(item?["names"]?.elements?.compactMap(\.string) == ["example.test"])
    }

    @Test("Inspect names the unknown type of an update and the problem of a broken policy")
    func inspectOthers() throws {
        let update = ToolRun("inspect", "-", input: Array(#"{"payload":"","payloadType":"x","signatures":[]}"#.utf8))
        #expect(update.code == 0)
        #expect(update.output.contains("unknown-payload-type: the payload type \"x\" is unknown"))
        let policy = ToolRun("inspect", "-", "--json", input: Array(#"{"version":1,"hosts":[],"x":0}"#.utf8))
        #expect(policy.code == 2)
        #expect(try policy.json()["error"]?["code"]?.string == "unknown-key")
    }
}
