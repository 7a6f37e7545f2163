import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// The files of `Examples/updates-hosting`, used as their README says.
@Suite(
    "Hosting updates",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct UpdateHostingTests {
    private let files: UpdateFixture
    private let second: String
    private static let example =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Examples/updates-hosting"

    init() throws {
        files = try UpdateFixture()
        second = files.path("second.key")
        try #require(files.run("keygen", "--out", second).code == 0)
        try files.directory.write(files.text(files.key + ".pub"), to: "trusted/one.pub")
        try files.directory.write(files.text(second + ".pub"), to: "trusted/two.pub")
        try files.directory.write(UpdateFixture.policy(), to: "policy-shipped.json")
        try #require(symlink(try #require(SpawnedTool.path), files.path("pintle")) == 0)
    }

    /// Signs an update with both keys. It expires tomorrow by the real clock, because the script runs the tool with
    /// that clock.
    private func sign(_ version: Int, to name: String, pin: String = UpdateFixture.other) throws {
        let policy = try files.directory.write(UpdateFixture.policy(pin: pin), to: "next.json")
        let path = try files.directory.write("", to: "updates/\(name)")
        let tomorrow = RFC3339.string(from: Date().addingTimeInterval(86_400))
        let run = ToolRun(
            "sign", "--key", files.key, "--key", second, "--version", "\(version)", "--expires", tomorrow, policy, "-o",
            path)
        try #require(run.code == 0, "\(run.errors)")
    }

    private func publish() throws -> ProcessResult {
        let search = files.directory.path + ":" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")
        return try runProcess(
            ["sh", Self.example + "/publish.sh", files.path("site")], environment: ["PATH": search],
            workingDirectory: files.directory.path)
    }

    @Test("The script publishes a valid update under its number and as the latest, and refuses a bad one")
    func publishing() throws {
        try sign(1, to: "1.json")
        try sign(9, to: "draft-9.json")
        let first = try publish()
        #expect(first.status == 0, "\(first.errorOutput)")
        #expect(throws: (any Error).self) { try files.directory.read("site/updates/draft-9.json") }
        #expect(try files.directory.read("site/updates/latest.json") == files.directory.read("updates/1.json"))
        try sign(2, to: "2.json", pin: UpdateFixture.pin)
        #expect(try publish().output == "publish: version 2\n")
        let latest = try files.directory.read("site/updates/latest.json")
        #expect(try latest == files.directory.read("updates/2.json"))
        // A published number cannot get other bytes.
        try sign(2, to: "2.json")
        #expect(try publish().status == 1)
        // The number in the file name must be the signed one.
        try files.directory.write(latest, to: "updates/2.json")
        try sign(2, to: "3.json", pin: UpdateFixture.pin)
        #expect(try publish().status == 1)
        // This update has one signature instead of two.
        let one = ToolRun(
            "sign", "--key", files.key, "--version", "3", "--expires", "2100-01-01T00:00:00Z",
            try files.directory.write(UpdateFixture.policy(), to: "next.json"), "-o", files.path("updates/3.json"))
        try #require(one.code == 0)
        let refused = try publish()
        #expect(refused.status == 1 && refused.errorOutput.contains("threshold-not-met"))
        #expect(try files.directory.read("site/updates/latest.json") == latest)
    }

    @Test("The server serves only updates, and clients must revalidate the latest one")
    func server() throws {
        try sign(1, to: "1.json")
        try #require(try publish().status == 0)
        let example = try runProcess(["cat", Self.example + "/nginx.conf"]).output
        let own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }
        let lines = example.split(separator: "\n").flatMap { line in
            if line == "http {" { return ["http {"] + own }
            return [line.contains("listen ") ? "listen unix:\(files.path("socket"));" : String(line)]
        }
        try files.directory.write(lines.joined(separator: "\n"), to: "site/nginx.conf")
        let nginx = try ChildProcess(
            ["nginx", "-p", files.path("site"), "-c", "nginx.conf", "-g", "daemon off; master_process off;"],
            outputFile: files.path("nginx.log"))
        defer { nginx.terminate() }
        func get(_ path: String, _ more: String...) throws -> String {
            try runProcess(
                ["curl", "-sS", "-i", "--unix-socket", files.path("socket"), "http://localhost" + path] + more
            ).output
        }
        for _ in 0..<3_000 where nginx.status == nil {
            if try !get("/").isEmpty { break }
            usleep(10_000)
        }
        let latest = try get("/updates/latest.json")
        #expect(latest.contains(" 200 OK") && latest.contains("Cache-Control: no-cache"))
        #expect(latest.hasSuffix(try files.text(files.path("updates/1.json"))))
        let tag = try #require(latest.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }).dropFirst(6)
        #expect(try get("/updates/latest.json", "-H", "If-None-Match: \(tag)").contains(" 304 "))
        #expect(try get("/updates/1.json").contains("immutable"))
        #expect(try get("/nginx.conf").contains(" 404 "))
        #expect(try get("/updates/2.json").contains(" 404 "))
    }
}
