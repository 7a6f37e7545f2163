import FoundationEssentials
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleTools

@Suite("Lint of a policy")
struct PolicyLintTests {
    private static let fingerprint = String(repeating: "0a", count: 32)

    private func lint() throws -> PolicyLint {
        PolicyLint(at: try RFC3339.date(from: "2026-11-20T00:00:00Z"))
    }

    private func findings(_ text: String, _ change: (inout PolicyLint) -> Void = { _ in }) throws -> [String] {
        var lint = try lint()
        change(&lint)
        let findings = lint.report(on: Array(text.utf8)).findings
        for finding in findings {
            let ids = finding.severity == .error ? ProblemIDs.errors : ProblemIDs.warnings
            #expect(ids.contains(finding.problem.id))
        }
        return findings.map { "\($0.severity) \($0.problem.id) \($0.problem.path)" }
    }

    @Test("The lock-out of a pinned certificate is reported only if no backup can match its renewal")
    func certificateWithBackup() throws {
        func message(_ backup: String) throws -> String {
            let rule =
                "{\"host\": \"a.example\", \"pins\": [{\"certificate\": \"\(Self.fingerprint)\", \"at\": \"leaf\"}], "
                + "\"backupPins\": \(backup)}"
            let findings = try lint().report(on: Array(PolicyText.policy(rule).utf8)).findings
            return try #require(findings.first { $0.problem.id == "leaf-certificate-only" }).problem.message
        }
        #expect(try message("\"none-accepted\"").hasSuffix("locks every installed app out, also with the same key"))
        #expect(try message("[\"\(PolicyText.pin)\"]").hasSuffix("with the same key, unless a backup pin matches it"))
        let authority = "[{\"certificate\": \"\(String(repeating: "0b", count: 32))\", \"at\": \"ca\"}]"
        #expect(try message(authority).hasSuffix("with the same key, unless a backup pin matches it"))
    }

