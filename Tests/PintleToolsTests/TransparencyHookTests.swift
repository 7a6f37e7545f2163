import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// `Examples/ci/ct-hook.sh`, which a monitor of Certificate Transparency runs for each certificate of a host.
@Suite(
    "The hook for certificate transparency",
    .enabled(
        if: SpawnedTool.path != nil && (try? runProcess(["jq", "--version"]).status) == 0,
        "skipped: $PINTLE_TOOL names no program, or jq is missing"))
struct TransparencyHookTests {
    private static let script =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Examples/ci/ct-hook.sh"

    @Test("A certificate with a key that the policy knows prints nothing; another one of the same authority is named")
    func keys() throws {
        let directory = try TemporaryDirectory()
        try #require(symlink(try #require(SpawnedTool.path), directory.path(of: "pintle")) == 0)
        let root = try CertificateAuthority.root()
        let intermediate = try root.intermediate()
        let known = try intermediate.issue(hosts: ["example.test"])
        let pin = try PublicKeyPin(subjectPublicKeyInfo: known.certificate.spkiDER)
        try directory.write(
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.test\", \"pins\": [\"\(pin)\"], \"backupPins\": \"none-accepted\"}]}",
            to: "known-keys.json")
        try directory.write(known.chainPEM, to: "known.pem")
        try directory.write(try intermediate.issue(hosts: ["example.test"]).chainPEM, to: "other.pem")
        let roots = try directory.write(root.certificate.pem, to: "roots.pem")
        let search = directory.path + ":" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")
        func run(_ chain: String) throws -> ProcessResult {
            try runProcess(
                ["sh", Self.script, "example.test", chain],
                environment: ["PATH": search, "SSL_CERT_FILE": roots, "SSL_CERT_DIR": directory.path(of: "none")],
                workingDirectory: directory.path)
        }
        let silent = try run("known.pem")
        #expect(silent.status == 0 && silent.output.isEmpty, "\(silent.output)\(silent.errorOutput)")
        let told = try run("other.pem")
        #expect(told.status == 1)
        #expect(told.output.hasPrefix("a certificate for example.test whose key no rule knows: other.pem "))
        #expect(told.output.contains("\"pin-mismatch\""))
        // The same key below a root that is not trusted is a known key.
        let stranger = try CertificateAuthority.root().issue(hosts: ["example.test"], key: known.certificate.key)
        try directory.write(stranger.chainPEM, to: "stranger.pem")
        let invalid = try run("stranger.pem")
        #expect(invalid.status == 1)
        #expect(
            invalid.output.hasPrefix(
                "a certificate for example.test with a known key and no valid path here: stranger.pem "))
        #expect(invalid.output.contains("\"untrusted-root\""))
    }
}
