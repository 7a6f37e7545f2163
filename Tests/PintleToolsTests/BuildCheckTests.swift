import FoundationEssentials
import PintlePolicyFile
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyLint

/// The answers of the plug-in PintlePolicyCheck. Scripts/plugin.sh builds packages with it.
@Suite("Check of a policy by a build")
struct BuildCheckTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func check(_ text: String, at day: String = "2026-11-21", isStrict: Bool = false) throws -> BuildCheck {
        let path = try directory.write(text, to: "app.pintle.json")
        return BuildCheck(
            policyFile: path, watched: [directory.path(of: "root.pem")],
            at: try RFC3339.date(from: day + "T00:00:00Z"), isStrict: isStrict)
    }

    /// Returns `error expired` for each line.
    private func findings(_ check: BuildCheck) -> [String] {
        check.lines.map { line in
            let id = line.split(separator: "[").last?.dropLast() ?? ""
            return (line.contains(": error: ") ? "error " : "warning ") + id
        }
    }

    @Test("A sound policy gives a source and no line")
    func sound() throws {
        let check = try check(PolicyText.policy(PolicyText.rule()))
        #expect(check.lines.isEmpty)
        let source = try #require(check.source)
        #expect(source.contains("// Made from app.pintle.json by PintlePolicyCheck."))
        #expect(source.contains("pins: [\"\(PolicyText.pin)\"],"))
    }

    @Test(
        "Pins without a key and rules without an effect end the build",
        arguments: [
            ("\"pins\": [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]", "error placeholder-pin"),
            ("\"pins\": [\"sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=\"]", "error placeholder-pin"),
            ("\"pins\": [\"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]", "error empty-input-pin"),
            ("\"pins\": [\"\(PolicyText.third)\"], \"backupPins\": []", "error no-backup-pin"),
            ("\"pins\": [\"\(PolicyText.pin)\"], \"issuerKey\": \"AAAA\"", "error wrong-pin-length"),
        ])
    func errors(members: String, finding: String) throws {
        let backup = members.contains("backupPins") ? "" : ", \"backupPins\": [\"\(PolicyText.backup)\"]"
        let check = try check(PolicyText.policy("{\"host\": \"example.com\", \(members)\(backup)}"))
        #expect(findings(check) == [finding])
        #expect(check.source == nil)
    }

    @Test("A policy without rules, a host that no certificate has, and a rule without an effect end the build")
    func neverMatching() throws {
        #expect(findings(try check(PolicyText.policy())) == ["error nothing-pinned"])
        #expect(findings(try check(PolicyText.policy(PolicyText.rule("a_b.example")))) == ["error underscore-in-host"])
        #expect(findings(try check(PolicyText.policy("{\"host\": \"a.example\"}"))) == ["error rule-without-effect"])
    }

    @Test("What depends on the day is a warning, so that an old version can be built again, unless the build is strict")
    func days() throws {
        let policy = PolicyText.policy(
            PolicyText.rule("a.example", "\"expiry\": {\"after\": \"2026-12-20T00:00:00Z\", \"then\": \"reject\"}"))
        #expect(findings(try check(policy, at: "2026-11-19")) == [])
        #expect(findings(try check(policy)) == ["warning expires-soon"])
        let later = try check(policy, at: "2036-11-20")
        #expect(findings(later) == ["warning expired"])
        #expect(later.source == (try check(policy, at: "2026-11-19").source))
        #expect(try findings(check(policy, at: "2036-11-20", isStrict: true)) == ["error expired"])
        #expect(try check(policy, isStrict: true).source == nil)
    }

    @Test("Each line begins with its place, and nothing of a file ends a line")
    func places() throws {
        let check = try check("{\"version\": 1,\n \"hosts\": [{\"host\": \"a\\nerror: b\", \"pins\": []}]}")
        #expect(!check.lines.isEmpty)
        #expect(check.lines.allSatisfy { $0.hasPrefix("\(directory.path)/app.pintle.json:2:") })
        #expect(check.lines.allSatisfy { !$0.contains("\n") })
    }

    @Test("Problems that are not listed any more end the build too")
    func manyProblems() throws {
        let rules = (0...1_000).map {
            "{\"host\": \"h\($0).example\", \"pins\": [\"\(PolicyText.pin)\"], "
                + "\"backupPins\": [\"\(PolicyText.backup)\"], \"enforcement\": \"reportOnly\"}"
        }
        let check = try check("{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}")
        #expect(check.source == nil)
        #expect(check.lines.last?.hasSuffix("error: there are more problems than are listed") == true)
    }

    @Test("Private anchors for everyone below a public suffix end the build, as they do for the reader of files")
    func publicSuffix() throws {
        try directory.write(try PolicyText.anchor(), to: "root.pem")
        let anchors = "\"includeSubdomains\": true, \"anchors\": {\"include\": [\"root.pem\"]}"
        let refused = try check(PolicyText.policy("{\"host\": \"co.uk\", \(anchors)}"))
        #expect(findings(refused).contains("error anchors-too-broad"))
        #expect(refused.source == nil)
        #expect(try check(PolicyText.policy("{\"host\": \"example.co.uk\", \(anchors)}")).source != nil)
    }

    @Test("Keys of public authorities: warnings when an authority has more roots, and when its key has ended")
    func authorities() throws {
        let families = try FamilyFileReader.builtIn().families
        let ended = try #require(families.flatMap(\.retired).first { $0.pin != nil && $0.notAfter != nil })
        let root = try #require(families.first { $0.pins.count > 1 }?.roots.compactMap(\.pin).first)
        func check(_ pin: PublicKeyPin, _ day: String, isStrict: Bool = false) throws -> [String] {
            let rule = "{\"host\": \"a.example\", \"pins\": [\"\(pin)\"], \"backupPins\": [\"\(PolicyText.backup)\"]}"
            return findings(try self.check(PolicyText.policy(rule), at: day, isStrict: isStrict))
        }
        #expect(try check(try #require(ended.pin), "2026-11-28").contains("warning retired-key"))
        #expect(try !check(try #require(ended.pin), "2015-01-01").contains("warning retired-key"))
        #expect(try check(root, "2026-11-28").contains("warning family-incomplete"))
        #expect(try check(root, "2026-11-28", isStrict: true).contains("error family-incomplete"))
        #expect(try check(PublicKeyPin(PolicyText.pin), "2026-11-28").isEmpty)
    }

    @Test("An anchor that the build does not watch is an error, because its replacement would not be noticed")
    func unwatched() throws {
        for name in ["root.pem", "other.pem"] { try directory.write(try PolicyText.anchor(), to: name) }
        func policy(_ name: String) -> String {
            PolicyText.policy("{\"host\": \"a.example\", \"anchors\": {\"include\": [\"\(name)\"]}}")
        }
        let refused = try check(policy("other.pem"))
        #expect(findings(refused) == ["error unreadable-anchor-file"])
        #expect(refused.lines.first?.contains("not a file of this target") == true)
        #expect(refused.source == nil)
        #expect(try check(policy("root.pem")).source != nil)
    }

    @Test("A file that cannot be read is one error")
    func unreadable() throws {
        let check = BuildCheck(
            policyFile: directory.path(of: "none.pintle.json"), watched: [], at: Date(timeIntervalSince1970: 0),
            isStrict: false)
        #expect(check.lines.count == 1)
        #expect(check.lines[0].contains(": error: unreadable-file: "))
        #expect(check.source == nil)
    }

    @Test("Text of a policy stays inside of its string literal and comment")
    func literals() throws {
        let host = try PinnedHost(
            "a.example", pins: [PolicyText.pin], backupPins: [PolicyText.backup],
            reportTo: ["https://reports.example.net/(x)"])
        let source = SwiftPolicySource(try PinningPolicy(hosts: [host])).file(madeFrom: "a\nfatalError()//.pintle.json")
        #expect(!source.contains("\nfatalError"))
        #expect(source.contains("\"https://reports.example.net/(x)\""))
    }

    @Test("A version of updates that no file can have is refused in Swift too", arguments: [-1, 9_007_199_254_740_992])
    func updateVersions(version: Int) throws {
        #expect(throws: PolicyError.self) { try PinningPolicy(hosts: [], updateVersion: version) }
        #expect(try PinningPolicy(hosts: [], updateVersion: 9_007_199_254_740_991).updateVersion > 0)
    }

    @Test("The configuration has one member")
    func configuration() throws {
        func read(_ text: String) throws -> Bool {
            try CheckConfiguration(contentsOfFile: try directory.write(text, to: "pintle-check.json")).isStrict
        }
        #expect(try read("{\"strict\": true}"))
        #expect(try !read("{}"))
        for text in ["", "[]", "{\"strict\": 1}", "{\"strikt\": true}", "{\"strict\": true,}"] {
            #expect(throws: CheckConfiguration.Problem.self, "\(text)") { try read(text) }
        }
    }
}
