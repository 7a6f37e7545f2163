import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools

@Suite("Places that an export writes to")
struct ExportPlaceTests {
    private let directory: TemporaryDirectory
    private let policy: String
    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static let leaf = "{\"spki\": \"\(pin)\", \"at\": \"leaf\"}"

    init() throws {
        directory = try TemporaryDirectory()
        policy = try directory.write(
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \"pins\": [\(Self.leaf)], \"backupPins\": \"none-accepted\"}]}",
            to: "policy.json")
    }

    /// A file that people wrote, for each format and language.
    private static let foreign: [(name: String, options: [String], content: String)] = [
        (
            "Info.plist", ["ats"],
            "<plist version=\"1.0\"><dict><key>CFBundleName</key><string>App</string></dict></plist>\n"
        ),
        ("Pins.plist", ["trustkit", "--language", "plist"], "<plist version=\"1.0\"><dict/></plist>\n"),
        ("config.xml", ["nsc"], "<network-security-config><base-config/></network-security-config>\n"),
        ("Pins.kt", ["okhttp"], "// Written by pintle sync from policy.json; edit the policy, not this file.\n"),
        ("Pins.java", ["okhttp", "--language", "java"], "final class Pins {}\n"),
        ("Pins.swift", ["trustkit"], "import TrustKit\n"), ("pins.sh", ["curl"], "curl https://example.com/\n"),
        ("envoy.json", ["envoy"], "{\n  \"static_resources\": {\n    \"clusters\": [\n    ]\n  }\n}\n"),
    ]

    @Test(
        "An export replaces its own file and an empty one, and no file that it did not write",
        arguments: foreign.indices)
    func replaced(row: Int) throws {
        let (name, options, content) = Self.foreign[row]
        let path = try directory.write(content, to: name)
        let arguments = ["export", policy, "--to"] + options + ["-o", path]
        let refused = ToolRun(arguments: arguments + ["--json"])
        #expect(refused.code == 2)
        #expect(try refused.json()["error"]?["code"]?.string == "foreign-file")
        #expect(try refused.json()["error"]?["file"]?.string == path)
        #expect(String(decoding: try directory.read(name), as: UTF8.self) == content)
        try directory.write("", to: name)
        #expect(ToolRun(arguments: arguments).code == 0)
        let written = try directory.read(name)
        #expect(!written.isEmpty)
        #expect(ToolRun(arguments: arguments).code == 0)
        #expect(try directory.read(name) == written)
    }

