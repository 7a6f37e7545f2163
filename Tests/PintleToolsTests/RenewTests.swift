import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleText
@testable import PintleTools

@Suite("Proposing the next policy")
struct RenewTests {
    private let scene: RenewFixture

    init() throws {
        scene = try RenewFixture()
    }

    @Test("A server that shows a pinned key needs no change, and no file is written")
    func unchanged() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let policy = try scene.policy([try scene.pin(identity.certificate)])
        let run = scene.renew(policy, server, "-o", scene.next)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output == "ok   \(policy)   1 rule, 1 server: nothing to change now\n")
        #expect(!OutputFile.exists(scene.next))
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
        let json = try scene.renew(policy, server, "--json").json()
        #expect(json["result"]?.string == "unchanged")
        #expect(json["servers"]?.integer == 1 && json["judged"]?.integer == 1)
    }

    @Test("The first line does not say that nothing has to change if a server was not judged")
    func unknown() throws {
        let server = try LoopbackTLSServer(try scene.identity())
        let policy = try scene.policy([RenewFixture.strange])
        let run = scene.renew(policy, server)
        #expect(run.code == 1)
        #expect(
            run.lines.first
                == "no proposal   \(policy)   1 rule, 1 server: nothing proposed, because of 1 finding")
        let json = try scene.renew(policy, server, "--json").json()
        #expect(json["servers"]?.integer == 1 && json["judged"]?.integer == 0)
        let closed = ToolRun("renew", policy, "--connect-to", "127.0.0.1:1", "--anchors", scene.anchors)
        #expect(closed.code == 3)
        #expect(
            closed.lines.first
                == "no proposal   \(policy)   1 rule, 1 server: not known, because 1 server not reached",
            "\(closed.output)")
    }

    @Test("A name before a key's file that is no rule's is named, with the rules that there are")
    func unknownRule() throws {
        let server = try LoopbackTLSServer(try scene.identity())
        let policy = try scene.policy([RenewFixture.strange])
        let file = try scene.directory.write(try PrivateKey().publicPEM, to: "b.pub")
        let run = scene.renew(policy, server, "--key", "other.com=\(file)")
        #expect(run.code == 2)
        #expect(
            run.errors.contains(
                "--key other.com=\(file): no rule is called other.com; the policy has 1 rule (example.test)\n"),
            "\(run.errors)")
        #expect(scene.renew(policy, server, "--key", "example.test=\(file)").code == 1)
        #expect(scene.renew(policy, server, "--key", "Example.TEST=\(file)").code == 1)
        let empty = scene.renew(policy, server, "--key", "=\(file)")
        #expect(empty.code == 2)
        #expect(empty.errors.contains("--key =\(file): there is no host before the =; the policy has 1 rule"))
        // A file may have the sign in its name.
        let odd = try scene.directory.write(try PrivateKey().publicPEM, to: "a=b.pub")
        #expect(scene.renew(policy, server, "--key", odd).code == 1)
    }

    @Test("The command of a finding asks the same server with the same roots")
    func findingCommand() throws {
        let server = try LoopbackTLSServer(try scene.identity())
        let policy = try scene.policy([RenewFixture.strange])
        let run = scene.renew(policy, server, "--json")
        let help = try #require(
            try run.json()["findings"]?.elements?.first { _ in true }?["help"]?.string)
        let command =
            "pintle check example.test:443 --policy \(policy) --connect-to 127.0.0.1:\(server.port) --anchors "
            + scene.anchors
        #expect(help == "find out why first: \(command)")
        let check = ToolRun(arguments: command.split(separator: " ").dropFirst().map(String.init))
        #expect(check.code == 1 && check.output.contains("pin-mismatch"), "\(check.output) \(check.errors)")
        // In text it is a line of its own, which is not broken at a blank either.
        let spaced = try scene.directory.write(scene.text("policy.json"), to: "my policy.json")
        let text = scene.renew(spaced, server)
        let quoted = command.replacing(policy, with: "'\(spaced)'")
        #expect(text.output.contains("\n          find out why first:\n          \(quoted)\n"), "\(text.output)")
    }

    // MARK: Keys of servers

    @Test("A new key that is shown under another pin of the rule is pinned, and the old pin goes once it is not needed")
    func newKey() throws {
        let identity = try scene.identity(from: -40, to: 50)
        let server = try LoopbackTLSServer(identity)
        let (leaf, root) = (try scene.pin(identity.certificate), try scene.pin(scene.root.certificate))
        let policy = try scene.policy([RenewFixture.strange], backups: [root])
        // A certificate of 90 days that began 40 days ago: the one before it ended at most 30 days after that.
        let asked = scene.renew(policy, server, "--json")
        #expect(try scene.changes(asked) == ["add pins \(leaf)", "removeLater pins \(RenewFixture.strange)"])
        let run = scene.renew(policy, server, "--remove", RenewFixture.strange, "--json", "-o", scene.next)
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        #expect(try scene.changes(run) == ["add pins \(leaf)", "remove pins \(RenewFixture.strange)"])
        #expect(
            try scene.text("next.json")
                == scene.text("policy.json").replacing(
                    "\"\(RenewFixture.strange)\"",
                    with: scene.noted(leaf, "served by example.test:443 on \(ValidityText.day(Date()))")
                )
                .replacing("\"updateVersion\": 7", with: "\"updateVersion\": 8"))
        #expect(try run.json()["updateVersion"]?.integer == 8)
        #expect(
            try run.json()["sign"]?.string
                == "pintle sign --key UPDATE-KEY --version 8 --expires TIME \(scene.next) -o 8.json")

        // The proposal is complete: with it, nothing has to change.
        let again = scene.renew(scene.next, server, "--json")
        #expect(again.code == 0)
        #expect(try scene.changes(again) == [])
    }

    @Test("Under an authority that is pinned by its fingerprint, a pin that matches nothing gets its day too")
    func authorityByFingerprint() throws {
        let identity = try scene.identity(from: -2, to: 88)
        let server = try LoopbackTLSServer(identity)
        let root = CertificatePin(certificate: scene.root.certificate.der)
        let policy = try scene.policy(["{\"certificate\": \"\(root)\"}", RenewFixture.strange])
        let run = scene.renew(policy, server, "--json")
        #expect(
            try scene.changes(run) == [
                "add pins \(try scene.pin(identity.certificate))", "removeLater pins \(RenewFixture.strange)",
            ], "\(run.output) \(run.errors)")
    }

    @Test("A pin of a certificate that may still be shown stays, with the day from which on it can go")
    func laterRemoval() throws {
        let identity = try scene.identity(from: -2, to: 88)
        let start = try Pintle.Certificate(der: identity.certificate.der).validity.notBefore
        let server = try LoopbackTLSServer(identity)
        let (leaf, root) = (try scene.pin(identity.certificate), try scene.pin(scene.root.certificate))
        let policy = try scene.policy([RenewFixture.strange], backups: [root])
        let run = scene.renew(policy, server, "--json", "-o", scene.next)
        #expect(try scene.changes(run) == ["add pins \(leaf)", "removeLater pins \(RenewFixture.strange)"])
        // A third of 90 days, and the day after.
        let day = start.addingDays(30).startOfDay.addingDays(1)
        let change = try run.json()["changes"]?.elements?.map(\.self).last
        #expect(change?["from"]?.string == RFC3339.string(from: day))
        #expect(try scene.text("next.json").contains(RenewFixture.strange))
        #expect(
            scene.renew(policy, server).output.split { $0 == " " || $0 == "\n" }.joined(separator: " ").contains(
                "keep in pins, and remove from \(ValidityText.day(day)) on: it matches nothing at example.test:443"))
        // On that day it goes, and a second before it does not.
        #expect(
            try scene.changes(scene.renew(policy, server, now: day, "--remove", RenewFixture.strange, "--json")).last
                == "remove pins \(RenewFixture.strange)")
        #expect(
            try scene.changes(scene.renew(policy, server, now: day - 1, "--remove", RenewFixture.strange, "--json"))
                .last
                == "removeLater pins \(RenewFixture.strange)")
    }

    @Test("A rule that pins only authorities gets no pin of the server's key")
    func authorityOnly() throws {
        let server = try LoopbackTLSServer(try scene.identity())
        let policy = try scene.policy([try scene.pin(scene.root.certificate)])
        #expect(try scene.changes(scene.renew(policy, server, "--json")) == [])
    }

    @Test("If a server moves to the backup authority, the lists change places, and no key of the server is pinned")
    func otherAuthority() throws {
        let other = try CertificateAuthority.root(name: "Other Root")
        let server = try LoopbackTLSServer(try other.issue(hosts: ["example.test"]))
        let anchors = try scene.directory.write(scene.root.certificate.pem + other.certificate.pem, to: "both.pem")
        let (old, new) = (try scene.pin(scene.root.certificate), try scene.pin(other.certificate))
        let policy = try scene.policy([old], backups: [new])
        let run = scene.renew(policy, server, anchors: anchors, "--json", "-o", scene.next)
        #expect(run.code == 0)
        #expect(try scene.changes(run) == ["move pins \(new)", "move backupPins \(old)"])
        #expect(
            try scene.text("next.json")
                == scene.text("policy.json").replacing(old, with: "OLD").replacing(new, with: old)
                .replacing("OLD", with: new).replacing("\"updateVersion\": 7", with: "\"updateVersion\": 8"))
        // The exchange is complete.
        #expect(try scene.changes(scene.renew(scene.next, server, anchors: anchors, "--json")) == [])
        // A pin of an authority beside the one in use is never removed.
        let both = scene.renew(try scene.policy([old, new]), server, anchors: anchors, "--json")
        #expect(both.code == 0)
        #expect(try scene.changes(both) == [])
        #expect(try both.json()["notes"]?.count == 1)
    }

    @Test("A server that has moved to a backup key makes it a pin, if another backup is left")
    func onBackup() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let leaf = try scene.pin(identity.certificate)
        var run = scene.renew(
            try scene.policy([RenewFixture.strange], backups: [leaf, RenewFixture.spare]), server, "--remove",
            RenewFixture.strange, "--json", "-o", scene.next)
        #expect(run.code == 0)
        #expect(try scene.changes(run) == ["move pins \(leaf)", "remove pins \(RenewFixture.strange)"])
        let next = try PinningPolicy(json: scene.directory.read("next.json"))
        #expect(next.hosts.first?.pins.map(\.description) == [leaf])
        #expect(next.hosts.first?.backupPins.map(\.description) == [RenewFixture.spare])

        // Without another backup the person has to make one. Its request is enough.
        let spent = try scene.policy([RenewFixture.strange], backups: [leaf])
        run = scene.renew(spent, server, "--json")
        #expect(run.code == 1)
        #expect(try scene.findings(run) == ["no-backup-left example.test"])
        #expect(try scene.changes(run) == [])
        let key = try PrivateKey()
        let file = try scene.directory.write(key.publicPEM, to: "new.pub")
        run = scene.renew(spent, server, "--key", file, "--remove", RenewFixture.strange, "--json")
        #expect(run.code == 0)
        #expect(
            try scene.changes(run)
                == ["add backupPins \(scene.pin(key))", "move pins \(leaf)", "remove pins \(RenewFixture.strange)"])
    }

    @Test("The last pin that matches is never removed, and a pin whose key is on disk stays")
    func lastPin() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let (leaf, key) = (try scene.pin(identity.certificate), try PrivateKey())
        let old = try scene.pin(key)
        let policy = try scene.policy([leaf, old])
        #expect(try scene.changes(scene.renew(policy, server, "--json")) == ["removeLater pins \(old)"])
        #expect(try scene.changes(scene.renew(policy, server, "--remove", old, "--json")) == ["remove pins \(old)"])
        // A pin that matches stays.
        #expect(
            try scene.changes(scene.renew(policy, server, "--remove", leaf, "--json")) == ["removeLater pins \(old)"])
        // A pin that is still needed is kept, and the user learns that.
        let needed = scene.renew(policy, server, "--remove", leaf, "--json")
        #expect(try needed.code == 1 && scene.findings(needed).map { $0.prefix(8) } == ["pin-kept"])
        #expect(scene.renew(policy, server, "--remove", RenewFixture.spare).code == 2)
        let file = try scene.directory.write(key.pem, to: "old.key")
        let kept = scene.renew(policy, server, "--key", file, "--json")
        #expect(try scene.changes(kept) == [])
        #expect(kept.code == 0)
        // Other servers may have the key of a rule for subdomains.
        let wide = try scene.policy([leaf, old], more: ", \"includeSubdomains\": true")
        let run = scene.renew(wide, server, "--json")
        #expect(try scene.changes(run) == [])
        #expect(try run.json()["notes"]?.count == 1)
    }

    @Test("A rule that pins a pool of intermediates gets no key of a leaf, and keeps the others of the pool")
    func intermediates() throws {
        let pool = try (1...2).map { try scene.root.intermediate(name: "Issuing \($0)") }
        let identity = try pool[0].issue(hosts: ["example.test"]) {
            $0.notBefore = .fromNow(days: -40)
            $0.notAfter = .fromNow(days: 50)
        }
        let server = try LoopbackTLSServer(identity)
        let pins = try pool.map { try scene.pin($0.certificate) }
        let run = scene.renew(try scene.policy(pins), server, "--remove", pins[1], "--json")
        #expect(run.code == 1, "\(run.errors)")
        #expect(try scene.changes(run) == [])
        #expect(run.output.contains("may be another intermediate"))
    }

    @Test("A move to a backup key under a pinned authority is followed, also where leaf and authority must match")
    func underAuthority() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let (leaf, root) = (try scene.pin(identity.certificate), try scene.pin(scene.root.certificate))
        let moved = scene.renew(
            try scene.policy([RenewFixture.strange, root], backups: [leaf, RenewFixture.spare]), server, "--json")
        #expect(try scene.changes(moved).first == "move pins \(leaf)")
        let last = scene.renew(try scene.policy([RenewFixture.strange, root], backups: [leaf]), server, "--json")
        #expect(last.code == 1)
        #expect(try scene.findings(last) == ["no-backup-left example.test"])
        func at(_ pin: String, _ position: String) -> String { "{\"spki\": \"\(pin)\", \"at\": \"\(position)\"}" }
        let both = scene.renew(
            try scene.policy(
                [at(RenewFixture.strange, "leaf"), at(root, "ca")],
                backups: [at(leaf, "leaf"), at(RenewFixture.spare, "leaf")], more: ", \"requires\": \"leafAndCA\""),
            server, "--json")
        #expect(both.code == 0, "\(both.errors)")
        #expect(try scene.changes(both).first == "move pins \(leaf)")
    }

    @Test("A key on disk replaces the fingerprint of its certificate; the key of the authority is no backup")
    func keysInUse() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let leaf = try scene.pin(identity.certificate)
        let fingerprint = CertificatePin(certificate: identity.certificate.der)
        let policy = try scene.policy(["{\"certificate\": \"\(fingerprint)\"}"])
        let key = try scene.directory.write(identity.key.publicPEM, to: "leaf.pub")
        #expect(try scene.changes(scene.renew(policy, server, "--key", key, "--json")) == ["add pins \(leaf)"])
        let root = try scene.directory.write(scene.root.key.publicPEM, to: "root.pub")
        let run = scene.renew(try scene.policy([leaf]), server, "--key", root, "--json")
        #expect(try scene.changes(run) == [])
        #expect(run.output.contains("it is not a backup"))
    }

    // MARK: Attacks

    @Test(
        "The key of an interceptor is in no output, whatever made the policy look away",
        arguments: ["", ", \"enforcement\": \"reportOnly\""])
    func interceptor(more: String) throws {
        let genuine = try scene.identity()
        let attacker = try CertificateAuthority.root(name: "Interceptor")
        let forged = try attacker.issue(hosts: ["example.test"])
        let server = try LoopbackTLSServer(forged)
        // The machine trusts the interceptor's root, as in a company that inspects traffic.
        let anchors = try scene.directory.write(
            scene.root.certificate.pem + attacker.certificate.pem, to: "both.pem")
        let root = try scene.pin(scene.root.certificate)
        let policy = try scene.policy([RenewFixture.strange], backups: [root], more: more)
        let backup = try PrivateKey()
        let file = try scene.directory.write(backup.pem, to: "backup.key")
        let reason = more.isEmpty ? "pin-mismatch" : "mismatch-reported-only"
        for options in [["--json"], []] {
            let run = ToolRun(
                arguments: [
                    "renew", policy, "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors, "--key", file,
                    "-o", scene.next,
                ] + options)
            #expect(run.code == 1)
            let everything = run.output + run.errors + (try scene.text("next.json"))
            for certificate in [forged.certificate, attacker.certificate] {
                let pin = try scene.pin(certificate)
                #expect(!everything.contains(pin.dropFirst("sha256/".count)))
                #expect(!everything.contains(CertificatePin(certificate: certificate.der).description))
            }
            #expect(!everything.contains("Interceptor"))
            if !options.isEmpty {
                #expect(try scene.findings(run) == ["live-mismatch example.test \(reason)"])
                // The key on disk needs no server.
                #expect(try scene.changes(run) == ["add backupPins \(scene.pin(backup))"])
            }
        }

        // The genuine server gets the pin of its key.
        let right = try LoopbackTLSServer(genuine)
        let run = scene.renew(policy, right, anchors: anchors, "--json")
        #expect(run.code == 0)
        #expect(try scene.changes(run).first == "add pins \(scene.pin(genuine.certificate))")
    }

    @Test("A pinned certificate that an interceptor appends to its own chain does not vouch for the interceptor's key")
    func appended() throws {
        let attacker = try CertificateAuthority.root(name: "Interceptor")
        var forged = try attacker.issue(hosts: ["example.test"])
        forged.issuers.append(scene.root.certificate)
        let server = try LoopbackTLSServer(forged)
        let anchors = try scene.directory.write(
            scene.root.certificate.pem + attacker.certificate.pem, to: "both.pem")
        let policy = try scene.policy([RenewFixture.strange], backups: [try scene.pin(scene.root.certificate)])
        let run = scene.renew(policy, server, anchors: anchors, "--json")
        #expect(run.code == 1)
        #expect(try scene.findings(run) == ["live-mismatch example.test pin-mismatch"])
        #expect(try !run.output.contains(scene.pin(forged.certificate)))
    }

    @Test("A server with an invalid path, with expired pins or without an answer is a finding")
    func findings() throws {
        let root = try scene.pin(scene.root.certificate)
        let ended = try LoopbackTLSServer(try scene.identity(from: -90, to: -1))
        let policy = try scene.policy([RenewFixture.strange], backups: [root])
        var run = scene.renew(policy, ended, "--json")
        #expect(run.code == 1)
        #expect(try scene.findings(run) == ["live-invalid-path example.test invalid-path"])

        let server = try LoopbackTLSServer(try scene.identity())
        for (then, reason) in [("systemTrust", "pins-expired"), ("reject", "pins-expired")] {
            let expired = try scene.policy(
                [RenewFixture.strange], backups: [root],
                more: #", "expiry": {"after": "2020-01-01T00:00:00Z", "then": "\#(then)"}"#)
            run = scene.renew(expired, server, "--json")
            #expect(run.code == 1)
            #expect(try scene.findings(run) == ["pins-expired example.test \(reason)"])
            #expect(try scene.changes(run) == [])
        }

        server.close()
        run = scene.renew(policy, server, "--json")
        #expect(run.code == 3)
        #expect(try scene.findings(run) == ["live-unreachable example.test"])
    }
}
