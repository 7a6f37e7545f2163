import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// A key is a backup only while no server uses it.
@Suite("Backups of live servers")
struct CheckBackupTests {
    private let directory: TemporaryDirectory
    private let root: PintleTestKit.CertificateAuthority
    private let intermediate: PintleTestKit.CertificateAuthority
    private let identity: Identity
    private let server: LoopbackTLSServer
    private let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Root")
        intermediate = try root.intermediate(name: "Issuer")
        identity = try intermediate.issue(hosts: ["example.test"])
        server = try LoopbackTLSServer(identity)
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    private func pin(_ certificate: MintedCertificate) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER).description
    }

    /// - Parameter backup: the backup pin as JSON, a string or an object.
    private func check(backup: String, more: String = "", _ options: String...) throws -> ToolRun {
        let policy = try directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.test", "pins": ["\(try pin(identity.certificate))"],
             "backupPins": [\(backup)]\(more)}]}
            """, to: "policy.json")
        return ToolRun(
            arguments: [
                "check", "example.test", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors", anchors,
            ] + options)
    }

    private func spare() throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: PrivateKey().spkiDER).description
    }

    @Test("A key of the live chain is not a backup, even if the server does not send it; another key is")
    func inTheLiveChain() throws {
        for (depth, certificate) in [(1, intermediate.certificate), (2, root.certificate)] {
            let backup = try pin(certificate)
            let run = try check(backup: "\"\(backup)\"")
            #expect(run.code == 0)
            #expect(run.output.contains("  backup  \(backup)  in the live chain at depth \(depth): no backup\n"))
            #expect(run.output.contains("\nnext: make a new backup key, keep it where no server uses it"))
            #expect(!run.output.contains("as it should be"))
        }
        let spare = try spare()
        let run = try check(backup: "\"\(spare)\"")
        #expect(run.output.contains("  backup  \(spare)  not in use, as it should be\n"))
        #expect(!run.output.contains("no backup"))
        #expect(run.output.contains("\nnext: nothing to do until "))
    }

    @Test("A key of the live chain is not a backup at another position or as a certificate pin either")
    func otherForms() throws {
        let elsewhere = try check(backup: "{\"spki\": \"\(try pin(intermediate.certificate))\", \"at\": \"leaf\"}")
        #expect(elsewhere.output.contains("in the live chain at depth 1: no backup"))
        let fingerprint = CertificatePin(certificate: root.certificate.der).description
        let certificate = try check(backup: "{\"certificate\": \"\(fingerprint)\"}")
        #expect(certificate.output.contains("in the live chain at depth 2: no backup"))
    }

    @Test("A key that the server sends beside the path is not a backup")
    func sentBesideThePath() throws {
        let other = try CertificateAuthority.root(name: "Other")
        let backup = try pin(other.certificate)
        #expect(try check(backup: "\"\(backup)\"").output.contains("\(backup)  not in use, as it should be\n"))
        try server.replaceCredential(.init(chain: identity.chain + [other.certificate.der], key: identity.key))
        #expect(
            try check(backup: "\"\(backup)\"").output
                .contains("\(backup)  sent by the server, not on the path: no backup\n"))
    }

    @Test("Check reports a backup in use even after the pins have expired")
    func expired() throws {
        let past = ", \"expiry\": {\"after\": \"2020-01-01T00:00:00Z\", \"then\": \"systemTrust\"}"
        let run = try check(backup: "\"\(try pin(root.certificate))\"", more: past)
        #expect(run.output.hasPrefix("trusted   pins-expired "))
        #expect(run.output.contains("in the live chain at depth 2: no backup\n"))
        #expect(try check(backup: "\"\(try spare())\"", more: past).output.contains("not in use, as it should be\n"))
    }

    @Test("JSON lists the backups in use with their positions, and omits the member if there are none")
    func json() throws {
        let backup = try pin(root.certificate)
        let run = try check(backup: "\"\(backup)\", \"\(try spare())\"", "--json")
        #expect(run.code == 0)
        let uses = try #require(try run.json()["backupsInUse"]?.elements.map(Array.init))
        #expect(uses.count == 1)
        #expect(ToolRun.keys(uses.first) == ["pin", "position", "depth"])
        #expect(uses.first?["pin"]?.string == backup)
        #expect(uses.first?["position"]?.string == "root")
        #expect(uses.first?["depth"]?.integer == 2)
        #expect(try check(backup: "\"\(try spare())\"", "--json").json()["backupsInUse"] == nil)
    }
}