    @Test(
        "The hint about an app's file has a file for pintle sync, which writes only the pins",
        arguments: ["ats", "nsc", "trustkit"], [nil, "leaf", "ca"])
    func hint(format: String, position: String?) throws {
        let (name, content) =
            format != "nsc"
            ? ("Info.plist", Self.foreign[0].content) : ("res/xml/network_security_config.xml", Self.foreign[2].content)
        try OutputFolder.create(directory.path(of: "res/xml"))
        try directory.write(content, to: name)
        let target = directory.path(of: format != "nsc" ? name : "res")
        let refused = ToolRun(
            arguments: ["export", policy, "--to", format, "-o", target, "--json"]
                + (format == "trustkit" ? ["--language", "plist"] : []) + (position.map { ["--pins-at", $0] } ?? []))
        let hint = try #require(try refused.json()["error"]?["hint"]?.string)
        let text = try #require(
            hint.firstIndex(of: "{").flatMap { begin in hint.lastIndex(of: "}").map { hint[begin...$0] } })
        let sync = try directory.write(String(text), to: "pintle-sync.json")
        #expect(ToolRun("sync", sync).code == 0)
        let after = String(decoding: try directory.read(name), as: UTF8.self)
        #expect(after.contains(format != "nsc" ? "CFBundleName" : "<base-config/>") && after.contains("example.com"))
    }

    @Test("The hint has only the target if there is a file for pintle sync already")
    func hintOfTarget() {
        let hint = SyncExample.advice(policy: "p.json", .ats, "Info.plist", pinsAt: .leaf, isThere: true)
        #expect(
            hint.hasSuffix(
                #": add {"format": "ats", "file": "Info.plist", "pinsAt": "leaf"} to "targets" in pintle-sync.json, "#
                    + "and run pintle sync"))
    }

    @Test("A file that cannot be read is not called foreign, and one too large for an export is")
    func unreadable() throws {
        // The kernel refuses to read its first bytes, also to the superuser.
        let run = ToolRun("export", policy, "--to", "curl", "-o", "/proc/self/mem", "--json")
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["code"]?.string == "unreadable-file", "\(run.output)")
        let large = try directory.write([UInt8](repeating: 0x20, count: 16 << 20 + 1), to: "large.sh")
        let refused = ToolRun("export", policy, "--to", "curl", "-o", large, "--json")
        #expect(try refused.json()["error"]?["code"]?.string == "foreign-file", "\(refused.output)")
    }

    @Test("pin replaces a file of a foreign format only if it wrote it")
    func pins() throws {
        let certificate = try directory.write(
            try CertificateAuthority.root().issue(hosts: ["example.com"]).certificate.pem, to: "cert.pem")
        let other = try directory.write(
            try CertificateAuthority.root().issue(hosts: ["example.net"]).certificate.pem, to: "other.pem")
        // For TrustKit, pin writes Swift. Envoy is no form of it.
        for (name, options, content) in Self.foreign where options.count == 1 && options != ["envoy"] {
            let path = try directory.write(content, to: name)
            let refused = ToolRun(arguments: ["pin", certificate, "--as"] + options + ["-o", path])
            #expect(refused.code == 2, "\(name)")
            #expect(
                refused.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                    "was not written by pintle export"), "\(refused.errors)")
            #expect(String(decoding: try directory.read(name), as: UTF8.self) == content)
            try directory.write("", to: name)
            for source in [certificate, other] {
                #expect(ToolRun(arguments: ["pin", source, "--as"] + options + ["-o", path]).code == 0)
            }
            #expect(String(decoding: try directory.read(name), as: UTF8.self).contains("example.net"))
            // The export knows the file too.
            #expect(ToolRun(arguments: ["export", policy, "--to"] + options + ["-o", path]).code == 0)
        }
        // Only the command is printed, to paste.
        #expect(ToolRun("pin", certificate, "--as", "curl").output.hasPrefix("curl "))
        #expect(ToolRun("pin", certificate, "--as", "curl", "-o", "-").output.hasPrefix("curl "))
    }

    @Test("Several files need a folder, and a hint names -o if they are printed")
    func severalFiles() throws {
        try directory.write(try CertificateAuthority.root().certificate.pem, to: "root.pem")
        let policy = try directory.write(
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \"pins\": [\(Self.leaf)], \"backupPins\": \"none-accepted\", "
                + "\"anchors\": {\"include\": [\"root.pem\"]}}]}", to: "rooted.json")
        for (format, name, folder) in [("nsc", "net.xml", "res"), ("curl", "out.sh", "pins")] {
            let file = directory.path(of: name)
            let refused = ToolRun("export", policy, "--to", format, "-o", file)
            #expect(refused.code == 2 && refused.errors.contains("--out \(file): there are 2 files"))
            #expect(!OutputFile.exists(file))
            // One file may have such a name.
            #expect(ToolRun("export", self.policy, "--to", format, "-o", file).code == 0)
            #expect(ToolRun("export", policy, "--to", format, "-o", file).code == 2)
            #expect(ToolRun("export", policy, "--to", format, "-o", directory.path(of: folder)).code == 0)
            let printed = ToolRun("export", policy, "--to", format)
            #expect(printed.code == 0 && printed.output.hasPrefix("==> "))
            #expect(
                printed.errors.contains(
                    "hint: these are 2 files; to write each: pintle export \(policy) --to \(format) -o \(folder)\n"))
            #expect(!ToolRun("export", self.policy, "--to", format).errors.contains("hint:"))
        }
        // The command does the same, so it has the flags too.
        let plain = try directory.write(
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \"pins\": [\"\(Self.pin)\"], "
                + "\"backupPins\": \"none-accepted\", \"anchors\": {\"include\": [\"root.pem\"]}}]}", to: "plain.json")
        let strict = ToolRun("export", plain, "--to", "nsc", "--strict", "--verbose")
        #expect(
            strict.errors.contains("to write each: pintle export \(plain) --to nsc --strict -o res\n"),
            "\(strict.errors)")
    }
}
