import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleTools

/// Programs that enforce or parse exported files.
@Suite("Consumers of exports")
struct ConsumerTests {
    private let directory: TemporaryDirectory
    private let root: PintleTestKit.CertificateAuthority
    private let identity: Identity
    private let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Root")
        identity = try root.issue(hosts: ["example.test", "api.example.test", "other.test"])
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    private static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    private var pin: String {
        get throws { try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER).description }
    }

    private func export(_ rules: String, _ options: String...) throws -> ToolRun {
        let path = try directory.write("{\"version\": 1, \"hosts\": [\(rules)]}", to: "policy.json")
        return ToolRun(arguments: ["export", path] + options)
    }

    private func rule(_ host: String, _ pin: String, more: String = "") -> String {
        "{\"host\": \"\(host)\", \"pins\": [\"\(pin)\"], \"backupPins\": \"none-accepted\"\(more)}"
    }

    /// Returns `true` if the program is installed.
    static func has(_ program: String) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    // MARK: curl

    @Test("curl obeys the exported command: it accepts the pinned key and refuses another", arguments: [true, false])
    func curl(isPinned: Bool) throws {
        let server = try LoopbackTLSServer(identity)
        let run = try export(rule("example.test", isPinned ? try pin : Self.spare), "--to", "curl")
        let command = try #require(run.output.split(separator: "\n").last)
        let result = try runProcess([
            "sh", "-c",
            "\(command) -sS --cacert '\(anchors)' --connect-to example.test:443:127.0.0.1:\(server.port)",
        ])
        // 90 is `CURLE_SSL_PINNEDPUBKEYNOTMATCH`.
        #expect(result.status == (isPinned ? 0 : 90), "\(result.errorOutput)")
        #expect(server.waitUntilClosed())
        #expect((server.requestByteCount > 0) == isPinned)
    }

    @Test("curl trusts only the private root of the policy")
    func curlAnchors() throws {
        for isOurs in [true, false] {
            let server = try LoopbackTLSServer(identity)
            let other = try directory.write(try CertificateAuthority.root().certificate.pem, to: "other.pem")
            let include = isOurs ? anchors : other
            let folder = directory.path(of: "curl-\(isOurs)")
            let run = try export(
                rule("example.test", try pin, more: ", \"anchors\": {\"include\": [\"\(include)\"]}"), "--to", "curl",
                "-o",
                folder)
            #expect(run.code == 0)
            let script = try InputFile("\(folder)/pinned.sh", standardInput: ByteSource([])).bytes
            let command = try #require(String(decoding: script, as: UTF8.self).split(separator: "\n").last)
            let result = try runProcess(
                ["sh", "-c", "\(command) -sS --connect-to example.test:443:127.0.0.1:\(server.port)"],
                workingDirectory: folder)
            #expect(result.status == (isOurs ? 0 : 60), "\(result.errorOutput)")
        }
    }

    // MARK: Structure

    @Test(
        "Android's XML is valid against its documented structure, and a misspelt element is not",
        .enabled(if: has("xmllint"), "skipped: no xmllint"))
    func networkSecurityConfig() throws {
        let rules = [
            rule("example.test", try pin, more: ", \"includeSubdomains\": true"),
            rule(
                "api.example.test", try pin,
                more: ", \"expiry\": {\"after\": \"2027-11-20T00:00:00Z\", \"then\": \"systemTrust\"}"),
            "{\"host\": \"other.test\", \"anchors\": {\"include\": [\"root.pem\"], \"system\": true}}",
        ]
        let folder = directory.path(of: "res")
        let run = try export(
            rules.joined(separator: ","), "--to", "nsc", "-o", folder, "--debug-anchors", anchors)
        #expect(run.code == 0)
        let schema =
            #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
            + "/Consumers/network-security-config.rng"
        let path = "\(folder)/\(NSCExport.path)"
        func validate(_ path: String) throws -> ProcessResult {
            try runProcess(["xmllint", "--noout", "--nonet", "--relaxng", "/\(schema)", path])
        }
        let result = try validate(path)
        #expect(result.status == 0, "\(result.errorOutput)")
        let content = String(decoding: try InputFile(path, standardInput: ByteSource([])).bytes, as: UTF8.self)
        let broken = try directory.write(content.replacing("pin-set", with: "pinset"), to: "broken.xml")
        #expect(try validate(broken).status != 0)
        #expect(try runProcess(["openssl", "x509", "-noout", "-in", "\(folder)/raw/pintle_debug_1.pem"]).status == 0)
    }

    @Test(
        "Another reader of property lists finds the same values", arguments: ["ats", "trustkit"])
    func propertyLists(format: String) throws {
        let options = format == "ats" ? ["--pins-at", "leaf"] : ["--language", "plist"]
        let path = try directory.write(
            "{\"version\": 1, \"hosts\": [\(rule("example.com", try pin, more: ", \"includeSubdomains\": true"))]}",
            to: "policy.json")
        let run = ToolRun(arguments: ["export", path, "--to", format] + options)
        #expect(run.code == 0)
        let list = try directory.write(run.output, to: "Info.plist")
        let script = """
            import json, plistlib, sys
            print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))
            """
        let read = try runProcess(["python3", "-c", script, list])
        #expect(read.status == 0, "\(read.errorOutput)")
        let root = try JSONDocument(Array(read.output.utf8)).root
        let base64 = String(try pin.dropFirst("sha256/".count))
        if format == "ats" {
            let domain = root["NSAppTransportSecurity"]?["NSPinnedDomains"]?["example.com"]
            #expect(domain?["NSIncludesSubdomains"]?.boolean == true)
            let identity = domain?["NSPinnedLeafIdentities"]?.elements?.first { _ in true }
            #expect(identity?["SPKI-SHA256-BASE64"]?.string == base64)
        } else {
            let domain = root["TSKConfiguration"]?["TSKPinnedDomains"]?["example.com"]
            #expect(domain?["TSKDisableDefaultReportUri"]?.boolean == true)
            #expect(domain?["TSKPublicKeyHashes"]?.elements?.map { $0.string }.first == base64)
            #expect(domain?["TSKPublicKeyHashes"]?.count == 2)
        }
    }
}
