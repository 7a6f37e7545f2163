import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// The recipes of `Examples/ci`. They are valid YAML, and their shell lines do what the README says.
@Suite(
    "Recipes for continuous integration",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"),
    .enabled(if: Recipes.python != nil, "skipped: no Python that reads YAML in $PINTLE_VENV"))
struct RecipeTests {
    private let scene: AuditFixture
    private let server: LoopbackTLSServer
    private let stranger: LoopbackTLSServer

    init() throws {
        scene = try AuditFixture()
        server = try LoopbackTLSServer(scene.identity)
        stranger = try LoopbackTLSServer(scene.stranger())
        _ = try scene.policy()
        try #require(symlink(try #require(SpawnedTool.path), scene.directory.path(of: "pintle")) == 0)
    }

    private func shell(_ command: [String], environment: [String: String] = [:]) throws -> ProcessResult {
        let search = scene.directory.path + ":" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")
        let ours = [
            "PATH": search, "SSL_CERT_FILE": scene.anchors, "SSL_CERT_DIR": "/nowhere",
            "GITHUB_STEP_SUMMARY": scene.directory.path(of: "summary.md"),
        ]
        return try runProcess(
            command, environment: ours.merging(environment) { $1 }, workingDirectory: scene.directory.path)
    }

    /// Runs a step as GitHub's runners do (workflow syntax, `jobs.<job_id>.steps[*].shell`).
    /// - Parameter more: the text to append to the step's lines.
    private func run(
        _ job: String, step name: String? = nil, part: Int? = nil, more: String = ""
    ) throws -> ProcessResult {
        let steps = try Recipes.read("pins.yml")["jobs"]?.member(job)?["steps"]?.elements.map(Array.init) ?? []
        let step = try #require(
            steps.first {
                $0["run"] != nil && $0["name"]?.string != "Install pintle"
                    && $0["name"]?.string == name ?? $0["name"]?.string
            })
        let lines = try #require(step["run"]?.string)
        #expect(!lines.contains("${{"))
        var environment: [String: String] = [:]
        for member in step["env"]?.members.map(Array.init) ?? [] {
            let value = member.value.string ?? ""
            #expect(value == "${{ matrix.part }}")
            environment[member.key.string ?? ""] = part.map(String.init) ?? value
        }
        let options = step["shell"]?.string == "bash" ? ["--noprofile", "--norc", "-eo", "pipefail"] : ["-e"]
        let script = try scene.directory.write(lines + more, to: "step.sh")
        return try shell(["bash"] + options + [script], environment: environment)
    }

    @Test("The workflow lints, asks each server in one of its shards, and reports on all of them")
    func workflow() throws {
        let port = server.port
        _ = try scene.list((0..<9).map { ("h\($0).audit.test", port) })
        #expect(try run("lint").status == 0)
        let parts = try Recipes.read("pins.yml")["jobs"]?["audit"]?["strategy"]?["matrix"]?["part"]?.elements?
            .compactMap { $0.integer.map(Int.init) }
        #expect(parts == [1, 2, 3])
        for part in parts ?? [] { #expect(try run("audit", part: part).status == 0) }
        #expect(server.waitUntilClosed(connections: 9))
        #expect(server.connectionCount == 9)
        let report = try run("report")
        #expect(report.status == 0, "\(report.errorOutput)")
        #expect(report.output.contains("9 servers: 9 trusted"))
        #expect(try scene.read("summary.md") == report.output)
        #expect(try scene.read("report.html").contains("<b>9</b> servers"))
    }

    @Test(
        "A rejected server fails the report, a bad policy fails the lint, and an audit that cannot run fails its part")
    func failures() throws {
        let list = try scene.list([("a.audit.test", server.port), ("b.audit.test", stranger.port)])
        for part in 1...3 { #expect(try run("audit", part: part).status == 0) }
        let report = try run("report")
        #expect(report.status == 1)
        #expect(report.output.contains("2 servers: 1 trusted, 1 rejected"))
        try scene.directory.write("a b c\n", to: "hosts.txt")
        #expect(list.hasSuffix("/hosts.txt"))
        unlink(scene.directory.path(of: "results-1.ndjson"))
        #expect(try run("audit", part: 1).status != 0)
        try scene.directory.write("{\"version\": 1, \"hosts\": [{}]}", to: "policy.json")
        let lint = try run("lint")
        #expect(lint.status == 1)
        #expect(lint.output.hasPrefix("::error file=policy.json,line=1,"))
    }

    @Test(
        "A planned rotation that locks out users fails, and the same plan with the advice followed does not",
        .enabled(if: Recipes.holds("Examples/plans/old-app.json")),
        arguments: [("old-app", 1), ("old-app-followed", 0)])
    func rotation(plan: String, status: Int32) throws {
        let plans = "\(Recipes.root)/Examples/plans"
        #expect(try shell(["cp", "-R", "\(plans)/policies", scene.directory.path]).status == 0)
        #expect(try shell(["cp", "\(plans)/\(plan).json", scene.directory.path(of: "plan.json")]).status == 0)
        // The dates of the example are fixed.
        let result = try run("lint", step: "Rehearse the rotation", more: " --at 2026-11-20")
        #expect(result.status == status, "\(result.errorOutput)")
    }

    @Test("The hook lints every policy of a commit and no other file")
    func preCommit() throws {
        let repositories = try Recipes.read("pre-commit-config.yaml")["repos"]?.elements.map(Array.init) ?? []
        let hook = try #require(repositories.first?["hooks"]?.elements?.first { _ in true })
        let entry = try #require(hook["entry"]?.string)
        let pattern = try #require(hook["files"]?.string)
        try scene.directory.write("{\"version\": 1, \"hosts\": [{}]}", to: "bad/policy.json")
        try scene.directory.write("{\"version\": 1, \"hosts\": [{}]}", to: "worse/policy.json")
        func lint(_ files: String) throws -> ProcessResult { try shell(["bash", "-c", "\(entry) \(files)"]) }
        #expect(try lint("policy.json").status == 0)
        let bad = try lint("bad/policy.json policy.json worse/policy.json")
        #expect(bad.status == 1)
        #expect(bad.output.contains("bad/policy.json:1:") && bad.output.contains("worse/policy.json:1:"))
        let names = ["policy.json", "a/policy.json", "a/policy.json.bak", "notpolicy.json", "package.json"]
        let taken = try shell(
            ["grep", "-E", pattern] + [try scene.directory.write(names.joined(separator: "\n"), to: "n")])
        #expect(taken.output == "policy.json\na/policy.json\n")
    }

    /// A policy that the documentation recommends although lint warns of it.
    enum Recommended: CaseIterable {
        /// The start of the article "Operations".
        case reportOnly
        /// `pintle pin --authority`
        case authority
        /// A device's certificate.
        case certificate
    }

    /// Writes `policy.json` as its article says. Returns the warning to accept, as `ID:HOST`.
    private func write(_ recommended: Recommended) throws -> String {
        let tool = scene.directory.path(of: "pintle")
        let expiry =
            "\"expiry\": {\"after\": \"\(RFC3339.string(from: Date() + 365 * 86_400))\", \"then\": \"systemTrust\"}"
        switch recommended {
        case .reportOnly:
            try scene.directory.write(try PrivateKey().pem, to: "backup.key")
            let pin = try shell([
                tool, "pin", "a.audit.test", "backup.key", "--as", "policy", "--connect-to", "127.0.0.1:\(server.port)",
            ])
            #expect(pin.status == 0, "\(pin.errorOutput)")
            let start = "\"host\": \"a.audit.test\","
            #expect(pin.output.contains(start))
            try scene.directory.write(
                pin.output.replacing(start, with: "\(start) \"enforcement\": \"reportOnly\", \(expiry),"),
                to: "policy.json")
            return "report-only:a.audit.test"
        case .authority:
            let pin = try shell([
                tool, "pin", "--authority", "letsencrypt", "--host", "a.audit.test", "--as", "policy",
            ])
            #expect(pin.status == 0, "\(pin.errorOutput)")
            try scene.directory.write(pin.output, to: "policy.json")
            return "single-authority:a.audit.test"
        case .certificate:
            let pin = CertificatePin(certificate: scene.identity.certificate.der)
            try scene.directory.write(
                """
                {"version": 1, "hosts": [{"host": "a.audit.test", "pins": [{"certificate": "\(pin)", "at": "leaf"}],
                 "backupPins": "none-accepted", \(expiry)}]}
                """, to: "policy.json")
            return "leaf-certificate-only:a.audit.test"
        }
    }

    @Test("A recommended policy passes the recipes with its warning accepted", arguments: Recommended.allCases)
    func recommended(policy: Recommended) throws {
        let hooks = try Recipes.read("pre-commit-config.yaml")["repos"]?.elements?.first { _ in true }?["hooks"]
        let entry = try #require(hooks?.elements?.first { _ in true }?["entry"]?.string)
        func lint() throws -> [Int32] {
            let results = [try run("lint"), try shell(["bash", "-c", "\(entry) policy.json"])]
            return results.map(\.status)
        }
        let warning = try write(policy)
        #expect(try lint() == [1, 1])
        try scene.directory.write("# The reason.\n--allow \(warning)\n", to: "policy.allow")
        #expect(try lint() == [0, 0])
        #expect(try run("lint").output.hasPrefix("::notice file=policy.json,"))
        // The decision ends, and the line stays.
        let ended = try scene.policy()
        #expect(ended.hasSuffix("/policy.json"))
        #expect(try lint() == [1, 1])
        #expect(try run("lint").output.contains("--allow \(warning) hides nothing"))
        // The server of this test has no certificate of a public authority.
        guard policy != .authority else { return }
        _ = try write(policy)
        _ = try scene.list([("a.audit.test", server.port)])
        for part in 1...3 { #expect(try run("audit", part: part).status == 0) }
        let report = try run("report")
        #expect(report.status == 0, "\(report.output)\(report.errorOutput)")
    }

    @Test("The audit that the article about operations prints runs twice on one day")
    func secondAudit() throws {
        _ = try scene.list([("a.audit.test", server.port)])
        let article = String(decoding: try Recipes.file("Sources/Pintle/Pintle.docc/Operations.md"), as: UTF8.self)
        let line = try #require(article.split(separator: "\n").first { $0.hasPrefix("pintle audit policy.json ") })
        for _ in 0..<2 {
            // The file's name has the second.
            let result = try shell(["bash", "-c", "sleep 1; \(line)"])
            #expect(result.status == 0, "\(result.errorOutput)")
            #expect(result.output.contains("1 server: 1 trusted"), "\(result.output)")
        }
    }

    @Test("The article prints the recipes unchanged", arguments: ["pins.yml", "pre-commit-config.yaml"])
    func article(name: String) throws {
        let article = String(
            decoding: try Recipes.file("Sources/PintleTools/PintleTools.docc/ContinuousIntegration.md"), as: UTF8.self)
        let blocks = article.split(separator: "```yaml\n").dropFirst().compactMap { $0.split(separator: "```").first }
        func words(_ text: some StringProtocol) -> String {
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        let recipe = words(String(decoding: try Recipes.file("Examples/ci/\(name)"), as: UTF8.self))
        let shown = blocks.filter { recipe.contains(words($0)) }
        #expect(shown.count == (name == "pins.yml" ? 2 : 1))
    }
}

extension JSONValue {
    fileprivate func member(_ name: String) -> JSONValue? { members?.first { $0.key.string == name }?.value }
}

/// The files of `Examples/ci`.
enum Recipes {
    static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    static func holds(_ name: String) -> Bool { InputFile.exists("\(root)/\(name)") }

    /// A Python interpreter with a YAML parser.
    static let python: String? = {
        let venv = getenv("PINTLE_VENV").map { String(cString: $0) } ?? "\(root)/.build/venv"
        let path = "\(venv)/bin/python"
        let answer = try? runProcess([path, "-c", "import ruamel.yaml"])
        return answer?.status == 0 ? path : nil
    }()

    static func file(_ name: String) throws -> [UInt8] {
        try InputFile("\(root)/\(name)", standardInput: ByteSource([])).bytes
    }

    /// Returns a recipe as JSON.
    static func read(_ name: String) throws -> JSONValue {
        let script =
            "import sys, json, ruamel.yaml; json.dump(ruamel.yaml.YAML(typ='safe').load(sys.stdin), sys.stdout)"
        let result = try runProcess([try #require(python), "-c", script], input: try file("Examples/ci/\(name)"))
        #expect(result.status == 0, "\(result.errorOutput)")
        return try JSONDocument(result.stdout).root
    }
}