    @Test("The example of the manual gives its three problems at their places")
    func example() throws {
        let text = """
            { "version": 1,
              "hosts": [
                {
                  "host": "example.com",
                  "includeSubdomains": false,
                  "pins": ["\(PolicyText.pin)"]
                },
                {
                  "host": "api.example.com",
                  "port": 443,
                  "includeSubdomains": true,
                  "pins": ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="],
                  "backupPins": ["\(PolicyText.backup)"],
                  "expiry": {
                    "after": "2026-12-24T00:00:00Z",
                    "then": "systemTrust"
                  }
                }
              ]
            }
            """
        let report = try lint().report(on: Array(text.utf8))
        #expect(
            report.findings.map {
                "\($0.problem.line ?? 0):\($0.problem.column ?? 0): \($0.severity): \($0.problem.id): \($0.problem.message)"
            }
                == [
                    "6:16: error: no-backup-pin: example.com enforces one pin and has no backup",
                    "12:16: error: empty-input-pin: \"sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\" is the hash of nothing, not of a key",
                    "15:18: warning: expires-soon: pins of api.example.com:443 end 2026-12-24, in 34 days",
                ])
        #expect(report.policy == nil)
    }

    @Test("A sound policy has no findings")
    func clean() throws {
        let report = try lint().report(on: Array(PolicyText.policy(PolicyText.rule()).utf8))
        #expect(report.findings.isEmpty)
        #expect(report.policy?.hosts.count == 1)
    }

    @Test(
        "A probable mistake is a warning, and the corrected policy has none",
        arguments: try [
            (PolicyText.policy(), "nothing-pinned hosts", PolicyText.policy(top: "\"unpinnedHosts\": \"reject\",")),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": [\"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]}"
                ),
                "placeholder-pin hosts[0].backupPins[0]", PolicyText.policy(PolicyText.rule())
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": [\"sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=\"]}"
                ),
                "placeholder-pin hosts[0].backupPins[0]", PolicyText.policy(PolicyText.rule())
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [{\"certificate\": \"\(fingerprint)\", \"at\": \"leaf\"}], \"backupPins\": [\"\(PolicyText.pin)\"]}"
                ),
                "leaf-certificate-only hosts[0].pins",
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [{\"certificate\": \"\(fingerprint)\", \"at\": \"ca\"}], \"backupPins\": [\"\(PolicyText.pin)\"]}"
                )
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [{\"certificate\": \"\(fingerprint)\"}], \"backupPins\": [\"\(PolicyText.pin)\"]}"
                ),
                "leaf-certificate-only hosts[0].pins",
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [{\"certificate\": \"\(fingerprint)\"}, \"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\", \"expiry\": {\"after\": \"2028-01-01T00:00:00Z\", \"then\": \"systemTrust\"}}"
                )
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": [{\"spki\": \"\(PolicyText.pin)\", \"at\": \"leaf\"}]}"
                ), "backup-in-use hosts[0].backupPins[0]", PolicyText.policy(PolicyText.rule())
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\"}"),
                "no-way-back hosts[0].backupPins",
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\", \"expiry\": {\"after\": \"2028-01-01T00:00:00Z\", \"then\": \"systemTrust\"}}"
                )
            ),
            (
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"expiry\": {\"after\": \"2026-11-20T00:00:00Z\", \"then\": \"reject\"}")),
                "expired hosts[0].expiry.after",
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"expiry\": {\"after\": \"2027-11-20T00:00:00Z\", \"then\": \"reject\"}"))
            ),
            (
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"expiry\": {\"after\": \"2027-02-17T00:00:00Z\", \"then\": \"reject\"}")),
                "expires-soon hosts[0].expiry.after",
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"expiry\": {\"after\": \"2027-02-18T00:00:00Z\", \"then\": \"reject\"}"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"enforcement\": \"reportOnly\"")),
                "report-only hosts[0].enforcement",
                PolicyText.policy(PolicyText.rule("a.example", "\"enforcement\": \"enforce\""))
            ),
            (
                PolicyText.policy(PolicyText.rule("com", "\"includeSubdomains\": true")), "public-suffix hosts[0].host",
                PolicyText.policy(PolicyText.rule("com"))
            ),
            (
                PolicyText.policy(PolicyText.rule("my_host.example")), "underscore-in-host hosts[0].host",
                PolicyText.policy(PolicyText.rule("my-host.example"))
            ),
            (
                PolicyText.policy(PolicyText.rule("::192.0.2.1")), "unlikely-server hosts[0].host",
                PolicyText.policy(PolicyText.rule("192.0.2.1"))
            ),
            (
                PolicyText.policy(PolicyText.rule("64:ff9b::192.0.2.1")), "unlikely-server hosts[0].host",
                PolicyText.policy(PolicyText.rule("2001:db8::192.0.2.1"))
            ),
            (
                PolicyText.policy(PolicyText.rule("fe80::1")), "unlikely-server hosts[0].host",
                PolicyText.policy(PolicyText.rule("fd00::1"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"port\": 80")), "unlikely-server hosts[0].port",
                PolicyText.policy(PolicyText.rule("a.example", "\"port\": 443"))
            ),
            (
                PolicyText.policy("{\"host\": \"a.example\"}"), "rule-without-effect hosts[0].host",
                PolicyText.policy("{\"host\": \"a.example\"}", top: "\"unpinnedHosts\": \"reject\",")
            ),
            (
                PolicyText.policy(
                    PolicyText.rule("example.com", "\"includeSubdomains\": true"), "{\"host\": \"a.example.com\"}"),
                "looser-than-parent hosts[1].host",
                PolicyText.policy(
                    PolicyText.rule("example.com", "\"includeSubdomains\": true"), PolicyText.rule("a.example.com"))
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"example.com\", \"includeSubdomains\": true, \"anchors\": {\"include\": [\(JSONWriter.quoted(PolicyText.anchor()))]}}",
                    PolicyText.rule("a.example.com")),
                "subdomains-of-looser-parent hosts[1].host",
                PolicyText.policy(
                    "{\"host\": \"example.com\", \"includeSubdomains\": true, \"anchors\": {\"include\": [\(JSONWriter.quoted(PolicyText.anchor()))]}}",
                    PolicyText.rule("a.example.com", "\"includeSubdomains\": true"))
            ),
            (
                PolicyText.policy(
                    PolicyText.rule("example.com", "\"includeSubdomains\": true, \"port\": 8443"),
                    PolicyText.rule("a.example.com")), "port-rule-wins hosts[1].host",
                PolicyText.policy(
                    PolicyText.rule("example.com", "\"includeSubdomains\": true"), PolicyText.rule("a.example.com"))
            ),
            (
                PolicyText.policy(PolicyText.rule("api.example.com"), PolicyText.rule("www.exmaple.com")),
                "similar-host hosts[1].host",
                PolicyText.policy(PolicyText.rule("api.example1.com"), PolicyText.rule("www.example2.com"))
            ),
            (
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example",
                        "\"anchors\": {\"include\": [\(JSONWriter.quoted(PolicyText.anchor(until: 2025)))]}")),
                "anchor-expired hosts[0].anchors",
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"anchors\": {\"include\": [\(JSONWriter.quoted(PolicyText.anchor()))]}"))
            ),
        ])
    func warns(_ text: String, _ wanted: String, _ twin: String) throws {
        #expect(try findings(text) == ["warning " + wanted])
        #expect(try findings(twin) == [])
    }

    @Test(
        "What could not be read is the only finding; what was read has the findings about its meaning",
        arguments: [
            (
                "{\"host\": \"a.example\", \"pin\": [\"\(PolicyText.pin)\"], \"backupPins\": [\"\(PolicyText.backup)\"]}",
                ["error unknown-key hosts[0].pin"],
                "{\"host\": \"a.example\", \"backupPins\": [\"\(PolicyText.backup)\"]}",
                ["warning rule-without-effect hosts[0].host", "error backup-without-pin hosts[0].pins"]
            ),
            (
                "{\"host\": \"a.example\", \"anchors\": {\"include\": [\"gone.pem\"]}}",
                ["error unreadable-anchor-file hosts[0].anchors.include[0]"],
                "{\"host\": \"a.example\", \"anchors\": {\"system\": true}}",
                ["warning rule-without-effect hosts[0].host"]
            ),
            (
                "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\", \"expiry\": {\"after\": \"soon\", \"then\": \"reject\"}}",
                ["error invalid-date hosts[0].expiry.after"],
                "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\"}",
                ["warning no-way-back hosts[0].backupPins"]
            ),
            (
                PolicyText.rule("a.example", "\"port\": \"443\"") + ",\n" + PolicyText.rule("a.example"),
                ["error wrong-type hosts[0].port"],
                PolicyText.rule("a.example") + ",\n" + PolicyText.rule("a.example"),
                ["error duplicate-rule hosts[1].host"]
            ),
            (
                PolicyText.rule("a.example", "\"includeSubdomains\": \"yes\"") + ",\n{\"host\": \"b.a.example\"}",
                ["error wrong-type hosts[0].includeSubdomains"],
                PolicyText.rule("a.example", "\"includeSubdomains\": true") + ",\n{\"host\": \"b.a.example\"}",
                ["warning looser-than-parent hosts[1].host"]
            ),
            (
                "7,\n" + PolicyText.rule("a.example", "\"enforcement\": \"reportOnly\""),
                ["error wrong-type hosts[0]", "warning report-only hosts[1].enforcement"],
                PolicyText.rule("a.example", "\"enforcement\": \"reportOnly\""),
                ["warning report-only hosts[0].enforcement"]
            ),
        ])
    func misread(_ rules: String, _ wanted: [String], _ twin: String, _ meaning: [String]) throws {
        struct NoSuchFile: Error {}
        #expect(try findings(PolicyText.policy(rules)) { $0.resolvingFile = { _ in throw NoSuchFile() } } == wanted)
        #expect(Set(try findings(PolicyText.policy(twin))) == Set(meaning))
    }

    @Test(
        "A file whose top level is wrong has no findings about its meaning",
        arguments: [
            ("[]", "wrong-type "), ("7", "wrong-type "), ("{\"version\": 1, \"hosts\": {}}", "wrong-type hosts"),
            ("{\"version\": 2, \"hosts\": []}", "unsupported-version version"),
            ("{\"version\": 1}", "missing-key hosts"),
            (
                "{\"version\": 1, \"unpinnedHost\": \"reject\", \"hosts\": [{\"host\": \"a.example\"}]}",
                "unknown-key unpinnedHost"
            ),
        ])
    func misreadFile(_ text: String, _ wanted: String) throws {
        #expect(try findings(text) == ["error " + wanted])
    }

    @Test(
        "Warnings about families of authorities do not depend on the roots of the machine",
        arguments: [
            ("letsencrypt", ["warning single-authority hosts[0].pins"]),
            ("cloudflare", ["warning shared-authority-only hosts[0].pins"]),
        ])
    func families(word: String, wanted: [String]) throws {
        let families = try FamilyFile.builtIn().families
        let pins = try #require(families.selection(named: word)).families.flatMap(\.pins)
        let texts = pins.map { "{\"spki\": \"\($0)\", \"at\": \"ca\"}" }
        let rule =
            "{\"host\": \"a.example\", \"pins\": [\(texts[0])], \"backupPins\": [\(texts.dropFirst().joined(separator: ", "))]}"
        for roots in [[], Set(pins.map(\.description))] {
            let found = try findings(PolicyText.policy(rule)) {
                $0.families = families
                $0.sharedAuthority = { roots.contains($0.description) ? "A root" : nil }
            }
            #expect(found == wanted)
        }
    }

    @Test(
        "A key of an authority of which every certificate has ended is a problem, from the day after its last",
        arguments: [
            ("YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=", "Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys=", 2),
            ("jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0=", "J2/oqMTsdhFWW/n85tys6b4yDBtb6idZayIEBx7QTxA=", 2),
            ("jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0=", "C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=", 1),
            ("C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=", "diGVwiVYbubAI3RW4hB9xU8e/CH2GnkuvVFZE8zmgzI=", 0),
        ])
    func retired(pin: String, backup: String, count: Int) throws {
        let rule = "{\"host\": \"a.example\", \"pins\": [\"sha256/\(pin)\"], \"backupPins\": [\"sha256/\(backup)\"]}"
        let families = try FamilyFile.builtIn().families
        let found = try findings(PolicyText.policy(rule)) { $0.families = families }
        #expect(found.filter { $0.hasPrefix("warning retired-key") }.count == count, "\(found)")

        var lint = PolicyLint(at: try RFC3339.date(from: "2025-09-15T12:00:00Z"))
        lint.families = families
        #expect(
            families.endedKey(try PublicKeyPin("jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0="), at: lint.now) == nil)
        let later = lint.now.addingTimeInterval(86_400)
        #expect(families.endedKey(try PublicKeyPin("jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0="), at: later) != nil)
    }

    @Test("An example of well-known documentation is a placeholder")
    func samples() throws {
        for (source, pins) in SamplePins.samples {
            for text in pins {
                #expect(SamplePins.source(of: try PublicKeyPin(text)) == source)
                let rule =
                    "{\"host\": \"a.example\", \"pins\": [\"sha256/\(text)\"], \"backupPins\": \"none-accepted\"}"
                let found = try findings(PolicyText.policy(rule))
                #expect(found.contains("warning placeholder-pin hosts[0].pins[0]"), "\(text): \(found)")
            }
        }
        #expect(SamplePins.source(of: try PublicKeyPin("C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=")) == nil)
    }

    private static let articles = ["Pintle", "PintleApple", "PintleTools", "PintleUpdates", "PintleStorage"].flatMap {
        module in
        let folder = "\(Recipes.root)/Sources/\(module)/\(module).docc"
        return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.filter { $0.hasSuffix(".md") }
            .map { "Sources/\(module)/\(module).docc/\($0)" } ?? []
    }

    @Test("Every pin that the README and the articles print is one that lint knows")
    func documentedPins() throws {
        let families = try FamilyFile.builtIn().families
        var count = 0
        for file in ["README.md"] + Self.articles {
            let text = String(decoding: try Recipes.file(file), as: UTF8.self)
            for match in text.matches(of: /sha256\/([A-Za-z0-9+\/]{43}=)/) {
                guard let pin = try? PublicKeyPin(String(match.1)) else { continue }
                count += 1
                let isKnown =
                    pin.isPlaceholder || SamplePins.source(of: pin) != nil || families.family(ofRoot: pin) != nil
                #expect(isKnown, "\(file): \(pin)")
            }
        }
        #expect(count > 20)
    }

    @Test("The caller sets how soon the end of pins is a problem")
    func expiresWithin() throws {
        let text = PolicyText.policy(
            PolicyText.rule("a.example", "\"expiry\": {\"after\": \"2027-02-17T00:00:00Z\", \"then\": \"reject\"}"))
        #expect(try findings(text) { $0.expiresWithin = 89 * 86_400 } == [])
        #expect(try findings(text) { $0.expiresWithin = 90 * 86_400 }.count == 1)
    }

    @Test("The caller decides which names are public suffixes and which keys belong to public authorities")
    func closures() throws {
        let suffix = PolicyText.policy(PolicyText.rule("co.uk", "\"includeSubdomains\": true"))
        #expect(try findings(suffix) == [])
        #expect(
            try findings(suffix) { $0.isPublicSuffix = { $0 == "co.uk" } }
                == ["warning public-suffix hosts[0].host"])
        let rule = PolicyText.policy(PolicyText.rule())
        #expect(
            try findings(rule) { $0.sharedAuthority = { _ in "Example Root" } }
                == ["warning shared-authority-only hosts[0].pins"])
        #expect(
            try findings(rule) { $0.sharedAuthority = { $0.description == PolicyText.pin ? "Example Root" : nil } }
                == [])
    }

    @Test("Lint finds the parent of a host among many rules for the ports of one name without checking each")
    func manyPorts() throws {
        func rule(_ host: String, port: UInt16?) throws -> PinnedHost {
            try PinnedHost(host, port: port, includingSubdomains: true, pins: [Pin]())
        }
        let ports = try (1...20_000).map { try rule("a.example", port: $0) }
        let hosts = try (0..<20_000).map { try ServerName("h\($0).a.example") }
        let time = try ContinuousClock().measure {
            let parents = ParentRules(ports + [try rule("example", port: nil)])
            for host in hosts {
                #expect(parents.nearest(above: host, port: 20_000) == 19_999)
                #expect(parents.nearest(above: host, port: nil) == 20_000)
                #expect(parents.nearest(above: host, port: 30_000) == 20_000)
                #expect(parents.nearestWithPort(above: host) == 0)
            }
        }
        // Checking each rule would take minutes. The limit leaves room for a debug build on a busy machine.
        #expect(time < .seconds(20))
    }

    @Test("Broken JSON is one error")
    func brokenJSON() throws {
        #expect(try findings("{") == ["error unexpected-end "])
    }

    @Test("The lists have each id once, and those of broken JSON")
    func ids() {
        let ids = ProblemIDs.errors + ProblemIDs.warnings
        #expect(Set(ids).count == ids.count)
        for code in JSONError.Code.allCases { #expect(ProblemIDs.errors.contains(code.rawValue)) }
        for id in ids { #expect(id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }) }
    }
}
