import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import PintleUpdates
import Testing

/// Updates that other programs make and check.
@Suite("Updates are DSSE envelopes that other programs make and check")
struct UpdateInteropTests {
    let files: UpdateFixture

    init() throws {
        files = try UpdateFixture()
    }

    private func verify(_ update: String, trusting keys: [String], threshold: Int = 1) throws -> ToolRun {
        ToolRun(
            arguments: ["verify", update, "--bundled", files.policy, "--threshold", "\(threshold)", "--json"]
                + keys.flatMap { ["--trusted", $0] }, now: files.now)
    }

    // MARK: openssl

    /// Returns the recipe from the specification.
    private static func recipe() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let specification = root + "/Specification/update.md"
        let block = try runProcess(["sed", "-n", "/^```sh$/,/^```$/{/^```/d;p}", specification]).output
        try #require(block.contains("pkeyutl -sign"), "the specification has no recipe")
        return block
    }

    @Test("Verify accepts an update that was made with only openssl and a shell")
    func openssl() throws {
        try files.directory.write(
            """
            {"version": 7, "issuedAt": "2026-11-20T00:00:00Z", "expiresAt": "2027-02-18T00:00:00Z",
             "policy": \(UpdateFixture.policy(pin: UpdateFixture.other))}
            """, to: "payload.json")
        let made = try runProcess(["sh", "-c", Self.recipe()], workingDirectory: files.directory.path)
        try #require(made.status == 0, "\(made.errorOutput)")
        let run = try verify(files.path("by-hand.json"), trusting: [files.path("by-hand.key.pub")])
        #expect(run.code == 0, "\(run.output)")
        #expect(try run.json()["version"]?.integer == 7)
        // The tool adds its signature to the envelope that openssl made.
        let appended = files.run(
            "sign", "--key", files.key, "--append", files.path("by-hand.json"), "-o", files.path("both.json"))
        #expect(appended.code == 0)
        let keys = [files.path("by-hand.key.pub"), files.key + ".pub"]
        #expect(try verify(files.path("both.json"), trusting: keys, threshold: 2).code == 0)
        #expect(try verify(files.path("by-hand.json"), trusting: [files.key + ".pub"]).code == 1)
    }

    @Test("openssl checks Pintle's signature over DSSE's encoding of the payload")
    func checkedByOpenSSL() throws {
        let update = try JSONDocument(Array(files.text(try files.sign(7)).utf8)).root
        let payload = try Base64.decode(try #require(update["payload"]?.string))
        let signature = try Base64.decode(
            try #require(update["signatures"]?.elements?.first { _ in true }?["sig"]?.string))
        let type = "application/vnd.pintle.policy+json"
        let signed = Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
        let signatureFile = try files.directory.write(signature, to: "signature.bin")
        func check(_ bytes: [UInt8]) throws -> Int32 {
            let file = try files.directory.write(bytes, to: "signed.bin")
            return try runProcess([
                "openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", files.key + ".pub", "-in", file,
                "-sigfile", signatureFile,
            ]).status
        }
        #expect(try check(signed) == 0)
        #expect(try check(signed + [0x20]) != 0)
    }

    // MARK: securesystemslib

    static let python: String? = {
        let folder = getenv("PINTLE_VENV").map { String(cString: $0) } ?? ".build/venv"
        let path = folder + "/bin/python"
        let probe = try? runProcess([path, "-c", "import securesystemslib.dsse"])
        return probe?.status == 0 ? path : nil
    }()

    static let script = """
        import json, sys
        from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import CryptoSigner, SSlibKey
        what, *arguments = sys.argv[1:]
        if what == "make":
            payload, update, *keys = arguments
            envelope = Envelope(open(payload, "rb").read(), "application/vnd.pintle.policy+json", {})
            for key in keys:
                envelope.sign(CryptoSigner(load_pem_private_key(open(key, "rb").read(), None)))
            json.dump(envelope.to_dict(), open(update, "w"))
        else:
            update, threshold, *pairs = arguments
            envelope = Envelope.from_dict(json.load(open(update)))
            keys = [SSlibKey.from_crypto(load_pem_public_key(open(path, "rb").read()), keyid=keyid)
                    for keyid, path in zip(pairs[::2], pairs[1::2])]
            accepted = envelope.verify(keys, int(threshold))
            print(json.loads(envelope.payload)["version"], *sorted(accepted))
        """

    @Test(
        "securesystemslib makes envelopes that Pintle accepts, and accepts Pintle's",
        .enabled(if: python != nil, "skipped: securesystemslib is not in the virtual environment"))
    func securesystemslib() throws {
        let python = try #require(Self.python)
        let second = files.path("second.key")
        files.run("keygen", "--out", second)
        let payload = try files.directory.write(
            """
            {"version": 9, "issuedAt": "2026-11-20T00:00:00Z", "expiresAt": "2027-02-18T00:00:00Z",
             "policy": \(UpdateFixture.policy())}
            """, to: "payload.json")
        let theirs = files.path("theirs.json")
        let made = try runProcess([python, "-c", Self.script, "make", payload, theirs, files.key, second])
        try #require(made.status == 0, "\(made.errorOutput)")
        let keys = [files.key + ".pub", second + ".pub"]
        let run = try verify(theirs, trusting: keys, threshold: 2)
        #expect(run.code == 0, "\(run.output)")
        #expect(try run.json()["version"]?.integer == 9)

        let ours = try files.sign(8, to: "ours.json")
        files.run("sign", "--key", second, "--append", ours, "-o", ours)
        let pairs = try keys.flatMap { [try UpdateKey(pem: files.text($0)).id, $0] }
        let checked = try runProcess([python, "-c", Self.script, "check", ours, "2"] + pairs)
        #expect(checked.status == 0, "\(checked.errorOutput)")
        #expect(checked.output.hasPrefix("8 "))
        // The counterpart is rejected: one of the two signatures is by another key.
        let stranger = files.path("stranger.key")
        files.run("keygen", "--out", stranger)
        let foreign = [pairs[0], pairs[1], pairs[2], stranger + ".pub"]
        #expect(try runProcess([python, "-c", Self.script, "check", ours, "2"] + foreign).status != 0)
    }
}
