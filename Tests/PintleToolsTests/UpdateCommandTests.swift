import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import PintleUpdates
import Testing

@Suite("keygen, sign and verify")
struct UpdateCommandTests {
    let files: UpdateFixture

    init() throws {
        files = try UpdateFixture()
    }

    private func verify(_ arguments: String...) throws -> (code: Int32, json: JSONValue) {
        let run = ToolRun(
            arguments: ["verify", "--json", "--trusted", files.key + ".pub"] + arguments, now: files.now)
        return (run.code, try run.json())
    }

    // MARK: keygen

    @Test("A new private key is readable only by its owner, printed by its id, and never overwrites a file")
    func keygen() throws {
        let path = files.path("second.key")
        let run = files.run("keygen", "--out", path)
        #expect(run.code == 0 && files.mode(path) == 0o600 && files.mode(path + ".pub") == 0o644)
        let key = try UpdateKey(pem: files.text(path + ".pub"))
        #expect(run.output == key.id + "\n")
        let other = try runProcess(["openssl", "pkey", "-in", path, "-pubout"])
        #expect(try other.output == files.text(path + ".pub"))
        #expect(run.errors.contains("make a second key on another machine and keep it offline"))
        // The advice to make a second key offline does not appear for that key itself.
        let offline = files.run("keygen", "--out", files.path("offline.key"))
        #expect(offline.code == 0 && !offline.errors.contains("keygen --out offline.key"))
        #expect(offline.errors.contains("pintle keygen --out update.key"))
        let before = try files.text(path)
        let again = files.run("keygen", "--out", path, "--json")
        #expect(again.code == 2)
        #expect(try again.json()["error"]?["code"]?.string == "file-exists")
        #expect(try files.text(path) == before)
        try files.directory.write("a", to: "third.key.pub")
        #expect(files.run("keygen", "--out", files.path("third.key")).code == 2)
        #expect(files.mode(files.path("third.key")) == 0)
        #expect(files.run("keygen", "--out", files.path("no/such/folder/k")).code == 2)
        #expect(files.run("keygen").code == 2)
    }

    // MARK: sign and verify

    @Test("Verify accepts a signed update")
    func accepted() throws {
        let update = try files.sign(7)
        let (code, json) = try verify("--bundled", files.policy, update)
        let id = try UpdateKey(pem: files.text(files.key + ".pub")).id
        #expect(code == 0)
        #expect(json["result"]?.string == "accepted" && json["version"]?.integer == 7)
        #expect(json["keyids"]?.elements?.compactMap(\.string) == [id])
        #expect(json["error"] == nil && json["notChecked"] == nil)
        let text = files.run(
            "verify", "--trusted", files.key + ".pub", "--bundled", files.policy, update, "-v")
        #expect(text.lines.first == "accepted   version 7   1 host")
        #expect(text.output.contains("  signed    \(id)   1 of 1 needed"))
        #expect(text.output.contains("(89 days left)") && text.output.contains("1 rule unchanged"))
        #expect(text.output.contains("  scope     ok") && text.errors.isEmpty)
    }

    @Test("Without the bundled policy, verify names the checks that it skipped")
    func unscoped() throws {
        let update = try files.sign(7)
        let run = files.run("verify", "--trusted", files.key + ".pub", update, "--json")
        #expect(run.code == 0)
        #expect(try run.json()["notChecked"]?.elements?.compactMap(\.string) == ["floor", "scope"])
        #expect(run.errors.contains("scope and floor were not checked"))
    }

