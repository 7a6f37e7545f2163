import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// Peers that take long to install or to run. `make peers` installs them and runs these tests.
@Suite(
    "Consumers of exports that take long to install",
    .enabled(if: getenv("PINTLE_PEERS") != nil, "skipped: make peers installs the peers and runs this"))
struct SlowPeerTests {
    private static let jars = ["/usr/share/java/okhttp.jar", "/usr/share/java/okio.jar"]
    private static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    @Test("OkHttp obeys the exported Java: right key, wrong key, a host without pins, a pooled parent")
    func okHttp() throws {
        let directory = try TemporaryDirectory()
        let root = try CertificateAuthority.root(name: "Root")
        let identity = try root.issue(hosts: ["example.test", "api.example.test", "other.test"])
        let anchors = try directory.write(root.certificate.pem, to: "root.pem")
        let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER).description
        func rule(_ host: String, _ pin: String) -> String {
            "{\"host\": \"\(host)\", \"pins\": [\"\(pin)\"], \"backupPins\": \"none-accepted\"}"
        }

        let server = try LoopbackTLSServer(identity)
        let rules = [rule("example.test", pin), rule("api.example.test", Self.spare)].joined(separator: ",")
        let policy = try directory.write("{\"version\": 1, \"hosts\": [\(rules)]}", to: "policy.json")
        let run = ToolRun(arguments: ["export", policy, "--to", "okhttp", "--language", "java"])
        #expect(run.code == 0)
        let client = #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Consumers/Client.java"
        try directory.write(run.output, to: "CertificatePins.java")
        let classes = directory.path(of: ".")
        let compiled = try runProcess(
            [
                "javac", "-nowarn", "-cp", Self.jars.joined(separator: ":"), "-d", classes, "/\(client)",
                directory.path(of: "CertificatePins.java"),
            ], timeout: 300)
        #expect(compiled.status == 0, "\(compiled.output)\(compiled.errorOutput)")
        let urls = ["example.test", "api.example.test", "other.test"].map { "https://\($0):\(server.port)/" }
        let answers = try runProcess(
            ["java", "-cp", (Self.jars + [classes]).joined(separator: ":"), "Client", anchors] + urls, timeout: 300)
        #expect(
            answers.output.split(separator: "\n") == ["200", "refused: Certificate pinning failure!", "200"],
            "\(answers.errorOutput)")
    }
}
