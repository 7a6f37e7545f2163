import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// The weekly proposal of `Examples/updates-hosting`.
@Suite(
    "A proposal every week",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct RenewHostingTests {
    private let scene: RenewFixture
    private static let example =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Examples/updates-hosting"

    init() throws {
        scene = try RenewFixture()
        try #require(symlink(try #require(SpawnedTool.path), scene.directory.path(of: "pintle")) == 0)
    }

    private func propose(_ server: LoopbackTLSServer) throws -> ProcessResult {
        let folder = scene.directory.path
        let search = folder + ":" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")
        return try runProcess(
            [
                "sh", Self.example + "/propose.sh", "--connect-to", "127.0.0.1:\(server.port)", "--anchors",
                scene.anchors,
            ], environment: ["PATH": search], workingDirectory: folder)
    }

    private func exists(_ name: String) -> Bool { access(scene.directory.path(of: name), F_OK) == 0 }

    @Test("The script replaces the policy by its proposal, and a second run changes nothing")
    func proposal() throws {
        let identity = try scene.identity()
        let server = try LoopbackTLSServer(identity)
        _ = try scene.policy([try scene.pin(identity.certificate)])
        let key = try PrivateKey()
        try scene.directory.write(
            CertificateSigningRequest(hosts: ["example.test"], key: key).pem, to: "keys/example.test/backup.csr")
        let first = try propose(server)
        #expect(first.status == 0, "\(first.errorOutput)")
        let bytes = try scene.directory.read("policy.json")
        let policy = try PinningPolicy(json: bytes)
        #expect(policy.updateVersion == 8)
        #expect(policy.hosts.first?.backupPins.map(\.description) == [RenewFixture.spare, try scene.pin(key)])
        let words = try scene.text("proposal.txt")
        #expect(words.contains("keys/example.test/backup.csr"))
        #expect(words.contains("pintle sign --key UPDATE-KEY --version 8 "))
        #expect(words.contains(" policy.json -o 8.json"))
        #expect(!exists("next.json"))

        try #require(unlink(scene.directory.path(of: "proposal.txt")) == 0)
        let second = try propose(server)
        #expect(second.status == 0)
        #expect(second.output.contains("nothing to change now"))
        #expect(try scene.directory.read("policy.json") == bytes)
        #expect(!exists("proposal.txt"))
    }

    @Test("A server with an unknown key ends the script, and no file changes")
    func unknownKey() throws {
        let server = try LoopbackTLSServer(try scene.identity())
        _ = try scene.policy([RenewFixture.strange])
        let before = try scene.text("policy.json")
        try scene.directory.write(
            CertificateSigningRequest(hosts: ["example.test"], key: try PrivateKey()).pem,
            to: "keys/example.test/backup.csr")
        let run = try propose(server)
        #expect(run.status == 1)
        #expect(run.output.contains("live-mismatch"))
        #expect(try scene.text("policy.json") == before)
        #expect(!exists("next.json") && !exists("proposal.txt"))
    }

    @Test("The workflow runs every week, and has no key but the repository's own token")
    func workflow() throws {
        let text = String(decoding: try Data(contentsOf: URL(filePath: Self.example + "/renew.yml")), as: UTF8.self)
        #expect(text.contains("- cron: \"17 5 * * 1\""))
        #expect(text.contains("run: ./propose.sh\n"))
        #expect(!text.contains("secrets.") && !text.contains("pintle sign") && !text.contains("keygen"))
    }

    @Test("A policy on standard input is not overwritten, whatever its name")
    func standardInput() throws {
        _ = try scene.policy([RenewFixture.strange])
        let before = try scene.text("policy.json")
        let run = try runProcess(
            ["sh", "-c", "./pintle renew - -o policy.json <policy.json"], workingDirectory: scene.directory.path)
        #expect(run.status == 2)
        #expect(run.errorOutput.contains("would replace standard input"))
        #expect(try scene.text("policy.json") == before)
    }
}
