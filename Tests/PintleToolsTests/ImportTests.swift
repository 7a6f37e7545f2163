import FoundationEssentials
import Pintle
import Testing

@testable import PintleTools

@Suite("Import")
struct ImportTests: ImportReading {
    // MARK: Android

    private static let nsc = """
        <?xml version="1.0" encoding="utf-8"?>
        <network-security-config xmlns:tools="http://schemas.android.com/tools">
          <!-- ours -->
          <domain-config tools:ignore="x">
            <domain includeSubdomains="true">Example.test</domain>
            <pin-set expiration="2027-11-20">
              <pin digest="SHA-256">\(hash)</pin>
              <pin digest="SHA-256"> \(other) </pin>
            </pin-set>
          </domain-config>
        </network-security-config>
        """

    @Test("Import reads a network security configuration as Android does")
    func networkSecurityConfig() throws {
        let rule = try #require(try draft(Self.nsc, .nsc).policy().hosts.first)
        #expect(rule.host.description == "example.test")
        #expect(rule.includesSubdomains)
        #expect(rule.pins.map(\.description) == ["sha256/\(Self.hash)", "sha256/\(Self.other)"])
        #expect(rule.expiry == .systemTrust(after: try RFC3339.date(from: "2027-11-20T00:00:00Z")))
        #expect(rule.anchors == .system)
    }

