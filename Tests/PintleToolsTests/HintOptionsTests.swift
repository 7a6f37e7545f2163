import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Hints that name a command about the same server")
struct HintOptionsTests {
    private let directory: TemporaryDirectory
    private let authority: PintleTestKit.CertificateAuthority
    private let identity: Identity
    private let server: LoopbackTLSServer
    private let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root(name: "Root")
        identity = try authority.issue(hosts: ["example.test", "::1"])
        server = try LoopbackTLSServer(identity)
        anchors = try directory.write(authority.certificate.pem, to: "root.pem")
    }

    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="

    private var options: String { "--connect-to 127.0.0.1:\(server.port) --anchors \(anchors)" }

    private func policy(_ rule: String = "", top: String = "") throws -> String {
        try directory.write("{\"version\": 1, \(top) \"hosts\": [\(rule)]}", to: "policy.json")
    }

    /// Runs a printed command.
    private func follow(_ command: String) -> ToolRun {
        ToolRun(
            arguments: command.split(separator: " ").dropFirst().map(String.init), environment: ["LANG": "C.UTF-8"])
    }

    private func run(_ words: String..., environment: [String: String] = ["LANG": "C.UTF-8"]) -> ToolRun {
        ToolRun(
            arguments: words + ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors],
            environment: environment)
    }

    @Test("check and lint repeat the options that lead to the server, also for a copied command")
    func repeated() throws {
        let other = "{\"host\": \"example.test\", \"pins\": [\"\(Self.pin)\"], \"backupPins\": \"none-accepted\"}"
        let mismatch = run("check", "example.test", "--policy", try policy(other))
        #expect(mismatch.code == 1)
        #expect(mismatch.output.contains("look from another network:   pintle pin example.test \(options)\n"))
        let lint = run("lint", try policy(other), "--live")
        #expect(lint.code == 1)
        #expect(lint.output.contains("look from another network: pintle pin example.test:443 \(options)\n"))
        let shown = follow("pintle pin example.test:443 \(options)")
        #expect(shown.code == 0 && shown.output.contains(" trusted by the roots of "), "\(shown.output)")
        let unruled = run("lint", try policy(), "--against", "example.test")
        #expect(
            unruled.output.contains("add one: pintle pin example.test:443 --as policy \(options)\n"),
            "\(unruled.output)")
        let refused = run("check", "example.test", "--policy", try policy(top: "\"unpinnedHosts\": \"reject\","))
        #expect(refused.output.contains("pintle pin example.test backup.key --as policy \(options)\n"))
        // Without the options there is nothing to repeat.
        let plain = ToolRun(
            "check", "127.0.0.1:\(server.port)", "--policy", try policy(top: "\"unpinnedHosts\": \"reject\","))
        #expect(
            plain.output.hasSuffix("pintle pin 127.0.0.1:\(server.port) backup.key --as policy\n"), "\(plain.output)")
    }

    @Test("pin repeats them in the command that makes a policy")
    func ofPin() throws {
        let run = run("pin", "example.test")
        let line = "pintle pin example.test backup.key --as policy -o policy.json \(options)"
        #expect(run.code == 0 && run.errors.contains("\n                \(line)\n"), "\(run.errors)")
        let key = try directory.write(try CertificateAuthority.root().key.pem, to: "backup.key")
        let made = directory.path(of: "made.json")
        let pinned = follow(
            line.replacing(" backup.key", with: " \(key)").replacing(" policy.json", with: " \(made)"))
        #expect(pinned.code == 0, "\(pinned.errors)")
        #expect(self.run("check", "example.test", "--policy", made).output.hasPrefix("trusted   pin-matched"))
        let plain = ToolRun("pin", "127.0.0.1:\(server.port)")
        #expect(
            plain.errors.contains(
                "pintle pin 127.0.0.1:\(server.port) backup.key --as policy -o policy.json\n"), "\(plain.errors)")
    }

    @Test("lint --live names the policy in the command that explains an invalid path")
    func invalidPath() throws {
        let expired = try authority.issue(hosts: ["example.test"]) {
            $0.notBefore = .fromNow(days: -20)
            $0.notAfter = .fromNow(days: -10)
        }
        let server = try LoopbackTLSServer(expired)
        let file = try policy(
            "{\"host\": \"example.test\", \"pins\": [\"\(Self.pin)\"], \"backupPins\": \"none-accepted\"}")
        let options = ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors]
        let lint = ToolRun(arguments: ["lint", file, "--live"] + options)
        let line = "pintle check example.test:443 --policy \(file) " + options.joined(separator: " ")
        #expect(lint.output.contains("pins are not compared until that is fixed: \(line)\n"), "\(lint.output)")
        let check = follow(line)
        #expect(check.code == 1 && check.output.contains("expired"), "\(check.output)\(check.errors)")
    }

    @Test("A host that is not pinned has the step to pin it first, in words that a shell takes literally")
    func notPinned() throws {
        let run = run("check", "[::1]:8443", "--policy", try policy())
        #expect(run.code == 0 && run.output.hasPrefix("trusted   host-not-pinned"))
        #expect(
            run.output.hasSuffix("next: to pin the host: pintle pin '[::1]:8443' backup.key --as policy \(options)\n"))
        // The command makes a policy that check accepts.
        let key = try directory.write(try CertificateAuthority.root().key.pem, to: "backup.key")
        let made = self.run("pin", "[::1]:8443", key, "--as", "policy", "-o", directory.path(of: "made.json"))
        #expect(made.code == 0 && !made.errors.contains("not valid here"))
        let pinned = self.run("check", "[::1]:8443", "--policy", directory.path(of: "made.json"))
        #expect(pinned.output.hasPrefix("trusted   pin-matched"))
        #expect(pinned.output.contains("\nnext: nothing to do until "))
    }

    @Test("A server that refuses a client without a certificate has the step to show one, and not the one to wait")
    func clientCertificate() throws {
        let asking = try LoopbackTLSServer(identity) { configuration in
            configuration.clientCertificateQuestion = .init(
                isRequired: true, authorities: [authority.certificate], refusesAll: false)
        }
        let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)
        let policy = try policy(
            "{\"host\": \"example.test\", \"pins\": [\"\(pin)\"], \"backupPins\": \"none-accepted\"}")
        let arguments = [
            "check", "example.test", "--policy", policy, "--connect-to", "127.0.0.1:\(asking.port)", "--anchors",
            anchors,
        ]
        let run = ToolRun(arguments: arguments)
        #expect(run.output.contains("\nnext: show it a client certificate: pintle check example.test "))
        #expect(run.output.contains(" --identity client.p12\n") && !run.output.contains("nothing to do"))
        let client = try authority.issueClient()
        let identity = try directory.write(client.certificate.pem + client.key.pem, to: "client.pem")
        let shown = ToolRun(arguments: arguments + ["--identity", identity])
        #expect(shown.output.contains("\nnext: nothing to do until "), "\(shown.output)")
    }

    @Test("check and pin name a file of roots in the environment that does not exist")
    func missingRoots() throws {
        let none = directory.path(of: "none")
        for (file, isTold) in [(none, true), (try directory.write("", to: "empty.pem"), false)] {
            let environment = ["LANG": "C.UTF-8", "SSL_CERT_FILE": file, "SSL_CERT_DIR": none]
            let sentence = "SSL_CERT_FILE names \(none), which does not exist"
            for words in [["check", "example.test", "--policy", try policy()], ["pin", "example.test"]] {
                let bare = ToolRun(
                    arguments: words + ["--connect-to", "127.0.0.1:\(server.port)"], environment: environment)
                #expect((bare.output + bare.errors).contains(sentence) == isTold, "\(bare.output) \(bare.errors)")
                let replaced = ToolRun(
                    arguments: words + ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors],
                    environment: environment)
                #expect(replaced.code == 0 && !(replaced.output + replaced.errors).contains(sentence))
            }
        }
        let empty = ToolRun(
            arguments: ["pin", "example.test", "--connect-to", "127.0.0.1:\(server.port)"],
            environment: ["LANG": "C.UTF-8", "SSL_CERT_FILE": "", "SSL_CERT_DIR": none])
        #expect(empty.errors.contains(": SSL_CERT_FILE is empty, which names no file: unset it\n"), "\(empty.errors)")
    }

    @Test("Intermediates are advised for a path without its root, and not for a self-signed server")
    func selfSigned() throws {
        let alone = try LoopbackTLSServer(try Identity.selfSigned(hosts: ["example.test"]))
        for (port, isAdvised) in [(server.port, true), (alone.port, false)] {
            let run = ToolRun("check", "example.test", "--policy", try policy(), "--connect-to", "127.0.0.1:\(port)")
            #expect(run.code == 1 && run.output.contains("a private root?"))
            #expect(run.output.contains("the server must send its intermediates") == isAdvised)
        }
    }

    @Test("A time may be a day, which begins at midnight in UTC")
    func days() throws {
        let validity = try Certificate(der: identity.certificate.der).validity
        let later = String(RFC3339.string(from: validity.notAfter.addingTimeInterval(86_400)).prefix(10))
        for time in [later, later + "T00:00:00Z"] {
            let late = run("check", "example.test", "--policy", try policy(), "--at", time)
            #expect(late.code == 1 && late.output.contains("expired"), "\(late.output)")
        }
        let key = directory.path(of: "update.key")
        #expect(ToolRun("keygen", "--out", key).code == 0)
        let rule = "{\"host\": \"example.test\", \"pins\": [\"\(Self.pin)\"], \"backupPins\": \"none-accepted\"}"
        let signed = ToolRun(
            "sign", "--key", key, "--version", "7", "--expires", later, try policy(rule), "--json", "-o",
            directory.path(of: "7.json"))
        #expect(signed.code == 0, "\(signed.errors)")
        #expect(try signed.json()["expiresAt"]?.string == later + "T00:00:00Z")
        for time in ["2027-02-30", "2027-2-3", "20270203"] {
            let run = run("check", "example.test", "--policy", try policy(), "--at", time)
            #expect(run.code == 2 && run.errors.contains("--at"), "\(run.errors)")
        }
    }
}
