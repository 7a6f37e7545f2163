import PintleTestKit
import Testing

@testable import PintleConsole

@Suite("Packaging")
struct PackagingTests {
    @Test(
        "The image from the sources takes the same steps as the image from the package, which make package-test tests")
    func sameSteps() throws {
        let package = try Self.steps(of: "Containerfile")
        let source = try Self.steps(of: "Containerfile.source")
        #expect(package.count > 5)
        #expect(package.map { $0.hasPrefix("COPY ") } == source.map { $0.hasPrefix("COPY ") })
        #expect(package.filter { !$0.hasPrefix("COPY ") } == source.filter { !$0.hasPrefix("COPY ") })
    }

    @Test("The description of the package has lines of at most 80 columns, and a summary that is not a sentence")
    func description() throws {
        let lines = try Self.lines(of: "control.in")
        let summary = try #require(lines.first { $0.hasPrefix("Description: ") })
        #expect(!summary.hasSuffix(".") && summary.count <= 80)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test(
        "A version says if its commit is before, at or after the release, and if there are changes or no history",
        .enabled(if: InputFile.exists("/usr/bin/git"), "skipped: git is not installed"))
    func versions() throws {
        let directory = try TemporaryDirectory()
        let script = try Self.text(of: "version.sh")
        try OutputFolder.create(directory.path(of: "Packaging"))
        try OutputFile.replace(directory.path(of: "Packaging/version.sh"), Array(script.utf8))
        try directory.write("", to: "CHANGELOG.md")
        func version() throws -> ProcessResult {
            try runProcess(
                ["bash", directory.path(of: "Packaging/version.sh"), "0.2.0"],
                environment: ["SOURCE_DATE_EPOCH": "1795425130"])
        }
        func git(_ words: String...) throws {
            let identity = ["-c", "user.name=A", "-c", "user.email=a@a.test"]
            let run = try runProcess(["git", "-C", directory.path] + identity + words)
            try #require(run.status == 0, "\(run.errorOutput)")
        }
        #expect(try version().output == "0.2.0~archive-1 1795425130\n")
        try git("init", "-q")
        try git("add", "-A")
        try git("commit", "-qm", "A")
        #expect(try version().output.contains(/^0\.2\.0~git20261123091210\.[0-9a-f]{7}-1 1795425130\n/))
        try git("tag", "v0.2.0")
        #expect(try version().output == "0.2.0-1 1795425130\n")
        try directory.write("", to: "new")
        #expect(try version().output == "0.2.0+local-1 1795425130\n")
        try git("add", "-A")
        try git("commit", "-qm", "B")
        #expect(try version().output.hasPrefix("0.2.0+git20261123091210."))
        // A repository that git refuses to read is an error, and no release.
        #expect(try runProcess(["rm", "-rf", directory.path(of: ".git")]).status == 0)
        try directory.write("gitdir: /nonexistent\n", to: ".git")
        let broken = try version()
        #expect(broken.status != 0 && broken.output.isEmpty && broken.errorOutput.contains("not a git repository"))
    }

    /// Returns the lines of the last stage.
    private static func steps(of file: String) throws -> [String] {
        let lines = try lines(of: file)
        let start = try #require(lines.lastIndex { $0.hasPrefix("FROM ") })
        return Array(lines[start...])
    }

    private static func lines(of file: String) throws -> [String] {
        try text(of: file).split(separator: "\n").map(String.init)
    }

    private static func text(of file: String) throws -> String {
        let bytes = try InputFile("\(Recipes.root)/Packaging/\(file)", standardInput: ByteSource([])).bytes
        return String(decoding: bytes, as: UTF8.self)
    }
}
