import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import PintleTestPeers
import Testing

/// Keys, requests and key files whose pin would never match.
@Suite("Keys that are no keys")
struct KeyProblemTests {
    let directory: TemporaryDirectory
    let authority: PintleTestKit.CertificateAuthority
    let certificate: String

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root()
        certificate = try directory.write(try authority.issue(hosts: ["example.test"]).certificate.pem, to: "cert.pem")
    }

    /// Expects that the file is shown with its pin and this warning, and becomes no backup pin; `nil` stands for a file
    /// without a problem.
    private func expect(
        _ warning: String?, of file: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let shown = ToolRun("pin", file, "--json")
        let entry = try shown.json().elements?.first { _ in true }?["certificates"]?.elements?.first { _ in true }
        #expect(shown.code == 0 && shown.output.contains("sha256/"), "\(name)", sourceLocation: sourceLocation)
        #expect(shown.errors.isEmpty == (warning == nil), "\(name): \(shown.errors)", sourceLocation: sourceLocation)
        let problem = entry?["problem"]?.string
        #expect((problem == nil) == (warning == nil), "\(name)", sourceLocation: sourceLocation)
        #expect(problem?.contains(warning ?? "") ?? true, "\(problem ?? "")", sourceLocation: sourceLocation)
        let policy = ToolRun("pin", certificate, file, "--as", "policy")
        #expect(policy.code == (warning == nil ? 0 : 2), "\(name): \(policy.errors)", sourceLocation: sourceLocation)
        #expect(policy.errors.contains(warning ?? ""), "\(policy.errors)", sourceLocation: sourceLocation)
        #expect(policy.output.isEmpty == (warning != nil), "\(name)", sourceLocation: sourceLocation)
    }

    @Test("A value that is no key is shown with a warning and becomes no backup pin, and its twin becomes one")
    func values() throws {
        for key in try FlawedKey.all() {
            let file = try directory.write(PEM.encode(key.spki, label: "PUBLIC KEY"), to: "backup.pub")
            try expect(key.reason, of: file, key.name)
        }
    }

    @Test("A certificate whose key is no key gives no pin in a policy")
    func leaves() throws {
        let backup = try directory.write(try PrivateKey().publicPEM, to: "backup.pub")
        for key in try FlawedKey.all() where key.name.hasPrefix("RSA") {
            let leaf = try authority.issue(hosts: ["example.test"]) { $0.subjectPublicKeyInfo = key.spki }
            let file = try directory.write(leaf.certificate.pem, to: "leaf.pem")
            #expect(ToolRun("pin", file).errors.contains("refused (weak-key)") == (key.reason != nil), "\(key.name)")
            let policy = ToolRun("pin", file, backup, "--as", "policy")
            #expect(policy.code == (key.reason == nil ? 0 : 2), "\(key.name): \(policy.errors)")
        }
    }

    @Test("A request that its own key has not signed becomes no backup pin")
    func requests() throws {
        for type in [KeyType.p256, .rsa2048, .ed25519] {
            let request = try CertificateSigningRequest(hosts: ["example.test"], key: PrivateKey(type))
            try expect(nil, of: directory.write(request.pem, to: "good.csr"), "\(type)")
            // Another key in the place of the one that signed.
            let other = try PrivateKey(type).spkiDER
            let start = try #require(request.der.firstRange(of: request.key.spkiDER)?.lowerBound)
            var bytes = request.der
            bytes.replaceSubrange(start..<start + other.count, with: other)
            let file = try directory.write(PEM.encode(bytes, label: "CERTIFICATE REQUEST"), to: "bad.csr")
            try expect("has not signed it", of: file, "\(type)")
        }
    }

    @Test("A private key that does not belong to the public half in its file becomes no backup pin")
    func halves() throws {
        let (key, other) = (try PrivateKey(.p256), try PrivateKey(.p256))
        let label = "PRIVATE KEY"
        let joined = try KeyFiles.joining(key, publicHalf: other)
        try expect("private half", of: directory.write(PEM.encode(joined, label: label), to: "a.key"), "EC")
        try expect(nil, of: directory.write(key.pem, to: "b.key"), "EC")

        let (edwards, second) = (try PrivateKey(.ed25519), try PrivateKey(.ed25519))
        for (half, warning) in [(edwards, nil), (second, "private half")] as [(PrivateKey, String?)] {
            let file = KeyFiles.oneAsymmetricKey(edwards, publicHalf: half)
            try expect(warning, of: directory.write(PEM.encode(file, label: label), to: "c.key"), "OneAsymmetricKey")
            try expect(warning, of: directory.write(file, to: "c.der"), "OneAsymmetricKey in DER")
        }

        for type in [KeyType.rsa2048, .rsa(bits: 2_048, exponent: 3), .rsaPSS(bits: 2_048)] {
            let rsa = try PrivateKey(type)
            try expect(nil, of: directory.write(rsa.pem, to: "d.key"), "\(type)")
            // One bit of the modulus, which is the first long number in the file.
            let modulus = try #require(rsa.spkiDER.firstRange(of: [0x02, 0x82, 0x01, 0x01, 0x00]))
            let number = Array(rsa.spkiDER[modulus.lowerBound...].prefix(261))
            let start = try #require(rsa.pkcs8DER.firstRange(of: number)?.lowerBound)
            var bytes = rsa.pkcs8DER
            bytes[start + 200] ^= 4
            let file = try directory.write(PEM.encode(bytes, label: label), to: "e.key")
            try expect("private half", of: file, "\(type)")
        }
    }

    @Test("A renewal takes no key that is none as a backup, and no request that is not signed by its own key")
    func renewal() throws {
        let scene = try RenewFixture()
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        let policy = try scene.policy([try scene.pin(identity.certificate)])
        for key in try FlawedKey.all() where key.name.hasPrefix("P-256") {
            let file = try scene.directory.write(PEM.encode(key.spki, label: "PUBLIC KEY"), to: "backup.pub")
            let run = scene.renew(policy, server, "--key", file)
            #expect((run.code == 2) == (key.reason != nil), "\(key.name): \(run.errors)")
            #expect(run.errors.contains("refused (weak-key)") == (key.reason != nil), "\(key.name)")
        }
        let foreign = try KeyFiles.joining(PrivateKey(.p256), publicHalf: PrivateKey(.p256))
        let file = try scene.directory.write(PEM.encode(foreign, label: "PRIVATE KEY"), to: "foreign.key")
        let run = scene.renew(policy, server, "--key", file, "--json")
        #expect(try run.json()["error"]?["code"]?.string == "key-mismatch")
    }

    @Test("A batch refuses a leaf whose key is no key, with the path failure")
    func batch() throws {
        for key in try FlawedKey.all() {
            let leaf = try authority.issue(hosts: ["example.test"]) { $0.subjectPublicKeyInfo = key.spki }
            let list = { (chain: [[UInt8]]) in
                "[" + chain.map { JSONWriter.quoted(PEM.encode($0)) }.joined(separator: ",") + "]"
            }
            let line =
                #"{"id":1,"host":"example.test","chain":\#(list(leaf.chain)),"anchors":"#
                + list([authority.certificate.der]) + "}\n"
            let answer = ToolRun("evaluate", "--batch", input: Array(line.utf8))
            #expect(answer.output.contains("\"weak-key\"") == (key.reason != nil), "\(key.name): \(answer.output)")
            #expect(answer.output.contains("\"trusted\"") == (key.reason == nil), "\(key.name): \(answer.output)")
        }
    }

    @Test("No update is signed with a key whose file has the public half of another key")
    func signing() throws {
        let files = try UpdateFixture()
        let key = try PrivateKey(.ed25519)
        for other in [key, try PrivateKey(.ed25519)] {
            let file = KeyFiles.oneAsymmetricKey(key, publicHalf: other)
            let path = try files.directory.write(PEM.encode(file, label: "PRIVATE KEY"), to: "v2.key")
            let run = files.run(
                "sign", "--key", path, "--version", "9", "--expires", "2027-02-18T00:00:00Z", files.policy, "-o",
                files.path("9.json"))
            #expect((run.code == 0) == (other == key), "\(run.errors)")
            #expect(run.errors.contains("does not belong to the public key") == (other != key), "\(run.errors)")
        }
    }
}
