import Testing

@testable import Pintle

@Suite("A policy file")
struct PolicyFileTests {
    private let everything = """
        { "version": 1,
          "updateVersion": 7,
          "unpinnedHosts": "askUser",
          "updates": {"anyHost": true},
          "hosts": [ {
            "host": "API.example.com.", "port": 8443, "includeSubdomains": true,
            "pins": ["\(PolicyText.pin)",
                     {"spki": "\(PolicyText.third)", "at": "ca"},
                     {"certificate": "CC:75:1C:67:69:82:29:D9:27:7C:61:D1:A6:D8:11:AD:2A:F2:C0:95:9A:04:86:F5:D5:F3:8E:CE:3E:4A:E2:CF", "at": "leaf"}],
            "backupPins": [{"spki": "\(PolicyText.backup)"}],
            "requires": "anyPin",
            "expiry": {"after": "2027-11-20T01:00:00+01:00", "then": "reject"},
            "enforcement": "reportOnly",
            "anchors": {"include": ["roots/private.pem"], "system": true},
            "reportTo": ["https://reports.example.net/pins"],
            "withdraws": "the key was stolen" } ] }
        """

    @Test("Every key of the format is read as what it says")
    func readsEverything() throws {
        let policy = try PinningPolicy(json: Array(everything.utf8)) { path in
            #expect(path == "roots/private.pem")
            return Array(("a comment\n" + MinimalCertificate.pem()).utf8)
        }
        #expect(policy.updateVersion == 7)
        #expect(policy.unpinnedHosts == .askUser)
        #expect(policy.allowsUpdatesForAnyHost)
        let host = try #require(policy.hosts.first)
        #expect(host.host == (try ServerName("api.example.com")))
        #expect(host.port == 8443)
        #expect(host.includesSubdomains)
        #expect(
            host.pins == [
                try .publicKey(PolicyText.pin), try .publicKey(PolicyText.third, at: .ca),
                try .certificate(PolicyText.fingerprint, at: .leaf),
            ])
        #expect(host.backupPins == [try .publicKey(PolicyText.backup)])
        #expect(host.requires == .anyPin)
        #expect(host.expiry == .rejecting(after: try RFC3339.date(from: "2027-11-20T00:00:00Z")))
        #expect(host.enforcement == .reportOnly)
        #expect(host.anchors.certificates.map(\.der) == [MinimalCertificate.der()])
        #expect(host.anchors.includesSystem)
        #expect(host.reportTo == ["https://reports.example.net/pins"])
        #expect(host.withdraws == "the key was stolen")
    }

    @Test("Absent keys have the defaults of the format")
    func defaults() throws {
        let text = PolicyText.policy("{\"host\": \"example.com\"}")
        let policy = try PinningPolicy(json: Array(text.utf8))
        #expect(policy.unpinnedHosts == .systemTrust && policy.updateVersion == 0 && !policy.allowsUpdatesForAnyHost)
        let host = try #require(policy.hosts.first)
        #expect(host.port == nil && !host.includesSubdomains && host.pins.isEmpty && host.backupPins.isEmpty)
        #expect(host.requires == .anyPin && host.expiry == .never && host.enforcement == .enforce)
        #expect(host.anchors == .system && host.reportTo.isEmpty && host.withdraws == nil)
        #expect(PolicyText.ids(PolicyText.policy()) == [])
        let anchors = PolicyText.policy("{\"host\": \"example.com\", \"anchors\": {\"system\": true}}")
        #expect(try PinningPolicy(json: Array(anchors.utf8)).hosts.first?.anchors == .system)
    }

    @Test("A policy printed and read again is the same, and printed again the same text")
    func roundTrip() throws {
        let files: (String) throws -> [UInt8] = { _ in Array(MinimalCertificate.pem().utf8) }
        let more = PolicyText.policy(
            PolicyText.rule(),
            "{\"host\": \"::1\", \"pins\": [\"\(PolicyText.pin)\"], \"backupPins\": \"none-accepted\"}",
            PolicyText.rule(
                "a.example.com", "\"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}"))
        for text in [everything, more, PolicyText.policy()] {
            let policy = try PinningPolicy(json: Array(text.utf8), resolvingFile: files)
            let printed = policy.json()
            let again = try PinningPolicy(json: printed)
            #expect(Array(again.hosts) == Array(policy.hosts))
            #expect(again.unpinnedHosts == policy.unpinnedHosts && again.updateVersion == policy.updateVersion)
            #expect(again.allowsUpdatesForAnyHost == policy.allowsUpdatesForAnyHost)
            #expect(again.json() == printed)
        }
    }

    @Test("A printed policy leaves defaults out")
    func printed() throws {
        let policy = try PinningPolicy(json: Array(PolicyText.policy(PolicyText.rule()).utf8))
        #expect(
            String(decoding: policy.json(), as: UTF8.self) == """
                {
                  "version": 1,
                  "hosts": [
                    {
                      "host": "example.com",
                      "pins": [
                        "\(PolicyText.pin)"
                      ],
                      "backupPins": [
                        "\(PolicyText.backup)"
                      ]
                    }
                  ]
                }

                """)
    }

    @Test("All problems are told at once, in the order of the file, each at its place")
    func allAtOnce() {
        let text = """
            { "version": 1,
              "unpinnedHosts": "system-trust",
              "hosts": [
                { "host": "*.example.com", "port": 0,
                  "pins": ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="] },
                { "host": "b.example.com",
                  "pin": ["\(PolicyText.pin)"], "expiry": {"after": "2026-02-30T00:00:00Z"} },
                { "host": "c.example.com",
                  "pins": ["\(PolicyText.pin)"] },
                { "host": "C.EXAMPLE.com", "enforcement": true }
              ] }
            """
        let found = PolicyText.problems(text)
        #expect(
            found.map { "\($0.line ?? 0):\($0.column ?? 0) \($0.id) \($0.path)" } == [
                "2:20 unknown-value unpinnedHosts",
                "4:15 invalid-host hosts[0].host",
                "4:40 invalid-port hosts[0].port",
                "5:16 empty-input-pin hosts[0].pins[0]",
                "5:16 no-backup-pin hosts[0].backupPins",
                "7:7 unknown-key hosts[1].pin",
                "7:81 missing-key hosts[1].expiry.then",
                "7:91 invalid-date hosts[1].expiry.after",
                "9:16 no-backup-pin hosts[2].backupPins",
                "10:15 duplicate-rule hosts[3].host",
                "10:47 wrong-type hosts[3].enforcement",
            ])
    }

    @Test(
        "Each mistake has its id, and without it the policy is read",
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

    @Test("A wrong key comes with the right one")
    func didYouMean() throws {
        let problem = try #require(
            PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", "\"pin\": []"))).first)
        #expect(problem.message == "unknown key \"pin\" in hosts[0]")
        #expect(problem.help.hasPrefix("did you mean \"pins\"? known keys: host, port, "))
        let snake = PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", "\"include_subdomains\": true")))
        #expect(snake.first?.help.contains("did you mean \"includeSubdomains\"?") == true)
        let foreign = PolicyText.problems(PolicyText.policy(PolicyText.rule("a.example", "\"\\u202ecolour\": 1")))
        #expect(foreign.first?.help.hasPrefix("known keys:") == true)
        #expect(foreign.first?.message == "unknown key \"\\u202ecolour\" in hosts[0]")
        #expect(foreign.first?.path == "hosts[0]")
    }

    @Test("Broken JSON is the only problem, at its place")
    func brokenJSON() {
        let problems = PolicyText.problems("{\"version\": 1,\n \"hosts\": [{}],\n \"version\": 1}")
        #expect(problems.map(\.id) == ["duplicate-key"])
        #expect(problems.first?.line == 3 && problems.first?.column == 2)
        #expect(PolicyText.ids("\u{FEFF}" + PolicyText.policy()) == ["byte-order-mark"])
        #expect(PolicyText.ids("{\"version\": 1.0, \"hosts\": []}") == ["non-integer-number"])
        #expect(PolicyText.ids("") == ["empty-document"])
    }

    @Test("No more than 1,000 problems are told, and that there are more")
    func manyProblems() {
        let rules = (0..<1500).map { _ in "7" }.joined(separator: ",")
        let problems = PolicyText.problems(PolicyText.policy(rules))
        #expect(problems.count == 1001)
        #expect(problems.last?.id == "more-problems")
        #expect(problems.last?.message == "and more: reading ended after 1000 problems")
        let semantic = (0..<1500).map { "{\"host\": \"h\($0).example\", \"pins\": [\"\(PolicyText.pin)\"]}" }
        #expect(PolicyText.problems(PolicyText.policy(semantic.joined(separator: ","))).count == 1001)
    }

    @Test("A policy inside another document has its places there, and reads no files")
    func inside() throws {
        let text = "{\"id\": 1,\n \"policy\": \(PolicyText.policy(PolicyText.rule("a b")))}"
        let value = try #require(try JSONDocument(Array(text.utf8)).root["policy"])
        let error = #expect(throws: PolicyError.self) { try PinningPolicy(json: value) }
        #expect(error?.problems.first?.line == 2)
        #expect(error?.problems.map(\.id) == ["invalid-host"])
    }

    @Test("A damaged policy is read or told what is wrong, and never traps")
    func damage() {
        let bytes = Array(everything.utf8)
        var generator = SplitMix(state: 7)
        for _ in 0..<3_000 {
            var damaged = bytes
            switch generator.next() % 3 {
            case 0:
                let index = Int(generator.next() % UInt64(bytes.count))
                damaged[index] = Array("\"{}[]:,-0aZ\\\u{0}".utf8)[Int(generator.next() % 13)]
            case 1:
                let start = Int(generator.next() % UInt64(bytes.count))
                damaged.removeSubrange(start..<min(bytes.count, start + Int(generator.next() % 40)))
            default:
                // A value somewhere else: the JSON stays sound more often than not.
                let values = ["null", "true", "7", "\"\"", "[]", "{}", "[[7]]", "\"sha256/AAAA\""]
                let colons = bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
                let colon = colons[Int(generator.next() % UInt64(colons.count))]
                let end = bytes[colon...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? colon
                damaged.replaceSubrange(
                    colon + 1..<max(colon + 1, end), with: Array(values[Int(generator.next() % 8)].utf8))
            }
            _ = PolicyText.problems(
                String(decoding: damaged, as: UTF8.self), files: { _ in Array(MinimalCertificate.pem().utf8) })
        }
    }
}

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
