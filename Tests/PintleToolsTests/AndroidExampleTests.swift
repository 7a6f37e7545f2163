import FoundationEssentials
import Glibc
import PintleTestKit
import Testing

@testable import PintleConsole

/// The project of `Examples/android`. Its files are exports of its policy, and its resources compile.
@Suite("Android example")
struct AndroidExampleTests {
    private static let project = "\(Recipes.root)/Examples/android"
    /// Android's own resources, which a manifest refers to. The set-up does not install Debian's package, because it
    /// takes 45 MB.
    private static let framework = "/usr/share/android-framework-res/framework-res.apk"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func compile(_ resources: String, to name: String) throws -> ProcessResult {
        try runProcess(["aapt2", "compile", "--dir", resources, "-o", directory.path(of: name)])
    }

    private func link(_ resources: String, manifest: String) throws -> ProcessResult {
        try runProcess([
            "aapt2", "link", "-I", Self.framework, "--manifest", manifest, "-o", directory.path(of: "app.apk"),
            directory.path(of: resources),
        ])
    }

    @Test(
        "The committed files equal the output of the README's commands",
        arguments: [
            ("nsc", "res", "res/xml/network_security_config.xml"),
            ("okhttp", "CertificatePins.kt", "CertificatePins.kt"),
        ])
    func exports(format: String, output: String, file: String) throws {
        let readme = String(decoding: try Recipes.file("Examples/android/README.md"), as: UTF8.self)
        #expect(readme.contains("pintle export policy.json --to \(format) -o \(output)\n"))
        let run = ToolRun(
            arguments: [
                "export", "\(Self.project)/policy.json", "--to", format, "-o", directory.path(of: output),
            ], now: Date(timeIntervalSince1970: 1_795_000_000))
        #expect(run.code == 0, "\(run.errors)")
        let written = try InputFile(directory.path(of: file), standardInput: ByteSource([])).bytes
        #expect(written == (try Recipes.file("Examples/android/\(file)")))
    }

    @Test(
        "The resources compile, and a configuration that is not well-formed does not",
        .enabled(if: ConsumerTests.has("aapt2"), "skipped: no aapt2; make setup installs it"))
    func resources() throws {
        let compiled = try compile("\(Self.project)/res", to: "resources.zip")
        #expect(compiled.status == 0, "\(compiled.errorOutput)")
        let file = "res/xml/network_security_config.xml"
        let content = String(decoding: try Recipes.file("Examples/android/\(file)"), as: UTF8.self)
        try directory.write(content.replacing("</pin-set>", with: ""), to: file)
        #expect(try compile(directory.path(of: "res"), to: "broken.zip").status != 0)
    }

    @Test(
        "The manifest refers to resources that exist, and another name is refused",
        .enabled(if: ConsumerTests.has("aapt2"), "skipped: no aapt2; make setup installs it"),
        .enabled(if: access(framework, R_OK) == 0, "skipped: Debian's android-framework-res is not installed"))
    func manifest() throws {
        #expect(try compile("\(Self.project)/res", to: "resources.zip").status == 0)
        let linked = try link("resources.zip", manifest: "\(Self.project)/AndroidManifest.xml")
        #expect(linked.status == 0, "\(linked.errorOutput)")
        let manifest = String(decoding: try Recipes.file("Examples/android/AndroidManifest.xml"), as: UTF8.self)
        let other = try directory.write(
            manifest.replacing("@xml/network_security_config", with: "@xml/another"), to: "AndroidManifest.xml")
        #expect(try link("resources.zip", manifest: other).status != 0)
    }
}
