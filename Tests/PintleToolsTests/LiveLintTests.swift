import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleTools

@Suite("Lint against live servers")
struct LiveLintTests {
    private let directory: TemporaryDirectory
    private let root: PintleTestKit.CertificateAuthority
    private let intermediate: PintleTestKit.CertificateAuthority
    private let identity: Identity
    private let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Root")
        intermediate = try root.intermediate()
        identity = try intermediate.issue(hosts: ["example.test"])
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    private static let strange = "sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY="
    private static let spare = "sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM="

    private func pin(_ certificate: MintedCertificate) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER).description
    }

    private func policy(_ pins: [String], backups: [String] = [Self.spare], more: String = "") throws -> String {
        let lists = [pins, backups].map { $0.map { "\"\($0)\"" }.joined(separator: ", ") }
        return try directory.write(
            """
            {
              "version": 1,
              "hosts": [
                { "host": "example.test",
                  "pins": [\(lists[0])],
                  "backupPins": [\(lists[1])]\(more) }
              ]
            }
            """, to: "policy.json")
    }

    private func lint(
        _ policy: String, _ server: LoopbackTLSServer, now: Date = Date(), environment: [String: String] = [:],
        _ options: String...
    ) -> ToolRun {
        ToolRun(
            arguments: [
                "lint", policy, "--live", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors,
            ] + options,
            environment: ["LANG": "C.UTF-8", "SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"].merging(
                environment
            ) { $1 }, now: now)
    }

    private func ids(_ run: ToolRun) throws -> [String] {
        try run.json()["problems"]?.elements?.compactMap { $0["id"]?.string } ?? []
    }

    @Test("A server that shows the pinned key has no problem and counts as asked")
    func good() throws {
        let server = try LoopbackTLSServer(identity)
        let path = try policy([try pin(identity.certificate)])
        let run = lint(path, server)
        #expect(run.code == 0, "\(run.output)")
        #expect(run.output == "ok   \(path)   1 rule, 1 server, no problems\n")
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
    }

    @Test("A server with another key is an error at the pins of its rule")
    func mismatch() throws {
        let server = try LoopbackTLSServer(identity)
        let path = try policy([Self.strange])
        let run = lint(path, server)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("\(path):5:15: error: live-mismatch: example.test:443 shows none of"))
        let reported = lint(try policy([Self.strange], more: ", \"enforcement\": \"reportOnly\""), server, "--json")
        let entry = try reported.json()["problems"]?.elements?.first { $0["id"]?.string == "live-mismatch" }
        #expect(entry?["severity"]?.string == "warning")
        #expect(entry?["server"]?.string == "example.test:443")
    }

    @Test("A renewal with the same key is not a new key, and a pinned certificate's mismatch does not mention keys")
    func renewal() throws {
        let old = CertificatePin(certificate: identity.certificate.der)
        let key = identity.key
        let renewed = try LoopbackTLSServer(try intermediate.issue(hosts: ["example.test"], key: key))
        let path = try directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.test", "pins": [{"certificate": "\(old)", "at": "leaf"}],
              "backupPins": "none-accepted",
              "expiry": {"after": "2099-01-01T00:00:00Z", "then": "systemTrust"}}]}
            """, to: "certificate.json")
        let run = lint(path, renewed)
        #expect(run.code == 1)
        #expect(
            run.output.contains("live-mismatch: example.test:443 shows none of the pinned certificates; its own key is")
        )
        #expect(run.output.contains("if you renewed the certificate, pin its key"))
        #expect(!run.output.contains("pinned keys"))
        #expect(run.output.contains("leaf-certificate-only"))
        // A policy that pins the key instead has no problem.
        let twin = lint(try policy([try pin(identity.certificate)]), renewed)
        #expect(twin.code == 0, "\(twin.output)")
        // The server that still has the old certificate matches the pin.
        #expect(try ids(lint(path, LoopbackTLSServer(identity), "--json")) == ["leaf-certificate-only"])
    }

    @Test("Lint distinguishes a backup in the live chain, a server on its backup and a pin that matches nothing")
    func backups() throws {
        let server = try LoopbackTLSServer(identity)
        let (leaf, above) = (try pin(identity.certificate), try pin(intermediate.certificate))
        #expect(try ids(lint(try policy([leaf], backups: [above]), server, "--json")) == ["live-backup-in-use"])
        #expect(try ids(lint(try policy([Self.strange], backups: [leaf]), server, "--json")) == ["live-on-backup"])
        let unmatched = lint(try policy([leaf, Self.strange]), server)
        #expect(unmatched.output.contains(":5:71: warning: live-unmatched-pin: \(Self.strange) matches nothing"))
    }

    @Test("Pins of only a public authority's keys are a warning; those of a private one are not")
    func sharedAuthority() throws {
        let server = try LoopbackTLSServer(identity)
        let path = try policy([try pin(intermediate.certificate)])
        #expect(
            try ids(lint(path, server, environment: ["SSL_CERT_FILE": anchors], "--json")) == ["live-shared-authority"])
        #expect(try ids(lint(path, server, "--json")) == [])
        // The file shows that a root is pinned, so its own lint judges that, and no audit repeats it each week.
        let known = try policy([try pin(root.certificate)])
        #expect(try ids(lint(known, server, environment: ["SSL_CERT_FILE": anchors], "--json")) == [])
    }

    @Test("Lint names a missing intermediate; another failure of the path has its own code")
    func paths() throws {
        let path = try policy([try pin(identity.certificate)])
        var alone = identity
        alone.issuers = []
        let bare = try LoopbackTLSServer(alone)
        let run = lint(path, bare)
        #expect(run.code == 1)
        #expect(run.output.contains("error: live-missing-intermediate: example.test:443 sends no certificate of CN="))
        let expired = try LoopbackTLSServer(
            try intermediate.issue(hosts: ["example.test"]) { $0.notAfter = .fromNow(seconds: -600) })
        #expect(
            lint(path, expired).output.contains(
                "error: live-invalid-path: the path of example.test:443 is invalid: expired"))
    }

    @Test("A certificate in the last third of its lifetime is a warning that says how much is left")
    func horizon() throws {
        let identity = try intermediate.issue(hosts: ["example.test"]) { $0.notAfter = .fromNow(days: 90) }
        let end = try Pintle.Certificate(der: identity.certificate.der).validity.notAfter
        let server = try LoopbackTLSServer(identity)
        let run = lint(try policy([try pin(identity.certificate)]), server, now: end - 86_400 * 3 - 60)
        #expect(run.code == 1)
        #expect(
            run.output.contains("warning: live-certificate-ends: the certificate of example.test:443 at leaf ends "))
        #expect(run.output.contains(", in 3 days: "))
        #expect(run.output.contains("% of its life is left"))
    }

    @Test("A host without a rule is a warning, or an error if the policy refuses such hosts")
    func noRule() throws {
        let path = try policy([try pin(identity.certificate)])
        let server = try LoopbackTLSServer(try intermediate.issue(hosts: ["other.test"]))
        func against(_ path: String) -> ToolRun {
            ToolRun(
                "lint", path, "--against", "https://other.test/", "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors",
                anchors)
        }
        #expect(against(path).output.contains("warning: live-no-rule: no rule covers other.test:443"))
        let refusing = try directory.write(
            "{\"version\": 1, \"unpinnedHosts\": \"reject\", \"hosts\": []}", to: "refusing.json")
        #expect(against(refusing).output.contains("error: live-no-rule: no rule covers other.test:443"))
    }

    @Test("If the only problem is unreachable servers, the exit code is 3")
    func unreachable() throws {
        let server = try LoopbackTLSServer(identity)
        server.close()
        let run = lint(try policy([try pin(identity.certificate)]), server)
        #expect(run.code == 3)
        #expect(run.output.contains("error: live-unreachable: "))
        let both = lint(try policy([try pin(identity.certificate)], backups: [], more: ""), server)
        #expect(both.code == 1)
        #expect(both.errors.contains("no server was asked"))
    }

    @Test("Annotations are lines for GitHub's runners, with escaped special characters")
    func github() throws {
        let server = try LoopbackTLSServer(identity)
        let path = try policy([Self.strange])
        let run = lint(path, server, "--github")
        #expect(run.code == 1)
        #expect(
            run.output.hasPrefix("::error file=\(path),line=5,col=15,title=live-mismatch::example.test:443 shows none"))
        #expect(run.output.split(separator: "\n").count == 1)
        #expect(run.output.contains("%0Ahelp: "))
        #expect(lint(path, server, "--github", "--json").code == 2)
        let odd = LintProblem(
            severity: .warning, problem: PolicyProblem(id: "a:b,c", at: .root, message: "100 % of\nit", help: ""))
        #expect(
            GitHubAnnotations.line(odd, as: "warning", file: "a,b:c.json")
                == "::warning file=a%2Cb%3Ac.json,title=a%3Ab%2Cc::100 %25 of\\u{A}it")
    }

    @Test(
        "The tool prints the pins of a server in the formats of other platforms",
        arguments: ["ats", "nsc", "okhttp"])
    func snippets(form: String) throws {
        let leaf = try directory.write(identity.certificate.pem, to: "leaf.pem")
        let backup = try directory.write(try PrivateKey().pem, to: "backup.key")
        let run = ToolRun("pin", leaf, backup, "--as", form)
        #expect(run.code == 0, "\(run.errors)")
        let base64 = String(try pin(identity.certificate).dropFirst("sha256/".count))
        #expect(run.output.contains(base64))
        #expect(run.output.contains("example.test"))
        let format = try #require(ForeignFormat(rawValue: form))
        if ForeignFormat.imported.contains(format) {
            let draft = try ImportCommand.read(Array(run.output.utf8), as: format, files: .none)
            #expect(draft.rules.map(\.pins.count) == [2])
        }
        #expect(!run.errors.contains("stricter") && !run.errors.contains("weaker"))
    }

    @Test("Every id has a heading in the documentation", arguments: LiveProblem.allCases)
    func documented(problem: LiveProblem) throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let article = try InputFile(
            "/\(root)/Sources/Pintle/Pintle.docc/PolicyProblems.md", standardInput: ByteSource([]))
        #expect(String(decoding: article.bytes, as: UTF8.self).contains("# \(problem.rawValue)\n"))
    }
}
