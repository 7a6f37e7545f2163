import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleTools

/// The options of a survey that fail a build, and its report files.
@Suite("Survey: expectation, policy and files")
struct SurveyGateTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let pinned = "\(SurveyFixture.pinning) https://api.example.com/\n"
    private static func unpinned(_ host: String) -> String { "\(SurveyFixture.trusting) https://\(host)/\n" }

    private func words(_ run: ToolRun) -> String {
        run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("A recorded survey passes again, and fails after the client has a new unpinned host")
    func record() throws {
        let file = directory.path(of: "expected")
        let client = Self.pinned + Self.unpinned("cdn.example.com:8443")
        let recorded = SurveyFixture.run("--expect", file, "--record", script: client)
        #expect(recorded.code == 0 && recorded.output.contains("expected: \(file)"), "\(recorded.errors)")
        let text = String(decoding: try directory.read("expected"), as: UTF8.self)
        #expect(text.hasSuffix("\napi.example.com       pinned\ncdn.example.com:8443  unpinned\n"), "\(text)")
        #expect(SurveyFixture.run("--expect", file, "--strict", script: client).code == 0)

        let changed = SurveyFixture.run("--expect", file, script: client + Self.unpinned("telemetry.example.net"))
        #expect(changed.code == 1)
        #expect(words(changed).contains("\(file) does not have it; 2 of 2 let through"), "\(changed.output)")
        let weakened = SurveyFixture.run("--expect", file, script: client + Self.unpinned("api.example.com"))
        #expect(weakened.code == 1)
        #expect(words(weakened).contains("\(file):3 expects pinned"), "\(weakened.output)")
    }

    @Test("A host that no longer shows up is a note, and with --strict a failure")
    func missing() throws {
        let file = try directory.write("cdn.example.com unpinned\nold.example.com unpinned\n", to: "expected")
        let client = Self.unpinned("cdn.example.com")
        let run = SurveyFixture.run("--expect", file, script: client)
        #expect(run.code == 0)
        #expect(words(run).contains("next: 1. old.example.com is expected (unpinned), and was not asked for"))
        #expect(SurveyFixture.run("--expect", file, "--strict", script: client).code == 1)
    }

    @Test("The most specific line decides, and a line without a port is about 443")
    func patterns() throws {
        let file = try directory.write(
            "# comment\n\n*.example.net unpinned\n*.pay.example.net pinned\n", to: "expected")
        #expect(SurveyFixture.run("--expect", file, script: Self.unpinned("a.b.example.net")).code == 0)
        #expect(SurveyFixture.run("--expect", file, script: Self.unpinned("a.pay.example.net")).code == 1)
        #expect(SurveyFixture.run("--expect", file, script: Self.unpinned("example.net")).code == 1)
        #expect(SurveyFixture.run("--expect", file, script: Self.unpinned("a.example.net:8443")).code == 1)
    }

    @Test(
        "A line is about the same host in capitals, with a dot at its end, and with port 443",
        arguments: ["API.example.com", "api.example.com.", "api.example.com:443"])
    func spellings(_ line: String) throws {
        let file = try directory.write("\(line) pinned\n*.example.com unpinned\n", to: "expected")
        let run = SurveyFixture.run("--expect", file, script: Self.unpinned("api.example.com"))
        #expect(run.code == 1)
        #expect(words(run).contains("\(file):1 expects pinned"), "\(run.output)")
    }

    @Test("A host that the client calls like a pattern is recorded as that host")
    func recordedPattern() throws {
        let file = directory.path(of: "expected")
        let client = SurveyFixture.tunnel("*.example.com:443", sending: "GET / HTTP/1.1\\r\\n\\r\\n")
        #expect(SurveyFixture.run("--expect", file, "--record", script: client).code == 1)
        #expect(SurveyFixture.run("--expect", file, script: client).code == 0)
        #expect(SurveyFixture.run("--expect", file, script: Self.unpinned("a.example.com")).code == 1)
    }

    @Test("Names that look alike in a file are recorded as different words, and each passes again")
    func recordedNames() throws {
        let file = directory.path(of: "expected")
        let names = ["#a.example", #"\\\\u{23}a.example"#, "a.example:8443", "a.example..", ".", ".."]
        let client =
            names.map { SurveyFixture.tunnel("\($0):443", sending: "SSH-2.0") }.joined()
            + SurveyFixture.tunnel("a.example:8443", sending: "SSH-2.0")
        #expect(SurveyFixture.run("--expect", file, "--record", script: client).code == 0)
        let run = SurveyFixture.run("--json", "--expect", file, "--strict", script: client)
        let recorded = String(decoding: try directory.read("expected"), as: UTF8.self)
        #expect(run.code == 0, "\(run.output) \(recorded)")
        #expect(try SurveyFixture.hosts(run).count == names.count + 1)
    }

    @Test(
        "A line that cannot be read is an error at its place",
        arguments: [
            ("a.example", "\"a.example\" is not a host and an answer"),
            ("a.example maybe", "is not a host and an answer"),
            ("a.example pinned\na.example refused", "a.example is in line 1 already"),
        ])
    func badExpectation(text: String, message: String) throws {
        let file = try directory.write(text, to: "expected")
        let run = SurveyFixture.run("--expect", file, script: Self.unpinned("a.example"))
        #expect(run.code == 2)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(run.errors.contains("\(file):\(text.contains("\n") ? 2 : 1)"), "\(run.errors)")
    }

    private static let policy = """
        {"version": 1, "hosts": [{"host": "example.com", "includeSubdomains": true,
        "pins": ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        "backupPins": ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="]}]}
        """

    @Test("A host that a rule covers must not be unpinned")
    func policy() throws {
        let file = try directory.write(Self.policy, to: "policy.json")
        let covered = SurveyFixture.run("--policy", file, script: Self.unpinned("cdn.example.com"))
        #expect(covered.code == 1)
        #expect(words(covered).contains("the policy's rule for example.com covers it"), "\(covered.output)")
        #expect(SurveyFixture.run("--policy", file, script: Self.unpinned("cdn.example.net")).code == 0)
        #expect(SurveyFixture.run("--policy", file, script: Self.pinned).code == 0)
    }

    @Test("A host at which the client sent nothing that tells does not pass a gate, unless that is expected")
    func unjudged() throws {
        let silent =
            "sleep 2 | openssl s_client -proxy 127.0.0.1:$2 -connect api.example.com:443 -CAfile \"$1\" "
            + ">/dev/null 2>&1 & sleep 0.5; kill -9 $!\n"
        let empty = SurveyFixture.tunnel("api.example.com:443", sending: "")
        for (client, answer) in [(silent, "silent"), (empty, "no-tls"), (Self.pinned, "refused")] {
            let isJudged = answer == "refused"
            for (text, code) in [
                ("api.example.com \(answer)\n", 0), ("api.example.com pinned\n", isJudged ? 0 : 1),
                ("cdn.example.com pinned\n", isJudged ? 0 : 1),
            ] {
                let file = try directory.write(text, to: "expected")
                let run = SurveyFixture.run("--json", "--expect", file, script: client)
                #expect(try SurveyFixture.answers(run) == ["api.example.com:443": answer], "\(run.output)")
                #expect(run.code == code, "\(answer) \(text)")
            }
            let policy = try directory.write(Self.policy, to: "policy.json")
            #expect(SurveyFixture.run("--policy", policy, script: client).code == (isJudged ? 0 : 1))
        }
        // Another protocol may be readable.
        let file = try directory.write("api.example.com silent\n", to: "expected")
        let foreign = SurveyFixture.tunnel("api.example.com:443", sending: "SSH-2.0")
        #expect(SurveyFixture.run("--expect", file, script: foreign).code == 1)
    }

    @Test("An unpinned host whose name fits no rule is not passed over by a policy")
    func uncoverable() throws {
        let file = try directory.write(Self.policy, to: "policy.json")
        let client = SurveyFixture.tunnel("a..example.net:443", sending: "GET / HTTP/1.1\\r\\n\\r\\n")
        let run = SurveyFixture.run("--policy", file, script: client)
        #expect(run.code == 1)
        #expect(words(run).contains("its name fits no rule"), "\(run.output)")
        let rules = SurveyFixture.run("--as", "policy", script: client)
        #expect(rules.output.isEmpty && rules.errors.contains("no rule can name a..example.net:443"), "\(rules.errors)")
    }

    @Test("A request to the proxy that it cannot read fails a gate, and is a host in plain HTTP if it names one")
    func unreadable() throws {
        let file = try directory.write("api.example.com refused\n", to: "expected")
        func run(_ line: String) -> ToolRun {
            let raw = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$0; printf \"\(line)\" >&3; cat <&3' \"$2\"\n"
            return SurveyFixture.run("--json", "--expect", file, script: Self.pinned + (line.isEmpty ? "" : raw))
        }
        #expect(run("").code == 0)
        for line in ["GET /secret HTTP/1.1\\r\\n\\r\\n", "CONNECT none HTTP/1.1\\r\\n\\r\\n"] {
            let unnamed = run(line)
            #expect(unnamed.code == 1)
            #expect(try unnamed.json()["unreadableRequests"]?.integer ?? 0 > 0, "\(unnamed.output)")
            #expect(!unnamed.output.contains("secret"))
        }
        for line in [
            "get http://a.example/secret HTTP/1.1\\r\\n\\r\\n", "GET http://a.example/ b HTTP/1.1\\r\\n\\r\\n",
            "GET http://a.example/ HTTP/1.1\\r\\nnocolon\\r\\n\\r\\n",
            "\\r\\nGET http://a.example/ HTTP/1.1\\r\\n\\r\\n",
        ] {
            let named = run(line)
            #expect(named.code == 1)
            #expect(try SurveyFixture.answers(named)["a.example:80"] == "plain-http", "\(line) \(named.output)")
        }
    }

    @Test("A line in the clear that is held until the tool ends its client fails a gate")
    func held() throws {
        let file = try directory.write("api.example.com refused\n", to: "expected")
        let hold = SurveyFixture.tunnel("mail.example:25", sending: "login bob secret").replacing(
            " >&3' ", with: " >&3; sleep 30' ")
        let run = ToolRun(
            arguments: SurveyFixture.arguments(["--json", "--expect", file, "--timeout=3"], Self.pinned + hold)
                .filter { $0 != "--timeout" && $0 != "60" })
        #expect(run.code == 1)
        #expect(try SurveyFixture.answers(run)["mail.example:25"] == "other-protocol", "\(run.output) \(run.errors)")
    }

    @Test("TLS that the survey does not speak counts at the name in the ClientHello")
    func unspoken() throws {
        let client =
            "echo | openssl s_client -proxy 127.0.0.1:$2 -connect 192.0.2.9:443 -servername a.example.com "
            + "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256 >/dev/null 2>&1\n"
        let answers = try SurveyFixture.answers(SurveyFixture.run("--json", script: client))
        #expect(
            answers == ["a.example.com:443": "other-protocol", "192.0.2.9:443": "no-tls"]
                || answers == ["a.example.com:443": "other-protocol"], "\(answers)")
    }

    @Test("Without an unpinned host there are no rules to write")
    func noRules() {
        let run = SurveyFixture.run("--as", "policy", script: Self.pinned)
        #expect(run.code == 0 && run.output.isEmpty)
        #expect(run.errors.contains("there are no rules, because no host is unpinned"), "\(run.errors)")
    }

    @Test("The rules for unpinned hosts are refused by every reader until their pins are real")
    func rules() throws {
        let run = SurveyFixture.run("--as", "policy", script: Self.pinned + Self.unpinned("cdn.example.com:8443"))
        #expect(run.code == 0 && run.errors.contains("1 host is unpinned"), "\(run.errors)")
        let bytes = Array(run.output.utf8)
        #expect(throws: PolicyError.self) { try PinningPolicy(json: bytes) }
        let file = try directory.write(bytes, to: "policy.json")
        for command in [
            ["lint", file], ["export", "--to", "curl", file], ["check", "cdn.example.com", "--policy", file],
        ] {
            let reader = ToolRun(arguments: command)
            #expect([1, 2].contains(reader.code))
            #expect(
                (reader.output + reader.errors).contains("REPLACE"), "\(command): \(reader.output) \(reader.errors)")
        }
        let pins = [
            "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=",
            "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=",
        ]
        var text = run.output
        for pin in pins { text.replace(/REPLACE [^"]*/, with: pin, maxReplacements: 1) }
        let policy = try PinningPolicy(json: Array(text.utf8))
        #expect(policy.rule(for: try #require(ServerEndpoint("cdn.example.com:8443"))) != nil)
        #expect(policy.rule(for: try #require(ServerEndpoint("api.example.com:443"))) == nil)
    }

    @Test("SARIF, JUnit and the page name each host with its answer")
    func files() throws {
        let paths = ["r.sarif", "r.xml", "r.html"].map { directory.path(of: $0) }
        let file = try directory.write(
            "cdn.example.com unpinned\nssh.example.com:22 other-protocol\n", to: "expected")
        let run = SurveyFixture.run(
            "--sarif", paths[0], "--junit", paths[1], "--html", paths[2], "--expect", file,
            script: Self.pinned + Self.unpinned("cdn.example.com") + Self.unpinned("new.example.com")
                + SurveyFixture.tunnel("ssh.example.com:22", sending: "SSH-2.0"))
        #expect(run.code == 1)
        let sarif = try #require(
            try JSONDocument(try directory.read("r.sarif")).root["runs"]?.elements.map { Array($0) }?.first)
        let results = try #require(sarif["results"]?.elements.map { Array($0) })
        #expect(
            results.map { "\($0["properties"]?["host"]?.string ?? "") \($0["level"]?.string ?? "")" } == [
                "cdn.example.com:443 warning", "new.example.com:443 error", "ssh.example.com:22 note",
            ])
        let rule = try #require(sarif["tool"]?["driver"]?["rules"]?.elements?.first { $0["id"]?.string == "unpinned" })
        let ids = rule["relationships"]?.elements?.compactMap { $0["target"]?["id"]?.string } ?? []
        #expect(ids.contains("CWE-295") && ids.contains("MASTG-TEST-0244"))
        let xml = String(decoding: try directory.read("r.xml"), as: UTF8.self)
        #expect(xml.contains("<testsuites tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\">"), "\(xml)")
        #expect(xml.contains("<failure message=\"unpinned: \(file) does not have it\">"))
        let page = String(decoding: try directory.read("r.html"), as: UTF8.self)
        #expect(page.contains("new.example.com:443") && page.contains("2 of 4 hosts are unpinned"))
    }
}
