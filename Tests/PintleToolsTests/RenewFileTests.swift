import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

@Suite("Files of proposals")
struct RenewFileTests {
    private let scene: RenewFixture

    init() throws {
        scene = try RenewFixture()
    }

    /// A server that needs no change, and a policy with its pin.
    private func settled(more: String = "", members: String = "\"updateVersion\": 7,") throws -> (
        server: LoopbackTLSServer, policy: String
    ) {
        let identity = try scene.identity()
        return (
            try LoopbackTLSServer(identity),
            try scene.policy([try scene.pin(identity.certificate)], more: more, members: members)
        )
    }

    // MARK: Keys on disk

    @Test("A key that no path may have becomes no backup pin", arguments: [("secp256k1", 2), ("P-256", 0)])
    func weakKey(curve: String, code: Int32) throws {
        let (server, policy) = try settled()
        let key = scene.directory.path(of: "backup.key")
        let made = try runProcess(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", key])
        try #require(made.status == 0)
        let run = scene.renew(policy, server, "--key", key, "-o", scene.next)
        #expect(run.code == code, "\(run.errors)")
        #expect(run.errors.contains("refused (weak-key)") == (code != 0))
    }

    @Test("Requests, public keys and private keys become backup pins, with the day by which to publish them")
    func keys() throws {
        let (server, policy) = try settled()
        let keys = try (0..<3).map { _ in try PrivateKey() }
        let files = [
            try scene.directory.write(keys[0].pem, to: "a.key"),
            try scene.directory.write(keys[1].publicPEM, to: "b.pub"),
            try scene.directory.write(
                try CertificateSigningRequest(hosts: ["example.test"], key: keys[2]).pem, to: "c.csr"),
        ]
        let run = scene.renew(
            policy, server, "--key", files[0], "--key", "example.test=\(files[1])", "-k", files[2], "--json", "-o",
            scene.next)
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scene.changes(run) == keys.map { "add backupPins \(try scene.pin($0))" })
        // The certificate ends in 50 days, and an update is taken to need 14.
        let now = Date()
        let by = try run.json()["changes"]?.elements?.map(\.self).first?["by"]?.string
        let days = try RFC3339.date(from: try #require(by)).timeIntervalSince(now) / 86_400
        #expect(days > 34 && days <= 36, "\(days)")
        let text = try scene.text("next.json")
        let added = try zip(keys, ["a.key", "b.pub", "c.csr"]).map { key, file in
            ",\n        " + scene.noted(try scene.pin(key), "key of \(file)")
        }.joined()
        #expect(
            text
                == (try scene.text("policy.json")).replacing(
                    "\"\(RenewFixture.spare)\"", with: "\"\(RenewFixture.spare)\"" + added
                )
                .replacing("\"updateVersion\": 7", with: "\"updateVersion\": 8"))
        #expect(!(run.output + text).contains("PRIVATE"))
        let words = scene.renew(policy, server, "--key", files[0]).output
        let line = words.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(line.contains("add to backupPins: the key of \(files[0]); publish it by "))
        #expect(words.contains("updateVersion 7 -> 8"))
        #expect(words.contains("  pintle sign --key UPDATE-KEY --version 8 --expires TIME NEXT -o 8.json\n"))
    }

