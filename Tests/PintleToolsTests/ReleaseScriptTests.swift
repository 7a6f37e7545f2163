import PintleTestKit
import Testing

@testable import PintleConsole

/// The script runs in a repository of its own, with the files that it reads and a Makefile that builds nothing.
@Suite(
    "Scripts/release.sh",
    .enabled(
        if: InputFile.exists("/usr/bin/git") && InputFile.exists("/usr/bin/ssh-keygen"),
        "skipped: git or ssh-keygen is not installed"))
struct ReleaseScriptTests {
    private static let version = CommandLineTool.version
    private static let makefile = """
        ci:
        \t@test ! -e failing
        deb:
        \t@mkdir -p .build/packages && git describe --exact-match HEAD >.build/packages/SHA256SUMS
        reproduce:
        \t@test ! -e different

        """

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in [
            "Scripts/release.sh", "Packaging/address.sh", "Packaging/control.in",
            "Sources/PintleConsole/CommandLineTool.swift", "README.md", "CHANGELOG.md",
        ] {
            let file = try InputFile("\(Recipes.root)/\(name)", standardInput: ByteSource([]))
            try write(name, String(decoding: file.bytes, as: UTF8.self))
        }
        try edit("README.md") {
            $0.replacing(/url: "[^"]*", from/, with: "url: \"https://git.test/pintle.git\", from")
                .replacing("pintle.example", with: "a.test")
        }
        try edit("Packaging/control.in") { $0.replacing(/<[^>]*@[^>]*>/, with: "<a@a.test>") }
        try edit("CHANGELOG.md") { $0.replacing("is in the making", with: "is here") }
        try edit("CHANGELOG.md") { $0.replacing(/## (Unreleased|[0-9].*)/, with: "## \(Self.version) - 2026-11-26") }
        try run(["chmod", "+x", directory.path(of: "Packaging/address.sh")])
        try write("Makefile", Self.makefile)
        try write(".gitignore", ".build/\nkey*\n")
        try run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path(of: "key")])
        let key = try text("key.pub").split(separator: " ").prefix(2).joined(separator: " ")
        try write("Packaging/allowed_signers", "a@a.test namespaces=\"pintle-release\" \(key)\n")
        try git("init", "-q", "-b", "main")
        for (name, value) in [("user.name", "A"), ("user.email", "a@a.test")] { try git("config", name, value) }
        try commit()
    }

    @Test("A release has a tag with its changes, and checksums whose signature two commands check")
    func release() throws {
        let result = try release(Self.version)
        #expect(result.status == 0, "\(result.errorOutput)")
        #expect(result.output.contains("git push https://git.test/pintle.git main v\(Self.version)"))
        let tag = try git("tag", "-n2", "--list", "v\(Self.version)").output
        #expect(tag.contains("Pintle \(Self.version)"))
        #expect(try text(".build/packages/SHA256SUMS") == "v\(Self.version)\n")
        let packages = directory.path(of: ".build/packages")
        let command = """
            ssh-keygen -Y verify -f \(directory.path(of: "Packaging/allowed_signers")) -I a@a.test -n pintle-release \
            -s \(packages)/SHA256SUMS.sig <\(packages)/SHA256SUMS
            """
        #expect(try runProcess(["sh", "-c", command]).status == 0)
        try write(".build/packages/SHA256SUMS", "changed\n")
        #expect(try runProcess(["sh", "-c", command]).status != 0)
    }

    @Test(
        "A version that is misspelt, released or not the one of the sources is refused",
        arguments: [
            ("v0.2.0", "usage:"), ("0.02.0", "usage:"), ("0.2", "usage:"), ("0.3.0", "the tag v0.3.0 exists"),
            ("0.9.9", "CommandLineTool.swift has another version"),
        ])
    func versions(version: String, message: String) throws {
        try git("tag", "v0.3.0")
        try refuses(version, message)
    }

    @Test("Another branch, uncommitted changes and a key of no signer are refused")
    func state() throws {
        try write("more", "")
        try refuses(Self.version, "commit or discard")
        try commit()
        try git("switch", "-q", "-c", "other")
        try refuses(Self.version, "from the branch main")
        try git("switch", "-q", "main")
        try run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path(of: "key2")])
        try refuses(Self.version, "is the key of no signer", key: "key2")
    }

    @Test(
        "Files that are not ready for the release are refused",
        arguments: [
            ("CHANGELOG.md", "## \(version) - ", "## Unreleased, ", "must begin with the section"),
            (
                "CHANGELOG.md", "## \(version) - ", "## 0.9.9 - 2026-11-27\n\n## \(version) - ",
                "must begin with the section"
            ),
            ("README.md", "from: \"\(version)\"", "from: \"0.0.1\"", "README.md has another version"),
            ("README.md", "https://git.test/", "https://pintle.example/", "is a placeholder"),
            ("README.md", ".package(url:", "url:", "is a placeholder"),
            (
                "CHANGELOG.md", "- 2026-11-26\n", "- 2026-11-26\n\nIt is in the making.\n",
                "not that it is in the making"
            ),
            ("Packaging/control.in", "<a@a.test>", "<a@a.example>", "needs the address of a maintainer"),
        ])
    func files(name: String, old: String, new: String, message: String) throws {
        try edit(name) { $0.replacing(old, with: new) }
        try commit()
        try refuses(Self.version, message)
    }

    @Test("A failing test and packages that differ are refused, and the tag is taken back")
    func steps() throws {
        for file in ["failing", "different"] {
            try write(file, "")
            try commit()
            let result = try release(Self.version)
            #expect(
                result.status != 0 && result.errorOutput.contains(file == "failing" ? "make ci failed" : "reproduce"))
            #expect(try git("tag").output.isEmpty)
            try git("rm", "-q", file)
            try commit()
        }
    }

    private func refuses(_ version: String, _ message: String, key: String = "key") throws {
        let before = try git("tag").output
        let result = try release(version, key: key)
        #expect(result.status == 1)
        #expect(
            result.errorOutput.contains("release: error: ") && result.errorOutput.contains(message),
            "\(result.errorOutput)")
        #expect(try git("tag").output == before)
    }

    private func release(_ version: String, key: String = "key") throws -> ProcessResult {
        try runProcess(["bash", directory.path(of: "Scripts/release.sh"), version, directory.path(of: key)], input: [])
    }

    private func commit() throws {
        try git("add", "-A")
        try git("commit", "-qm", "A")
    }

    @discardableResult
    private func git(_ words: String...) throws -> ProcessResult { try run(["git", "-C", directory.path] + words) }

    @discardableResult
    private func run(_ command: [String]) throws -> ProcessResult {
        let result = try runProcess(command, input: [])
        try #require(result.status == 0, "\(result.errorOutput)")
        return result
    }

    private func edit(_ name: String, _ change: (String) -> String) throws { try write(name, change(try text(name))) }

    private func write(_ name: String, _ text: String) throws {
        let path = directory.path(of: name)
        if let slash = path.lastIndex(of: "/") { try OutputFolder.create(String(path[..<slash])) }
        try OutputFile.replace(path, Array(text.utf8))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try InputFile(directory.path(of: name), standardInput: ByteSource([])).bytes, as: UTF8.self)
    }
}