    @Test("Nested configurations inherit the settings that they omit")
    func nested() throws {
        let policy = try draft(
            """
            <network-security-config>
              <base-config><trust-anchors><certificates src="system"/></trust-anchors></base-config>
              <domain-config>
                <domain>example.test</domain>
                <pin-set><pin digest="SHA-256">\(Self.hash)</pin></pin-set>
                <domain-config><domain>api.example.test</domain></domain-config>
                <domain-config>
                  <domain>cdn.example.test</domain>
                  <pin-set><pin digest="SHA-256">\(Self.other)</pin></pin-set>
                </domain-config>
              </domain-config>
            </network-security-config>
            """, .nsc
        ).policy()
        #expect(
            policy.hosts.map { "\($0.host) \($0.pins.map(\.description))" } == [
                "example.test [\"sha256/\(Self.hash)\"]", "api.example.test [\"sha256/\(Self.hash)\"]",
                "cdn.example.test [\"sha256/\(Self.other)\"]",
            ])
    }

    @Test("An unknown element of a network security configuration is an error with its place")
    func networkSecurityConfigErrors() throws {
        try check(
            Self.nsc, .nsc,
            [
                ("<pin-set expiration=\"2027-11-20\">", "<pinset/><pin-set>", "6:5 unknown-element"),
                (
                    "<pin digest=\"SHA-256\">\(Self.hash)", "<pin digest=\"SHA-512\">\(Self.hash)",
                    "7:7 unsupported-hash"
                ),
                ("<pin digest=\"SHA-256\">\(Self.hash)", "<pin>\(Self.hash)", "7:7 unsupported-hash"),
                (Self.hash, "short", "7:7 invalid-pin"),
                ("expiration=\"2027-11-20\"", "expiration=\"2027-02-30\"", "6:5 invalid-date"),
                ("expiration=\"2027-11-20\"", "expires=\"2027-11-20\"", "6:5 unknown-key"),
                ("Example.test", "*.example.test", "5:5 invalid-host"),
                ("includeSubdomains=\"true\"", "includeSubdomains=\"yes\"", "5:5 wrong-type"),
                ("<domain includeSubdomains=\"true\">Example.test</domain>", "", "4:3 no-domain"),
                ("</domain>", "</domain><domain>example.test</domain>", "5:59 duplicate-rule"),
                (
                    "</pin-set>", "</pin-set><pin-set><pin digest=\"SHA-256\">\(Self.hash)</pin></pin-set>",
                    "9:15 duplicate-key"
                ),
                ("</domain-config>", "", "11:3 malformed-xml"),
                (
                    "<!-- ours -->",
                    "<domain-config><domain>a.test</domain><trust-anchors><certificates src=\"@raw/x\"/>"
                        + "</trust-anchors></domain-config>", "3:56 unreadable-file"
                ),
                (
                    "<network-security-config ", "<!DOCTYPE x [<!ENTITY a \"b\">]><network-security-config ",
                    "2:25 entity"
                ),
            ])
    }

    @Test("The placeholder pin pins nothing by itself, and import leaves it out beside another pin")
    func standIn() throws {
        let beside = Self.nsc.replacing(Self.other, with: PublicKeyPin.ofNoKey.base64)
        #expect(try draft(beside, .nsc).policy().hosts.map(\.pins.count) == [1])
        let alone = beside.replacing(Self.hash, with: PublicKeyPin.ofNoKey.base64)
        #expect(try refusal(alone, .nsc) == "6:5 nothing-pinned")
    }

    // MARK: Property lists

    private static let ats = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
          <key>CFBundleName</key><string>App</string>
          <key>NSAppTransportSecurity</key><dict>
            <key>NSPinnedDomains</key><dict>
              <key>example.test</key><dict>
                <key>NSPinnedCAIdentities</key><array><dict>
                  <key>SPKI-SHA256-BASE64</key><string>\(hash)</string></dict></array>
              </dict></dict></dict></dict></plist>
        """

    @Test("Import reads NSPinnedDomains; two lists mean that both must match")
    func propertyList() throws {
        let rule = try #require(try draft(Self.ats, .ats).policy().hosts.first)
        #expect(rule.pins.map(\.position) == [.ca])
        #expect(rule.requires == .anyPin)
        let leaf =
            "<key>NSPinnedLeafIdentities</key><array><dict><key>SPKI-SHA256-BASE64</key>"
            + "<string>\(Self.other)</string></dict></array></dict></dict></dict></dict></plist>"
        let both = Self.ats.replacing("</dict></dict></dict></dict></plist>", with: leaf)
        #expect(try draft(both, .ats).policy().hosts.first?.requires == .leafAndCA)
    }

    @Test("An unknown member of NSPinnedDomains is an error with its place")
    func propertyListErrors() throws {
        try check(
            Self.ats, .ats,
            [
                ("NSPinnedCAIdentities", "NSPinnedRootIdentities", "8:9 unknown-key"),
                ("SPKI-SHA256-BASE64", "SPKI-SHA1-BASE64", "9:11 unknown-key"),
                ("<string>\(Self.hash)</string>", "<data>\(Self.hash)</data>", "9:40 wrong-type"),
                (Self.hash, "AAAA", "9:40 wrong-pin-length"),
                ("<array><dict>", "<array/><key>x</key><array><dict>", "8:9 nothing-pinned"),
                ("example.test", "EXÄMPLE.test", "7:7 invalid-host"),
                ("<key>CFBundleName</key><string>", "<key>CFBundleName</key><key>", "4:36 malformed-xml"),
                ("<key>CFBundleName</key>", "", "4:3 malformed-plist"),
                ("CFBundleName", "NSAppTransportSecurity", "5:3 duplicate-key"),
                ("NSPinnedDomains", "NSExceptionDomains", "3:22 nothing-pinned"),
            ])
    }

    // MARK: JSON

    private static let envoy = """
        {"static_resources": {"clusters": [{"name": "a",
          "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address":
            {"address": "10.0.0.1", "port_value": 8443}}}}]}]},
          "transport_socket": {"name": "tls", "typed_config": {"@type": "\(EnvoyExport.contextType)",
            "sni": "example.test", "common_tls_context": {"validation_context": {
              "trusted_ca": {"filename": "/etc/ssl/certs/ca-certificates.crt"},
              "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": "example.test"}}],
              "verify_certificate_spki": ["\(hash)"]}}}}}]}}
        """

    @Test("Import reads Envoy's clusters; a setting that would validate less is an error with its place")
    func envoy() throws {
        let rule = try #require(try draft(Self.envoy, .envoy).policy().hosts.first)
        #expect(rule.description == "example.test:8443")
        #expect(rule.pins.map(\.position) == [.leaf])
        try check(
            Self.envoy, .envoy,
            [
                ("\"verify_certificate_spki\"", "\"verify_certificate_sha1\"", "8:7 unknown-key"),
                ("[\"\(Self.hash)\"]", "[\"\(Self.hash)\"], \"allow_expired_certificate\": true", "8:84 unknown-key"),
                ("\"exact\"", "\"suffix\"", "7:41 not-expressible"),
                ("\"port_value\": 8443", "\"port_value\": 0", "1:36 not-expressible"),
                ("UpstreamTlsContext", "QuicUpstreamTransport", "4:55 unknown-value"),
                ("\"transport_socket\"", "\"transportSocket\"", "4:3 unknown-key"),
                ("\"lb_endpoints\"", "\"lbEndpoints\"", "2:38 unknown-key"),
                (
                    "8443}}}}", "8443}}}}, {\"endpoint\": {\"address\": {\"pipe\": {\"path\": \"/x\"}}}}",
                    "3:53 not-expressible"
                ),
                (
                    "8443}}}}",
                    "8443}}}}, {\"endpoint\": {\"address\": {\"socket_address\": {\"port_value\": 8443}}}}",
                    "read as 1 rules"
                ),
                ("{\"static_resources\"", "static_resources:\n {\"x\"", "1:1 unexpected-character"),
                ("\"name\": \"a\",", "\"name\": \"a\", \"name\": \"b\",", "1:50 duplicate-key"),
            ])
    }

    @Test("Import accepts comments in Chromium's list, keys in another file and forbidden keys")
    func chromium() throws {
        let keys = Array("# keys\nKeyA\nsha256/\(Self.hash)\n\nKeyB\nsha256/\(Self.other)\n".utf8)
        let list = """
            // "pins"
            {"pinsets": [{"name": "a", "static_spki_hashes": ["KeyA"]}], // "entries": []
             "entries": [{"name": "example.test", "include_subdomains": true, "pins": "a"}]}
            """
        func read(_ text: String, _ keys: [UInt8]) throws(ForeignError) -> ImportDraft {
            try ImportCommand.read(Array(text.utf8), as: .chromium, keys: ChromiumKeys(keys), files: .none)
        }
        #expect(try read(list, keys).policy().hosts.first?.includesSubdomains == true)
        let forbidding = list.replacing("[\"KeyA\"]", with: "[\"KeyA\"], \"bad_static_spki_hashes\": [\"KeyB\"]")
        #expect(try read(forbidding, keys).losses.count(.weaker) == 1)
        for (old, new, expected) in [
            ("KeyA", "KeyC", "2:51 unknown-pin"), ("\"pins\": \"a\"", "\"pins\": \"b\"", "3:75 unknown-value"),
            ("include_subdomains", "includes_subdomains", "3:39 unknown-key"),
            ("// \"entries\"", "/* */", "2:62 comment"),
            ("[\"KeyA\"]", "[]", "2:14 nothing-pinned"),
        ] {
            do {
                _ = try read(list.replacing(old, with: new), keys)
                Issue.record("\(new) is read")
            } catch {
                #expect("\(error.place?.line ?? 0):\(error.place?.column ?? 0) \(error.code)" == expected)
            }
        }
        for broken in [
            "KeyA\nsha256/AAAA\n", "KeyA\n", "KeyA\nsha256/\(Self.hash)\nKeyA\nsha256/\(Self.other)\n", "key a\nx",
        ] {
            #expect(throws: ForeignError.self) { try ChromiumKeys(Array(broken.utf8)) }
        }
    }

    // MARK: Command

    @Test("Errors name file, line and column, also in JSON, and no file is written")
    func command() throws {
        let run = ToolRun("import", "--from", "nsc", "-", "--json", input: Array("<a>\n <b></a>".utf8))
        #expect(run.code == 2)
        let error = try run.json()["error"]
        #expect(error?["code"]?.string == "malformed-xml")
        #expect(error?["file"]?.string == "stdin")
        #expect(error?["line"]?.integer == 2)
        let hint = "is it a file for Android's network security configuration, as --from nsc says?"
        #expect(error?["hint"]?.string == hint)
        let good = ToolRun("import", "--from", "nsc", "-", input: Array(Self.nsc.utf8))
        #expect(good.code == 0)
        #expect(try PinningPolicy(json: Array(good.output.utf8)).hosts.count == 1)
        #expect(good.errors.contains("other     backups"))
        #expect(ToolRun("import", "--from", "nsc", "-", "--keys", "x", input: Array(Self.nsc.utf8)).code == 2)
        #expect(ToolRun("import", "-", input: Array(Self.nsc.utf8)).code == 2)
        let both = Self.nsc.replacing(
            "<!-- ours -->",
            with: "<base-config><trust-anchors><certificates src=\"user\"/>"
                + "<certificates src=\"system\"/></trust-anchors><certificateTransparency enabled=\"true\"/></base-config>"
        )
        #expect(ToolRun("import", "--from", "nsc", "-", "--strict", input: Array(both.utf8)).code == 1)
        let document = ToolRun("import", "--from", "nsc", "-", "--strict", "--json", input: Array(both.utf8))
        #expect(document.code == 1)
        #expect(try document.json()["refused"]?.boolean == true)
        let twin = ToolRun("import", "--from", "nsc", "-", "--strict", "--json", input: Array(Self.nsc.utf8))
        #expect(twin.code == 0)
        #expect(try twin.json()["policy"] != nil)
    }
}