    @Test("A key that is pinned already changes nothing")
    func known() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let key = try PrivateKey()
        let policy = try scene.policy([try scene.pin(identity.certificate)], backups: [try scene.pin(key)])
        let file = try scene.directory.write(key.pem, to: "a.key")
        let run = scene.renew(policy, server, "--key", file, "--json")
        #expect(run.code == 0)
        #expect(try scene.changes(run) == [])
        #expect(try run.json()["notes"]?.count == 1)
    }

    @Test(
        "A certificate is not taken for a key, and an unreadable file is an error", arguments: ["certificate", "text"])
    func wrongKeys(kind: String) throws {
        let (server, policy) = try settled()
        let content = kind == "text" ? "no key" : scene.root.certificate.pem
        let run = scene.renew(
            policy, server, "--key", try scene.directory.write(content, to: "a.pem"), "--json", "-o", scene.next)
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["code"]?.string == (kind == "text" ? "unknown-format" : "not-a-key"))
        #expect(!OutputFile.exists(scene.next))
    }

    @Test("With several rules a key needs the name of its host")
    func severalRules() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let pin = try scene.pin(identity.certificate)
        let path = try scene.directory.write(
            """
            {"version": 1, "hosts": [
              {"host": "example.test", "pins": ["\(pin)"], "backupPins": ["\(RenewFixture.spare)"]},
              {"host": "example.test", "port": 8443, "pins": ["\(pin)"], "backupPins": ["\(RenewFixture.spare)"]}]}
            """, to: "policy.json")
        let key = try PrivateKey()
        let file = try scene.directory.write(key.publicPEM, to: "a.pub")
        #expect(scene.renew(path, server, "--key", file).code == 2)
        let run = scene.renew(path, server, "--key", "example.test:8443=\(file)", "--json", "-o", scene.next)
        #expect(run.code == 0, "\(run.output)")
        let rules = try PinningPolicy(json: scene.directory.read("next.json")).hosts
        #expect(rules.map(\.backupPins.count) == [1, 2])
        // The file has no number, so the person chooses one.
        #expect(try run.json()["updateVersion"] == nil)
        #expect(try run.json()["sign"]?.string?.contains("--version N ") == true)
    }

    // MARK: The rest of the policy

    @Test("Everything but pins and the update's number stays as it is, to the byte")
    func faithful() throws {
        try scene.directory.write(scene.root.certificate.pem, to: "roots/private.pem")
        let more = #"""
            , "expiry" : {"after": "2099-01-01T00:00:00+01:00", "then":"reject"},
                  "anchors": {"include": ["roots/private.pem"], "system": true},
                  "minimumPathLength": 2,   "reportTo": ["https://reports.example.net/\u0070ins"]
            """#
        let (server, policy) = try settled(more: more)
        let key = try PrivateKey()
        let file = try scene.directory.write(key.publicPEM, to: "a.pub")
        let run = scene.renew(policy, server, "--key", file, "-o", scene.next)
        #expect(run.code == 0, "\(run.errors)")
        let added = "\"\(RenewFixture.spare)\",\n        " + scene.noted(try scene.pin(key), "key of a.pub")
        #expect(
            try scene.text("next.json")
                == scene.text("policy.json").replacing("\"\(RenewFixture.spare)\"", with: added)
                .replacing("\"updateVersion\": 7", with: "\"updateVersion\": 8"))
        // Anchors are beside the policy, so a proposal in another folder would lose them.
        try scene.directory.write("", to: "other/empty")
        let other = scene.directory.path(of: "other/next.json")
        let moved = scene.renew(policy, server, "--key", file, "-o", other)
        #expect(moved.code == 2)
        #expect(moved.errors.contains("write the proposal into the folder of the policy"))
        #expect(!OutputFile.exists(other))
    }

    @Test("A backup replaces \"none-accepted\", and a rule of two kinds of pins gets one for the leaf")
    func shapes() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let (leaf, root) = (try scene.pin(identity.certificate), try scene.pin(scene.root.certificate))
        let key = try PrivateKey()
        let file = try scene.directory.write(key.publicPEM, to: "a.pub")
        func next(_ rule: String) throws -> String {
            let path = try scene.directory.write(
                #"{"version": 1, "hosts": [{"host": "example.test", \#(rule)}]}"#, to: "policy.json")
            let run = scene.renew(path, server, "--key", file, "-o", scene.next)
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            return try scene.text("next.json").replacing(try scene.pin(key), with: "KEY")
        }
        let added = scene.noted("KEY", "key of a.pub")
        #expect(
            try next(#""pins": ["\#(leaf)"], "backupPins": "none-accepted""#)
                == #"{"version": 1, "hosts": [{"host": "example.test", "pins": ["\#(leaf)"], "backupPins": [\#(added)]}]}"#
        )
        #expect(
            try next(#""pins": ["\#(leaf)"], "enforcement": "reportOnly""#)
                == #"{"version": 1, "hosts": [{"host": "example.test", "pins": ["\#(leaf)"], "backupPins": [\#(added)], "#
                + #""enforcement": "reportOnly"}]}"#)
        let both = #""pins": [{"spki": "\#(leaf)", "at": "leaf"}, {"spki": "\#(root)", "at": "ca"}]"#
        #expect(
            try next(both + #", "backupPins": "none-accepted", "requires": "leafAndCA""#)
                == #"{"version": 1, "hosts": [{"host": "example.test", \#(both), "backupPins": "#
                + #"[{"spki":"KEY","at":"leaf","note":"key of a.pub"}], "requires": "leafAndCA"}]}"#)
    }

    @Test("A policy with problems is refused with all of them, and no server is asked")
    func problems() throws {
        let server = try LoopbackTLSServer(try scene.identity())
        let path = try scene.directory.write(
            #"{"version": 1, "hosts": [{"host": "example.test", "pins": ["sha256/AA"], "backupPin": []}]}"#,
            to: "policy.json")
        let run = scene.renew(path, server, "--json", "-o", scene.next)
        #expect(run.code == 2)
        let codes = try run.json()["errors"]?.elements?.compactMap { $0["code"]?.string }
        #expect(codes?.contains("wrong-pin-length") == true)
        #expect(codes?.contains("unknown-key") == true)
        #expect(server.connectionCount == 0)
    }

    // MARK: Output files

    @Test("The proposal never replaces the policy or a key, under no name of theirs")
    func guarded() throws {
        try scene.directory.write(scene.root.certificate.pem, to: "roots/own.pem")
        let (server, policy) = try settled(more: #", "anchors": {"include": ["roots/own.pem"]}"#)
        let key = try scene.directory.write(try PrivateKey().pem, to: "a.key")
        let before = try scene.text("policy.json")
        try #require(symlink(policy, scene.directory.path(of: "soft.json")) == 0)
        try #require(link(policy, scene.directory.path(of: "hard.json")) == 0)
        let folder = scene.directory.path(of: "")
        for name in ["policy.json", "./policy.json", "soft.json", "hard.json", "a.key", "root.pem", "roots/own.pem"] {
            let path = folder + (folder.hasSuffix("/") ? "" : "/") + name
            let run = scene.renew(policy, server, "--key", key, "-o", path)
            #expect(run.code == 2, "\(name)")
            #expect(run.errors.contains(" would replace "), "\(run.errors)")
        }
        #expect(try scene.text("policy.json") == before)
        #expect(scene.renew(policy, server, "--key", key, "-o", "-").code == 2)
        #expect(scene.renew(policy, server, "--key", key, "-o", scene.next).code == 0)
        #expect(try scene.text("policy.json") == before)
    }
}
