import PintleTestKit
import Testing

@testable import PintleTools

/// The script runs in a repository of its own, which has only the files that it reads.
@Suite("Scripts/release.sh", .enabled(if: InputFile.exists("/usr/bin/git"), "skipped: git is not installed"))
struct ReleaseScriptTests {
    private static let source = "Sources/PintleTools/Tool/CommandLineTool.swift"
    private static let changes =
        "# Changelog\n\n## Unreleased\n\n### Added\n\n- One thing.\n\n## 0.1.0 - 2026-01-01\n\n- First.\n"

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["Scripts/release.sh", "Packaging/control.in", Self.source] {
            let file = try InputFile("\(Recipes.root)/\(name)", standardInput: ByteSource([]))
            try write(name, String(decoding: file.bytes, as: UTF8.self))
        }
        try write("CHANGELOG.md", Self.changes)
        try write(".gitignore", ".build/\n")
        let control = try text("Packaging/control.in").split(separator: "\n").map(String.init)
        let own = control.filter { !$0.hasPrefix("Homepage:") && !$0.hasPrefix("Maintainer:") }
        try write(
            "Packaging/control.in",
            (own + ["Homepage: https://a.test", "Maintainer: A <a@a.test>"]).joined(separator: "\n"))
        try run(["git", "init", "-q"])
        try commit()
    }

    @Test("A newer version is written into the tool and the CHANGELOG, and the tag has the changes")
    func newVersion() throws {
        let result = try release("0.2.0")
        #expect(result.status == 0, "\(result.errorOutput)")
        #expect(try text(Self.source).contains("static let version = \"0.2.0\""))
        #expect(try text("CHANGELOG.md").contains("\n## Unreleased\n\n## 0.2.0 - 2"))
        #expect(try text(".build/tag-0.2.0.txt") == "Pintle 0.2.0\n\n### Added\n\n- One thing.\n")
    }

    @Test(
        "A version that is older, released or misspelt changes nothing",
        arguments: [
            ("0.1.0", "0.1.0 is not newer than 0.1.0"), ("0.0.9", "0.0.9 is not newer"),
            ("0.3.0", "the tag v0.3.0 exists"),
            ("v0.2.0", "usage:"), ("0.02.0", "usage:"), ("0.2", "usage:"),
        ])
    func refusedVersions(version: String, message: String) throws {
        try run(["git", "tag", "v0.3.0"])
        try refuses(version, message)
    }

    @Test("Uncommitted changes are an error")
    func uncommitted() throws {
        try write("CHANGELOG.md", Self.changes + "- More.\n")
        try refuses("0.2.0", "commit or discard")
    }

    @Test("A CHANGELOG without a new entry is an error")
    func noChanges() throws {
        try write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- First.\n")
        try commit()
        try refuses("0.2.0", "no change under Unreleased")
    }

    @Test("A first section that still says that the version is in the making is an error")
    func firstVersion() throws {
        try write(
            "CHANGELOG.md",
            Self.changes.replacing("### Added", with: "The first version is in the making.\n\n### Added"))
        try commit()
        try refuses("0.2.0", "must say what the first version is")
    }

    @Test(
        "A package without a home page or with an example address is an error", arguments: ["Homepage", "Maintainer"])
    func packageFields(field: String) throws {
        let control = try text("Packaging/control.in")
        let broken = control.replacing(
            "Homepage: https://a.test", with: field == "Homepage" ? "Section: x" : "Homepage: https://a.test"
        )
        .replacing("<a@a.test>", with: field == "Maintainer" ? "<a@a.example>" : "<a@a.test>")
        try write("Packaging/control.in", broken)
        try commit()
        try refuses("0.2.0", "Packaging/control.in needs")
    }

    private func refuses(_ version: String, _ message: String) throws {
        let before = try (text("CHANGELOG.md"), text(Self.source))
        let result = try release(version)
        #expect(result.status == 1)
        #expect(result.errorOutput.contains("release: error: ") && result.errorOutput.contains(message))
        #expect(try before == (text("CHANGELOG.md"), text(Self.source)))
    }

    private func release(_ version: String) throws -> ProcessResult {
        try runProcess(["bash", directory.path(of: "Scripts/release.sh"), version], input: [])
    }

    private func commit() throws {
        try run(["git", "add", "-A"])
        try run(["git", "-c", "user.name=A", "-c", "user.email=a@a.test", "commit", "-qm", "A"])
    }

    private func run(_ command: [String]) throws {
        let words = command.prefix(1) + ["-C", directory.path(of: "")] + command.dropFirst()
        let result = try runProcess(Array(words), input: [])
        try #require(result.status == 0, "\(result.errorOutput)")
    }

    private func write(_ name: String, _ text: String) throws {
        let path = directory.path(of: name)
        if let slash = path.lastIndex(of: "/") { try OutputFolder.create(String(path[..<slash])) }
        try OutputFile.replace(path, Array(text.utf8))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try InputFile(directory.path(of: name), standardInput: ByteSource([])).bytes, as: UTF8.self)
    }
}