    @Test("Without the bundled policy, the first line says what was not checked, and the advice is the full command")
    func unscopedAdvice() throws {
        // An app with the other policy refuses this update.
        let update = try files.sign(7)
        let bundled = try files.directory.write(UpdateFixture.policy(host: "example.net"), to: "net.json")
        let trusted = files.key + ".pub"
        let run = files.run("verify", "--trusted", trusted, "--min-version", "7", update, "-v")
        #expect(run.code == 0)
        #expect(run.lines.first == "accepted   version 7   1 host   scope and floor not checked")
        #expect(run.output.contains("  floor     not checked") && run.output.contains("  scope     not checked"))
        #expect(!run.output.contains("publish it"))
        // The first line and the advice say it, so no warning repeats it; a rejection has neither.
        #expect(run.errors.isEmpty, "\(run.errors)")
        let rejected = files.run("verify", "--trusted", trusted, "--min-version", "8", update)
        #expect(rejected.code == 1 && rejected.errors.contains("scope and floor were not checked"))
        let command = "pintle verify \(update) --trusted \(trusted) --min-version 7 --bundled POLICY"
        #expect(
            run.lines.last { !$0.isEmpty } == "next: see whether an app that shipped POLICY takes it: \(command)",
            "\(run.output)")
        func follow(_ policy: String) -> ToolRun {
            let words = command.replacing("POLICY", with: policy).split(separator: " ").dropFirst().map(String.init)
            return ToolRun(arguments: words, now: files.now)
        }
        #expect(follow(bundled).code == 1)
        let scoped = follow(files.policy)
        #expect(scoped.code == 0 && scoped.lines.first == "accepted   version 7   1 host")
        #expect(scoped.output.contains("next: publish it"))
    }

    @Test("An update in the place of the bundled policy is named with a command that keeps --bundled")
    func swapped() throws {
        let update = try files.sign(7)
        let run = files.run("verify", "--trusted", files.key + ".pub", "--bundled", update, files.policy)
        #expect(run.code == 2)
        #expect(
            run.errors.contains("hint: pintle verify --trusted PUB --bundled POLICY \(update)\n"), "\(run.errors)")
    }

    @Test("The changes in JSON are those of the text, and an update with the same rules has none")
    func changes() throws {
        let same = try verify("--bundled", files.policy, files.sign(7)).json
        #expect(same["changes"]?.count == 0 && same["isUnchanged"]?.boolean == false)
        let other = try files.directory.write(UpdateFixture.policy(pin: UpdateFixture.other), to: "other.json")
        let update = try files.sign(8, policy: other)
        let changed = try verify("--bundled", files.policy, update).json["changes"]?.elements?.map(\.self) ?? []
        #expect(changed.map { $0["rule"]?.string } == ["example.com"])
        #expect(
            changed.first?["changes"]?.elements?.compactMap(\.string) == ["1 pin replaced by 1"])
        let text = files.run("verify", "--trusted", files.key + ".pub", "--bundled", files.policy, update)
        #expect(text.output.contains("  changes   example.com: 1 pin replaced by 1\n"), "\(text.output)")
        // Every difference of a rule counts, also one without words of its own.
        let pins = "\"pins\": [\"\(UpdateFixture.pin)\", \"\(UpdateFixture.other)\"]"
        let swapped = "\"pins\": [\"\(UpdateFixture.other)\", \"\(UpdateFixture.pin)\"]"
        func policy(_ pins: String) -> String {
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \(pins), "
                + "\"backupPins\": [\"\(UpdateFixture.backup)\"]}]}"
        }
        let bundled = try files.directory.write(policy(pins), to: "two.json")
        let order = try files.sign(9, policy: files.directory.write(policy(swapped), to: "swapped.json"))
        #expect(
            try verify("--bundled", bundled, order).json["changes"]?.elements?.first { _ in true }?["changes"]?
                .elements?.compactMap(\.string) == ["another order of pins"])
        func reporting(_ path: String) throws -> String {
            let rule = "{\"host\": \"example.com\", \"reportTo\": [\"https://reports.example/\(path)\"], "
            return try files.directory.write(
                policy(pins).replacing("{\"host\": \"example.com\", ", with: rule), to: "\(path).json")
        }
        let (first, second) = (try reporting("first"), try reporting("second"))
        for (old, new, words) in [
            (first, second, "other addresses for reports"), (first, bundled, "reports go nowhere"),
        ] {
            let moved = files.run(
                "verify", "--trusted", files.key + ".pub", "--bundled", old, try files.sign(10, policy: new))
            #expect(moved.output.contains("  changes   example.com: \(words)\n"), "\(moved.output)\(moved.errors)")
        }
        // The number of the bundled policy makes it the version that apps have.
        let seven = try files.directory.write(UpdateFixture.policy(more: ", \"updateVersion\": 7"), to: "seven.json")
        #expect(try verify("--bundled", seven, files.sign(7)).json["isUnchanged"]?.boolean == true)
    }

    @Test("A refused scope has a remedy for each violation, in JSON and as the next steps")
    func scopeRemedies() throws {
        let bundled = try files.directory.write(
            UpdateFixture.policy(more: ", \"unpinnedHosts\": \"reject\""), to: "strict.json")
        let text = UpdateFixture.policy().replacing("}]}", with: ", \"enforcement\": \"reportOnly\"}]}")
        let update = try files.sign(7, policy: files.directory.write(text, to: "loose.json"))
        let (code, json) = try verify("--bundled", bundled, update)
        let helps = [
            "write \"unpinnedHosts\": \"reject\"; only a release can change it",
            "if that is meant, say why in the rule for example.com: \"withdraws\": \"why\"",
        ]
        #expect(code == 1 && json["error"]?.string == "out-of-scope")
        #expect(json["violations"]?.elements?.compactMap { $0["help"]?.string } == helps)
        #expect(json["next"]?.string == helps.joined(separator: "; "))
        let shown = files.run("verify", "--trusted", files.key + ".pub", "--bundled", bundled, update)
        #expect(shown.output.hasSuffix("\nnext: \(helps[0])\n      \(helps[1])\n"), "\(shown.output)")
        let mended = text.replacing("1, \"hosts\"", with: "1, \"unpinnedHosts\": \"reject\", \"hosts\"")
            .replacing("}]}", with: ", \"withdraws\": \"why\"}]}")
        let good = try files.sign(7, policy: files.directory.write(mended, to: "mended.json"))
        #expect(try verify("--bundled", bundled, good).code == 0)
    }

    @Test("The advice about a refused update names its file")
    func namedFiles() throws {
        let update = try files.sign(7)
        let stranger = files.path("stranger.key")
        files.run("keygen", "--out", stranger)
        let foreign = files.run("verify", "--trusted", stranger + ".pub", update)
        #expect(foreign.output.contains("pintle inspect \(update), and"), "\(foreign.output)")
        let second = files.run(
            "verify", "--trusted", stranger + ".pub", "--trusted", files.key + ".pub", "--threshold", "2", update)
        #expect(second.output.contains("pintle sign --key OTHER --append \(update) -o \(update)"), "\(second.output)")
        files.run("sign", "--key", stranger, "--append", update, "-o", update)
        #expect(
            files.run(
                "verify", "--trusted", stranger + ".pub", "--trusted", files.key + ".pub", "--threshold", "2",
                "--bundled", files.policy, update
            ).code == 0)
    }

    @Test("Sign warns of pins that have ended, and of no others")
    func endedPins() throws {
        func sign(_ year: Int, _ then: String, _ more: String...) throws -> ToolRun {
            let policy = UpdateFixture.policy().replacing(
                "}]}", with: ", \"expiry\": {\"after\": \"\(year)-01-01T00:00:00Z\", \"then\": \"\(then)\"}}]}")
            return ToolRun(
                arguments: [
                    "sign", "--key", files.key, "--version", "7", "--expires", "2027-02-18",
                    try files.directory.write(policy, to: "ending.json"), "-o", files.path("ending.update"),
                ] + more, now: files.now)
        }
        let open = try sign(2020, "systemTrust")
        #expect(open.code == 0)
        #expect(
            open.errors.contains("warning: the pins of example.com ended 2020-01-01: pins are not compared\n"),
            "\(open.errors)")
        #expect(try sign(2020, "reject").errors.contains("ended 2020-01-01: every connection is refused\n"))
        #expect(try !sign(2028, "systemTrust").errors.contains("warning"))
        // Apps may take the update only after the pins have ended, or in the second in which they end.
        let later = try sign(2027, "reject", "--issued", "2027-01-01")
        #expect(
            later.errors.contains(
                "warning: the pins of example.com end 2027-01-01, before apps may take the update: then every "
                    + "connection is refused\n"), "\(later.errors)")
        #expect(try !sign(2027, "reject", "--issued", "2026-12-31T23:59:59Z").errors.contains("warning"))
    }

    @Test("A signature is not appended to a payload that its own signer did not sign")
    func changedPayload() throws {
        let update = try files.sign(7)
        let (first, other) = (try files.text(update), try files.text(files.sign(99, to: "other.json")))
        func payload(_ text: String) throws -> String {
            try #require(try JSONDocument(Array(text.utf8)).root["payload"]?.string)
        }
        let forged = try files.directory.write(
            first.replacing(try payload(first), with: try payload(other)), to: "forged.json")
        let run = files.run("sign", "--key", files.key, "--append", forged, "-o", forged, "--json")
        #expect(run.code == 2)
        let error = try run.json()["error"]
        #expect(error?["code"]?.string == "changed-payload" && error?["file"]?.string == forged)
        #expect(error?["hint"]?.string?.hasSuffix("pintle inspect \(forged)") == true)
        let piped = ToolRun(
            arguments: ["sign", "--key", files.key, "--append", "-"], input: Array(try files.text(forged).utf8),
            now: files.now)
        #expect(piped.code == 2 && piped.errors.contains("stdin: a signature that names the key "), "\(piped.errors)")
        let second = files.path("second.key")
        files.run("keygen", "--out", second)
        // The payload is the signed one, but the signature was changed, or the name is that of another key.
        func signature(_ text: String, _ key: StaticString) throws -> String {
            let list = try JSONDocument(Array(text.utf8)).root["signatures"]?.elements
            return try #require(list?.first { _ in true }?[key]?.string)
        }
        let (bytes, name) = (try signature(first, "sig"), try signature(first, "keyid"))
        let id = try UpdateKey(pem: files.text(second + ".pub")).id
        for (key, old, new) in [
            (files.key, bytes, (bytes.hasPrefix("A") ? "B" : "A") + bytes.dropFirst()), (second, name, id),
        ] {
            let text = first.replacing(old, with: new)
            let changed = try files.directory.write(text, to: "changed.json")
            let run = files.run("sign", "--key", key, "--append", changed, "-o", changed)
            #expect(run.code == 2)
            let words = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(
                words.contains(
                    "does not verify: the payload or the signature was changed, or another key made it"),
                "\(run.errors)")
            // The remedy of the hint.
            let begin = try #require(text.firstRange(of: "\"signatures\""))
            let bare = try files.directory.write(
                String(text[..<begin.lowerBound]) + "\"signatures\": []}", to: "changed.json")
            #expect(files.run("sign", "--key", key, "--append", bare, "-o", bare).code == 0)
        }
        #expect(files.run("sign", "--key", second, "--append", update, "-o", update).code == 0)
    }

    @Test("Every refusal has exit code 1, a code and a remedy")
    func rejected() throws {
        let update = try files.sign(7)
        func expect(_ code: String, _ arguments: String..., line: Int = #line) throws {
            let run = ToolRun(
                arguments: ["verify", "--trusted", files.key + ".pub", "--json"] + arguments, now: files.now)
            let json = try run.json()
            #expect(run.code == 1 && json["error"]?.string == code, "line \(line): \(run.output)")
            #expect(json["result"]?.string == "rejected" && json["keyids"]?.elements != nil)
            let text = ToolRun(arguments: ["verify", "--trusted", files.key + ".pub"] + arguments, now: files.now)
            #expect(text.code == 1 && text.lines.first?.hasPrefix("REJECTED   \(code)   ") == true, "\(text.output)")
            #expect(text.output.contains("\nnext: "))
        }
        try expect("rollback", "--min-version", "8", update)
        try expect("not-yet-issued", "--at", "2026-11-20T11:59:59Z", update)
        try expect("expired", "--at", "2027-02-18T00:00:00Z", update)
        try expect("malformed-envelope", try files.directory.write("{}", to: "junk"))
        try expect("malformed-envelope", try files.directory.write("", to: "empty"))
        try expect("too-large", try files.directory.write([UInt8](repeating: 0x20, count: 16 << 20 + 1), to: "large"))
        let stranger = files.path("stranger.key")
        files.run("keygen", "--out", stranger)
        try expect("invalid-signature", try files.sign(7, by: stranger, to: "foreign.json"))
        try expect("threshold-not-met", "--trusted", stranger + ".pub", "--threshold", "2", update)
        // One key counts as one signature, however often the user names it.
        let twice = files.run(
            "verify", "--trusted", files.key + ".pub", "--trusted", files.key + ".pub", "--threshold", "2", update)
        #expect(twice.code == 1 && twice.lines.first?.hasPrefix("REJECTED   threshold-not-met") == true)
        #expect(twice.errors.contains("--trusted names 1 key, and a key counts once: name 2 keys"), "\(twice.errors)")
        #expect(twice.output.contains("\nnext: name 2 different keys with --trusted"), "\(twice.output)")
        #expect(try verify("--trusted", files.key + ".pub", "--threshold", "1", update).code == 0)
        let changed = try files.directory.write(UpdateFixture.policy(pin: UpdateFixture.other), to: "changed.json")
        let seven = try files.directory.write(UpdateFixture.policy(more: ", \"updateVersion\": 7"), to: "seven.json")
        try expect("replaced-version", "--bundled", seven, try files.sign(7, policy: changed, to: "other.json"))
        let net = UpdateFixture.policy(host: "example.net")
        let bundled = try files.directory.write(net, to: "net.json")
        try expect("out-of-scope", "--bundled", bundled, update)
        let none = try files.directory.write("{\"version\": 1, \"hosts\": []}", to: "none.json")
        try expect("invalid-policy", "--bundled", files.policy, try files.sign(7, policy: none, to: "empty.json"))
        #expect(try verify("--bundled", files.policy, update).code == 0)
    }

    @Test("The help of verify names the checks in their order")
    func checks() {
        let words = ToolRun("verify", "--help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("payload, version, floor, dates, scope, policy."))
    }

    @Test("The remedies for keys and days that cannot be used are ones that help")
    func remedies() throws {
        let key = files.path("rsa.key")
        for (words, label) in [
            (["genrsa", "-traditional", "-out", key, "2048"], "RSA PRIVATE KEY"),
            (["ecparam", "-genkey", "-noout", "-name", "prime256v1", "-out", key], "EC PRIVATE KEY"),
        ] {
            _ = try runProcess(["openssl"] + words)
            let run = files.run(
                "sign", "--key", key, "--version", "7", "--expires", "2027-02-18", files.policy, "-o",
                files.path("no.json"))
            #expect(run.code == 2 && run.errors.contains(label), "\(run.errors)")
            #expect(run.errors.contains("pintle keygen --out update.key") && !run.errors.contains("pkcs8"))
        }
        let encrypted = files.path("encrypted.key")
        _ = try runProcess(
            ["openssl", "pkcs8", "-topk8", "-in", files.key, "-passout", "pass:right", "-out", encrypted])
        for (name, shown) in [("-", "FILE"), (encrypted, encrypted)] {
            let run = ToolRun(
                arguments: [
                    "sign", "--key", name, "--version", "7", "--expires", "2027-02-18", files.policy, "-o",
                    files.path("no.json"),
                ], input: Array(try files.text(encrypted).utf8),
                environment: ["LANG": "C.UTF-8", "PINTLE_KEY_PASSPHRASE": "wrong"], now: files.now)
            #expect(run.code == 2 && run.errors.contains("openssl pkey -in \(shown) -noout"), "\(run.errors)")
        }
        let day = files.run("sign", "--key", files.key, "--version", "7", "--expires", "2027-02-30", files.policy)
        #expect(day.code == 2 && day.errors.contains("write it like 2027-11-20, "), "\(day.errors)")
    }

    @Test("A missing file, key or option gives exit code 2")
    func unusable() throws {
        let update = try files.sign(7)
        let pub = files.key + ".pub"
        for arguments in [
            ["verify", update], ["verify", "--trusted", pub], ["verify", "--trusted", pub, files.path("none")],
            ["verify", "--trusted", files.path("none"), update], ["verify", "--trusted", files.key, update],
            ["verify", "--trusted", files.policy, update],
            ["verify", "--trusted", pub, "--threshold", "0", update],
            ["verify", "--trusted", pub, "--threshold", "2", update],
            ["verify", "--trusted", pub, "--min-version", "x", update],
            ["verify", "--trusted", pub, "--at", "tomorrow", update],
            ["verify", "--trusted", pub, "--bundled", files.path("none"), update],
            ["sign", files.policy], ["sign", "--key", files.key, files.policy],
            ["sign", "--key", files.key, "--version", "1", files.policy],
            ["sign", "--key", files.key, "--version", "0", "--expires", "2027-01-01T00:00:00Z", files.policy],
            [
                "sign", "--key", files.key, "--version", "9007199254740992", "--expires", "2027-01-01T00:00:00Z",
                files.policy,
            ],
            ["sign", "--key", files.key, "--version", "1", "--expires", "2027-01-32", files.policy],
            [
                "sign", "--key", files.key, "--version", "1", "--issued", "2027-01-01T00:00:00Z", "--expires",
                "2027-01-01T00:00:00Z", files.policy,
            ],
            ["sign", "--key", pub, "--version", "1", "--expires", "2027-01-01T00:00:00Z", files.policy],
            ["sign", "--key", files.key, "--version", "1", "--expires", "2027-01-01T00:00:00Z", update],
            ["sign", "--key", files.key, "--append", files.policy],
            ["sign", "--key", files.key, "--append", update],
        ] {
            let run = ToolRun(arguments: arguments + ["--json"], now: files.now)
            #expect(run.code == 2, "\(arguments)")
            #expect(try run.json()["error"]?["code"]?.string != nil)
        }
    }

    @Test("The error about a missing folder has the path of the output file")
    func unwritable() throws {
        let path = files.path("none/7.json")
        let run = files.run(
            "sign", "--key", files.key, "--version", "7", "--expires", "2027-02-18T00:00:00Z", files.policy, "-o", path,
            "--json")
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["file"]?.string == path)
        #expect(try files.sign(7).isEmpty == false)
    }

    @Test("A second person adds a signature, and the payload does not change")
    func append() throws {
        let update = try files.sign(7)
        let before = try JSONDocument(Array(files.text(update).utf8)).root
        let second = files.path("second.key")
        files.run("keygen", "--out", second)
        let arguments = ["--trusted", second + ".pub", "--threshold", "2", "--bundled", files.policy]
        #expect(
            ToolRun(arguments: ["verify", "--trusted", files.key + ".pub"] + arguments + [update], now: files.now).code
                == 1)
        let run = files.run("sign", "--key", second, "--append", update, "-o", update)
        #expect(run.code == 0, "\(run.errors)")
        let after = try JSONDocument(Array(files.text(update).utf8)).root
        #expect(after["payload"]?.string == before["payload"]?.string && after["signatures"]?.count == 2)
        #expect(
            ToolRun(arguments: ["verify", "--trusted", files.key + ".pub"] + arguments + [update], now: files.now).code
                == 0)
        // Signing with both keys at once gives the same kind of update, also on standard output.
        let both = files.run(
            "sign", "--key", files.key, "--key", second, "--version", "8", "--expires", "2027-02-18T00:00:00Z",
            files.policy)
        #expect(both.code == 0)
        let path = try files.directory.write(both.output, to: "both.json")
        #expect(
            ToolRun(arguments: ["verify", "--trusted", files.key + ".pub"] + arguments + [path], now: files.now).code
                == 0)
    }

    @Test("A second signature keeps other members of the envelope")
    func appendToForeign() throws {
        let plain = try files.text(files.sign(7))
        let second = files.path("second.key")
        files.run("keygen", "--out", second)
        // Another program may add members beside the payload and inside a signature.
        let foreign =
            "{\"log\": {\"index\": 1.0},"
            + plain.dropFirst().replacing("\"keyid\"", with: "\"cert\": \"MIIB\", \"keyid\"")
        for (text, members) in [(plain, false), (foreign, true)] {
            let update = try files.directory.write(text, to: "given.json")
            let run = files.run("sign", "--key", second, "--append", update, "-o", update)
            #expect(run.code == 0, "\(run.errors)")
            let after = try files.text(update)
            let root = try JSONDocument(Array(after.utf8), limits: .init(allowsAnyNumber: true)).root
            #expect((root["log"] != nil) == members)
            #expect(root["signatures"]?.elements?.map { $0["cert"] != nil } == [members, false])
            // Every earlier line is still there, in the same order.
            var rest = after.split(separator: "\n")[...]
            for line in text.split(separator: "\n") where line != "    }" {
                let place = try #require(rest.firstIndex(of: line))
                rest = rest[(place + 1)...]
            }
            let verified = try verify(
                "--trusted", second + ".pub", "--threshold", "2", "--bundled", files.policy, update)
            #expect(verified.code == 0)
        }
    }

    @Test("The anchor files of the policy travel inside the update")
    func anchors() throws {
        let root = try CertificateAuthority.root(name: "Private Root")
        try files.directory.write(root.certificate.pem, to: "roots/private.pem")
        let policy = try files.directory.write(
            """
            {"version": 1, "hosts": [{"host": "nas.example.com", "anchors": {"include": ["roots/private.pem"]}}]}
            """, to: "anchored.json")
        let update = try files.sign(1, policy: policy)
        #expect(try verify("--bundled", policy, update).code == 0)
        let shown = try files.run("inspect", "--json", update).json()
        let pem = shown["policy"]?["hosts"]?.elements?.first { _ in true }?["anchors"]?["include"]?.elements?.first {
            _ in true
        }
        #expect(pem?.string == root.certificate.pem)
    }

    // MARK: Passphrases

    @Test("The tool reads keys with a passphrase, and a wrong passphrase opens none")
    func passphrase() throws {
        let encrypted = files.path("encrypted.key")
        func encrypt(iterations: Int) throws {
            let made = try runProcess([
                "openssl", "pkcs8", "-topk8", "-in", files.key, "-out", encrypted, "-passout", "pass:correct horse",
                "-iter", "\(iterations)",
            ])
            try #require(made.status == 0, "\(made.errorOutput)")
        }
        try encrypt(iterations: 600_000)
        func sign(_ passphrase: String?) -> ToolRun {
            var environment = ["LANG": "C.UTF-8"]
            environment["PINTLE_KEY_PASSPHRASE"] = passphrase
            return files.run(
                "sign", "--key", encrypted, "--version", "7", "--expires", "2027-02-18T00:00:00Z", files.policy, "-o",
                files.path("update.json"), "--json", environment: environment)
        }
        let run = sign("correct horse")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try verify("--bundled", files.policy, files.path("update.json")).code == 0)
        #expect(try sign("wrong").json()["error"]?["code"]?.string == "wrong-passphrase")
        try encrypt(iterations: 5_000_001)
        let slow = try sign("correct horse").json()["error"]
        #expect(slow?["code"]?.string == "unusable-key")
        #expect(slow?["message"]?.string == "the password needs more than 5000000 iterations")
    }

    // MARK: inspect

    @Test("Inspect shows the content of an update and verifies nothing")
    func inspect() throws {
        let update = try files.sign(7)
        let run = files.run("inspect", update)
        #expect(run.code == 0)
        #expect(run.lines.first?.hasSuffix("update, version 7; nothing was verified") == true)
        #expect(run.output.contains("as it says itself") && run.output.contains(UpdateFixture.pin))
        let json = try files.run("inspect", update, "--json").json()
        #expect(json["kind"]?.string == "update" && json["verified"]?.boolean == false)
        #expect(json["version"]?.integer == 7 && json["policy"]?["hosts"]?.count == 1)
        // Inspect shows as much as possible of an update that no app would take.
        let other = try files.directory.write(
            #"{"payload": "e30=", "payloadType": "text/plain", "signatures": [{"sig": "AA=="}]}"#, to: "other.json")
        let unknown = files.run("inspect", other, "--json")
        #expect(unknown.code == 0)
        #expect(try unknown.json()["problem"]?["code"]?.string == "unknown-payload-type")
        #expect(try unknown.json()["payloadType"]?.string == "text/plain" && unknown.json()["version"] == nil)
        let typed = try files.directory.write(
            """
            {"payload": "e30=", "payloadType": "application/vnd.pintle.policy+json", "signatures": []}
            """, to: "typed.json")
        #expect(try files.run("inspect", typed, "--json").json()["problem"]?["code"]?.string == "malformed-payload")
        #expect(files.run("inspect", typed).output.contains("problem      malformed-payload: "))
        #expect(json["problem"] == nil)
        let broken = try files.directory.write(#"{"payload": "", "signatures": []}"#, to: "broken.json")
        #expect(try files.run("inspect", broken, "--json").json()["error"]?["code"]?.string == "malformed-envelope")
    }
}
