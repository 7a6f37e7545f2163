import Testing

@testable import Pintle
@testable import PintlePolicyFile

@Suite("Policy files")
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

    @Test("Every key of the format has its effect")
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
        #expect(host.withdrawalReason == "the key was stolen")
    }

    @Test("Missing keys have the defaults of the format")
    func defaults() throws {
        let text = PolicyText.policy("{\"host\": \"example.com\"}")
        let policy = try PinningPolicy(json: Array(text.utf8))
        #expect(policy.unpinnedHosts == .systemTrust && policy.updateVersion == 0 && !policy.allowsUpdatesForAnyHost)
        let host = try #require(policy.hosts.first)
        #expect(host.port == nil && !host.includesSubdomains && host.pins.isEmpty && host.backupPins.isEmpty)
        #expect(host.requires == .anyPin && host.expiry == .never && host.enforcement == .enforce)
        #expect(host.anchors == .system && host.reportTo.isEmpty && host.withdrawalReason == nil)
        #expect(PolicyText.ids(PolicyText.policy()) == [])
        let anchors = PolicyText.policy("{\"host\": \"example.com\", \"anchors\": {\"system\": true}}")
        #expect(try PinningPolicy(json: Array(anchors.utf8)).hosts.first?.anchors == .system)
    }

    @Test("A written policy reads back as an equal policy, and writes the same text again")
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

    @Test("A written policy omits default values")
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

    @Test("All problems are reported at once, in the order of the file, each with its position")
    func allAtOnce() {
        let text = """
            { "version": 1,
              "hosts": [
                { "host": "*.example.com", "port": 0,
                  "pins": ["\(PolicyText.pin)"] },
                { "host": "a.example.com",
                  "pins": ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="] },
                { "host": "b.example.com",
                  "pin": ["\(PolicyText.pin)"], "expiry": {"after": "2026-02-30T00:00:00Z"} },
                { "host": "c.example.com",
                  "pins": ["\(PolicyText.pin)"] },
                { "host": "C.EXAMPLE.com" },
                { "host": "c.example.com", "enforcement": true }
              ] }
            """
        let found = PolicyText.problems(text)
        #expect(
            found.map { "\($0.line ?? 0):\($0.column ?? 0) \($0.id) \($0.path)" } == [
                "3:15 invalid-host hosts[0].host",
                "3:40 invalid-port hosts[0].port",
                "6:16 empty-input-pin hosts[1].pins[0]",
                "6:16 no-backup-pin hosts[1].backupPins",
                "8:7 unknown-key hosts[2].pin",
                "8:81 missing-key hosts[2].expiry.then",
                "8:91 invalid-date hosts[2].expiry.after",
                "10:16 no-backup-pin hosts[3].backupPins",
                "11:15 duplicate-rule hosts[4].host",
                "12:47 wrong-type hosts[5].enforcement",
            ])
    }

    @Test("If something outside the rules is wrong, the meaning of the rules is not checked")
    func wrongTop() {
        let rule = "{\"host\": \"c.example.com\", \"pins\": [\"\(PolicyText.pin)\"]}"
        let wrong = PolicyText.policy(rule, top: "\"unpinnedHosts\": \"system-trust\",")
        #expect(PolicyText.ids(wrong) == ["unknown-value"])
        #expect(PolicyText.ids(PolicyText.policy(rule, "7")) == ["no-backup-pin", "wrong-type"])
        #expect(PolicyText.ids(PolicyText.policy(rule)) == ["no-backup-pin"])
    }

    @Test("Invalid JSON is reported as the only problem, with its position")
    func brokenJSON() {
        let problems = PolicyText.problems("{\"version\": 1,\n \"hosts\": [{}],\n \"version\": 1}")
        #expect(problems.map(\.id) == ["duplicate-key"])
        #expect(problems.first?.line == 3 && problems.first?.column == 2)
        #expect(PolicyText.ids("\u{FEFF}" + PolicyText.policy()) == ["byte-order-mark"])
        #expect(PolicyText.ids("{\"version\": 1.0, \"hosts\": []}") == ["non-integer-number"])
        #expect(PolicyText.ids("") == ["empty-document"])
    }

    @Test("At most 1,000 problems are reported, and then that there are more")
    func manyProblems() {
        let rules = (0..<1500).map { _ in "7" }.joined(separator: ",")
        let problems = PolicyText.problems(PolicyText.policy(rules))
        #expect(problems.count == 1001)
        #expect(problems.last?.id == "more-problems")
        #expect(problems.last?.message == "and more: reading ended after 1000 problems")
        let semantic = (0..<1500).map { "{\"host\": \"h\($0).example\", \"pins\": [\"\(PolicyText.pin)\"]}" }
        #expect(PolicyText.problems(PolicyText.policy(semantic.joined(separator: ","))).count == 1001)
    }

    @Test("The limit also applies to the problems of a single rule, and the reported ones keep their positions")
    func manyProblemsOfOneRule() {
        func problems(_ duplicates: Int) -> [PolicyProblem] {
            let pins = [String](repeating: "\"\(PolicyText.pin)\"", count: duplicates + 1).joined(separator: ",\n")
            return PolicyText.problems(
                PolicyText.policy("{\"host\": \"a.example\", \"pins\": [\(pins)], \"backupPins\": \"none-accepted\"}"))
        }
        let some = problems(1_000)
        #expect(some.map(\.id) == [String](repeating: "duplicate-pin", count: 1_000))
        #expect(some.last?.path == "hosts[0].pins[1000]" && some.last?.line == 1_001)
        let many = problems(20_000)
        #expect(many.count == 1_001 && many.last?.id == "more-problems")
        #expect(many[999].path == "hosts[0].pins[1000]" && many[999].line == 1_001)
    }

    @Test("Positions in a long list are found without walking the list for each")
    func placesInLongLists() throws {
        let text =
            "{\"hosts\": [{\"host\": \"a\", \"pins\": [\([String](repeating: "7", count: 200_000).joined(separator: ","))]}]}"
        let root = try JSONDocument(Array(text.utf8)).root
        var places = PolicyPlaces(root)
        let start = places.value(at: .rule(0)["pins"][0]).offset
        let seconds = secondsTaken {
            for index in 199_000..<200_000 {
                #expect(places.value(at: .rule(0)["pins"][index]).offset == start + 2 * index)
            }
        }
        #expect(places.value(at: .rule(0)["pins"][200_000]).kind == .array)
        #expect(places.value(at: .rule(0)["backupPins"]).offset == start)
        #expect(places.value(at: .rule(0)["expiry"]["after"]).string == "a")
        #expect(places.value(at: .rule(1)).kind == .array)
        // Walking the list would take 200 million steps. 10 s suffice for a debug build on a busy machine.
        #expect(seconds < 10)
    }

    @Test("A policy inside another document has positions in that document and reads no files")
    func inside() throws {
        let text = "{\"id\": 1,\n \"policy\": \(PolicyText.policy(PolicyText.rule("a b")))}"
        let value = try #require(try JSONDocument(Array(text.utf8)).root["policy"])
        let error = #expect(throws: PolicyError.self) { try PinningPolicy(json: value) }
        #expect(error?.problems.first?.line == 2)
        #expect(error?.problems.map(\.id) == ["invalid-host"])
    }

    @Test("A damaged policy is either valid or an error, and never traps")
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
                // Replace a value, which usually keeps the JSON valid.
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
