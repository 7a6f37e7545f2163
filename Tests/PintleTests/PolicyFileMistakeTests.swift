import Testing

@testable import Pintle
@testable import PintlePolicyFile

/// Tests the id of each mistake. Each wrong text has a counterpart without the mistake.
@Suite("Mistakes in a policy file")
struct PolicyFileMistakeTests {
    @Test(
        "Each mistake has its id, and the policy without it is valid",
        arguments: [
            ("{}", "missing-key version", PolicyText.policy()),
            ("{\"version\": 1}", "missing-key hosts", PolicyText.policy()),
            ("{\"version\": 2, \"hosts\": []}", "unsupported-version version", PolicyText.policy()),
            ("{\"version\": \"1\", \"hosts\": []}", "wrong-type version", PolicyText.policy()),
            ("[]", "wrong-type ", PolicyText.policy()),
            (
                PolicyText.policy(top: "\"updateVersion\": -1,"), "invalid-update-version updateVersion",
                PolicyText.policy()
            ),
            (
                PolicyText.policy(top: "\"updateVersion\": 9007199254740992,"), "invalid-update-version updateVersion",
                PolicyText.policy(top: "\"updateVersion\": 9007199254740991,")
            ),
            (
                PolicyText.policy(top: "\"updates\": {\"anyhost\": true},"), "unknown-key updates.anyhost",
                PolicyText.policy(top: "\"updates\": {\"anyHost\": true},")
            ),
            (PolicyText.policy("7"), "wrong-type hosts[0]", PolicyText.policy(PolicyText.rule())),
            (PolicyText.policy("{}"), "missing-key hosts[0].host", PolicyText.policy(PolicyText.rule())),
            (
                PolicyText.policy(PolicyText.rule("bücher.example")), "invalid-host hosts[0].host",
                PolicyText.policy(PolicyText.rule("xn--bcher-kva.example"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"port\": 65536")), "invalid-port hosts[0].port",
                PolicyText.policy(PolicyText.rule("a.example", "\"port\": 65535"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"port\": \"443\"")), "wrong-type hosts[0].port",
                PolicyText.policy(PolicyText.rule("a.example", "\"port\": 443"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"enforcement\": null")),
                "wrong-type hosts[0].enforcement", PolicyText.policy(PolicyText.rule())
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"requires\": \"leafandca\"")),
                "unknown-value hosts[0].requires",
                PolicyText.policy(PolicyText.rule("a.example", "\"requires\": \"anyPin\""))
            ),
            (
                PolicyText.policy("{\"host\": \"a.example\", \"pins\": \"\(PolicyText.pin)\", \"backupPins\": []}"),
                "wrong-type hosts[0].pins", PolicyText.policy(PolicyText.rule())
            ),
            (
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none\"}"),
                "unknown-value hosts[0].backupPins",
                PolicyText.policy(
                    "{\"host\": \"a.example\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\"}")
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"reportTo\": [\"http://r.example.net/\"]")),
                "invalid-report-url hosts[0].reportTo[0]",
                PolicyText.policy(PolicyText.rule("a.example", "\"reportTo\": [\"https://r.example.net/\"]"))
            ),
            (
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"includeSubdomains\": true, \"reportTo\": [\"https://r.a.example/\"]")),
                "report-host-covered hosts[0].reportTo[0]",
                PolicyText.policy(PolicyText.rule("a.example", "\"reportTo\": [\"https://r.a.example/\"]"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"withdraws\": \" \"")),
                "empty-reason hosts[0].withdraws",
                PolicyText.policy(PolicyText.rule("a.example", "\"withdraws\": \"lost\""))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"anchors\": {}")), "no-anchors hosts[0].anchors",
                PolicyText.policy(PolicyText.rule("a.example", "\"anchors\": {\"system\": true}"))
            ),
            (
                PolicyText.policy(PolicyText.rule("a.example", "\"anchors\": {\"include\": [\"a.pem\"]}")),
                "anchor-file-not-allowed hosts[0].anchors.include[0]",
                PolicyText.policy(
                    PolicyText.rule(
                        "a.example", "\"anchors\": {\"include\": [\(JSONWriter.quoted(MinimalCertificate.pem()))]}"))
            ),
        ])
    func mistakes(_ text: String, _ wanted: String, _ twin: String) {
        #expect(PolicyText.problems(text).first.map { "\($0.id) \($0.path)" } == wanted)
        #expect(PolicyText.problems(twin) == [])
    }

    @Test(
        "Each mistake in a pin has its id",
        arguments: [
            ("7", "wrong-type", ""), ("{}", "missing-key", ""), ("\"\"", "invalid-pin", ""),
            ("\"sha256/AAAA\"", "wrong-pin-length", ""),
            ("\"sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa711=\"", "non-canonical-pin", ""),
            ("\"sha1/AAAA\"", "unsupported-hash", ""),
            ("{\"spki\": \"\(PolicyText.pin)\", \"certificate\": \"\(PolicyText.fingerprint)\"}", "ambiguous-pin", ""),
            ("{\"spki\": \"\(PolicyText.pin)\", \"at\": \"root\"}", "unknown-value", ".at"),
            ("{\"certificate\": \"\(PolicyText.pin)\"}", "invalid-pin", ".certificate"),
            ("{\"sPKI\": \"\(PolicyText.pin)\", \"spki\": \"\(PolicyText.pin)\"}", "unknown-key", ".sPKI"),
        ])
    func pins(_ pin: String, _ id: String, _ path: String) {
        let problems = PolicyText.problems(
            PolicyText.policy(
                "{\"host\": \"a.example\", \"pins\": [\(pin)], \"backupPins\": [\"\(PolicyText.backup)\"]}"))
        #expect(problems.map(\.id) == [id])
        #expect(problems.first?.path == "hosts[0].pins[0]" + path)
    }

    @Test("A message about a wrong key suggests the right one")
    func didYouMean() throws {
        let problem = try #require(
            PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", "\"pin\": []"))).first)
        #expect(problem.message == "unknown key \"pin\" in hosts[0]")
        #expect(problem.help.hasPrefix("did you mean \"pins\"? known keys: host, note, port, "))
        let snake = PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", "\"include_subdomains\": true")))
        #expect(snake.first?.help.contains("did you mean \"includeSubdomains\"?") == true)
        let foreign = PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", "\"\\u202ecolour\": 1")))
        #expect(foreign.first?.help.hasPrefix("known keys:") == true)
        #expect(foreign.first?.message == "unknown key \"\\u202ecolour\" in hosts[0]")
        #expect(foreign.first?.path == "hosts[0]")
    }
}
