import FoundationEssentials
import Pintle
import Testing

@testable import PintleTools

@Suite("Import")
struct ImportTests {
    private static let hash = "bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static let other = "IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    private func draft(_ text: String, _ format: ForeignFormat) throws -> ImportDraft {
        try ImportCommand.read(Array(text.utf8), as: format, keys: nil, files: .none)
    }

    /// Where and why a file is refused: `3:12 unknown-element`.
    private func refusal(_ text: String, _ format: ForeignFormat) throws -> String {
        do throws(ForeignError) {
            let draft = try ImportCommand.read(Array(text.utf8), as: format, keys: nil, files: .none)
            let policy = try draft.policy()
            return "read as \(policy.hosts.count) rules"
        } catch {
            return "\(error.place.map { "\($0.line):\($0.column) " } ?? "")\(error.code)"
        }
    }

    private func check(_ text: String, _ format: ForeignFormat, _ changes: [(old: String, new: String, error: String)])
        throws
    {
        #expect(try refusal(text, format) == "read as 1 rules")
        for (old, new, error) in changes {
            let changed = text.replacing(old, with: new)
            #expect(changed != text, "\(old)")
            let actual = try refusal(changed, format)
            #expect(actual == error, "\(new)")
        }
    }

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

    @Test("A network security configuration is read as Android reads it")
    func networkSecurityConfig() throws {
        let rule = try #require(try draft(Self.nsc, .nsc).policy().hosts.first)
        #expect(rule.host.description == "example.test")
        #expect(rule.includesSubdomains)
        #expect(rule.pins.map(\.description) == ["sha256/\(Self.hash)", "sha256/\(Self.other)"])
        #expect(rule.expiry == .systemTrust(after: try RFC3339.date(from: "2027-11-20T00:00:00Z")))
        #expect(rule.anchors == .system)
    }

    @Test("Nested configurations inherit what they do not say")
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

    @Test("What is not understood in a network security configuration is an error with its place")
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

    @Test("The pin that no key has pins nothing by itself, and is left out beside another")
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

    @Test("NSPinnedDomains are read; both lists mean that both must match")
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

    @Test("What is not understood in NSPinnedDomains is an error with its place")
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

    // MARK: Code

    private static let kotlin = """
        package app // example
        import okhttp3.CertificatePinner
        /* "CertificatePinner.Builder()" */
        val quote = '"'
        const val HOST = "example.test"
        val client = OkHttpClient.Builder().certificatePinner(
            CertificatePinner.Builder()
                .add(HOST, "sha256/\(hash)", "sha256/\(other)")
                .build()
        ).build()
        """

    @Test("A CertificatePinner is read in Kotlin and in Java, constants and apply included")
    func okHttp() throws {
        let expected = ["sha256/\(Self.hash)", "sha256/\(Self.other)"]
        let java = """
            String hostname = "example.test";
            CertificatePinner certificatePinner = new CertificatePinner.Builder()
                .add(hostname, "\(expected[0])")
                .add(hostname, "\(expected[1])")
                .build();
            """
        let applied = """
            val pinner = CertificatePinner.Builder().apply {
                add("example.test", "\(expected[0])")
                this.add("example.test", "\(expected[1])")
            }.build()
            """
        for text in [Self.kotlin, java, applied] {
            let rule = try #require(try draft(text, .okhttp).policy().hosts.first)
            #expect(rule.host.description == "example.test")
            #expect(!rule.includesSubdomains)
            #expect(rule.pins.map(\.description) == expected)
        }
    }

    @Test("What is not understood in code is an error with its place")
    func okHttpErrors() throws {
        try check(
            Self.kotlin, .okhttp,
            [
                ("\"sha256/\(Self.hash)\"", "PIN", "8:20 not-a-literal"),
                ("\"sha256/\(Self.hash)\"", "\"sha256/$pin\"", "8:20 unknown-code"),
                ("\"sha256/\(Self.hash)\"", "\"sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=\"", "8:20 unsupported-hash"),
                ("\"sha256/\(Self.hash)\"", "\"\(Self.hash)\"", "8:20 invalid-pin"),
                ("\"sha256/\(Self.hash)\"", "\"sha256/\" + PIN", "8:30 unknown-code"),
                (".add(", ".addAll(", "8:10 unknown-code"),
                ("\"example.test\"", "\"example.test\"\nHOST = \"other.test\"", "9:14 not-a-literal"),
                ("\"example.test\"", "\"a.*.test\"", "8:14 invalid-host"),
                ("        .build()\n", "", "9:1 unknown-code"),
                (
                    "CertificatePinner.Builder()\n", "CertificatePinner.Builder().build()\nCertificatePinner.Builder()",
                    "8:1 ambiguous"
                ),
                ("// example", "/* /* example */", "1:16 nested-comment"),
                ("package app", "package app \"", "1:13 unexpected-end"),
            ])
    }

    @Test(
        "Wildcards become rules for sub-domains, and say where that is stricter; different pins under one name are refused"
    )
    func okHttpPatterns() throws {
        func read(_ adds: (String, String)...) throws -> ImportDraft {
            let calls = adds.map { ".add(\"\($0)\", \"sha256/\($1)\")" }.joined()
            return try draft("CertificatePinner.Builder()\(calls).build()", .okhttp)
        }
        let deep = try read(("**.example.test", Self.hash))
        #expect(deep.rules.map(\.includesSubdomains) == [true])
        #expect(deep.losses.count(.stricter) == 0)
        let one = try read(("*.example.test", Self.hash), ("example.test", Self.hash))
        #expect(one.rules.map { "\($0.host) \($0.includesSubdomains)" } == ["example.test true"])
        #expect(one.losses.count(.stricter) == 1)
        // OkHttp accepts the pins of every pattern that matches.
        let pooled = try read(("**.example.test", Self.hash), ("api.example.test", Self.other))
        #expect(pooled.rules.map(\.pins.count) == [1, 2])
        #expect(throws: ForeignError.self) { try read(("*.example.test", Self.hash), ("example.test", Self.other)) }
        // Two labels down, a parent's pattern for one label says nothing.
        let error = #expect(throws: ForeignError.self) {
            try read(("*.example.test", Self.hash), ("**.a.example.test", Self.other))
        }
        #expect(error?.code == "not-expressible")
        let same = try read(("*.example.test", Self.hash), ("**.a.example.test", Self.hash))
        #expect(same.rules.map { Set($0.pins).count } == [1, 1])
    }

    private static let trustKit = """
        let trustKitConfig = [
          kTSKSwizzleNetworkDelegates: false,
          kTSKPinnedDomains: [
            "example.test": [
              kTSKIncludeSubdomains: NSNumber(value: true),
              kTSKExpirationDate: "2027-11-20",
              kTSKPublicKeyHashes: ["\(hash)", "\(other)"],
            ]
          ] as [String: Any]
        ]
        """

    @Test("TrustKit's configuration is read from Swift")
    func trustKit() throws {
        let rule = try #require(try draft(Self.trustKit, .trustkit).policy().hosts.first)
        #expect(rule.includesSubdomains)
        #expect(rule.enforcement == .enforce)
        #expect(rule.pins.count == 2)
        #expect(rule.expiry == .systemTrust(after: try RFC3339.date(from: "2027-11-20T00:00:00Z")))
        try check(
            Self.trustKit, .trustkit,
            [
                ("kTSKSwizzleNetworkDelegates", "kTSKSwizzleEverything", "2:3 unknown-key"),
                ("kTSKSwizzleNetworkDelegates: false", "kTSKSwizzleNetworkDelegates: isOn", "2:32 not-a-literal"),
                ("\"example.test\"", "host", "4:5 not-a-literal"),
                ("\"\(Self.hash)\"", "PIN", "7:29 not-a-literal"),
                ("\"\(Self.hash)\"", "\"\\(pin)\"", "7:29 not-a-literal"),
                ("kTSKIncludeSubdomains", "kTSKIncludeSubdomain", "5:7 unknown-key"),
                ("NSNumber(value: true)", "isWide", "5:30 not-a-literal"),
                ("kTSKPublicKeyHashes", "kTSKReportUris", "7:24 invalid-report-url"),
                ("2027-11-20", "20.11.2027", "6:27 invalid-date"),
                ("kTSKPinnedDomains", "domains", "nothing-pinned"),
            ])
    }

    @Test("TrustKit's settings beside the domains are read in Swift too")
    func trustKitGlobals() throws {
        #expect(try !draft(Self.trustKit, .trustkit).losses.losses.contains { $0.kind == .userAnchors })
        let skipping = Self.trustKit.replacing(
            "kTSKSwizzleNetworkDelegates: false", with: "kTSKIgnorePinningForUserDefinedTrustAnchors: true")
        #expect(try draft(skipping, .trustkit).losses.losses.contains { $0.kind == .userAnchors })
        let call = "TrustKit.initSharedInstance(withConfiguration: "
        let argument = Self.trustKit.replacing("let trustKitConfig = ", with: "let a = [1]; \(call)") + ")"
        #expect(try draft(argument, .trustkit).rules.count == 1)
    }

    @Test("curl's command lines are read as a shell does, without anything that it would replace")
    func curl() throws {
        let text =
            "# pins\ncurl -sS --pinnedpubkey \"sha256//\(Self.hash);sha256//\(Self.other)\" \\\n  https://example.test/\n"
        let rule = try #require(try draft(text, .curl).policy().hosts.first)
        #expect(rule.pins.map(\.position) == [.leaf, .leaf])
        #expect(rule.port == nil)
        try check(
            text, .curl,
            [
                ("-sS", "-k", "2:6 not-expressible"), ("-sS", "--proxy-insecure", "2:6 unknown-option"),
                ("sha256//\(Self.hash)", "key.pem", "2:25 invalid-pin"),
                ("sha256//\(Self.hash)", "$PIN", "2:25 not-a-literal"),
                ("https://", "http://", "3:3 invalid-url"), ("https://example.test/", "$URL", "3:3 not-a-literal"),
                ("curl -sS", "wget -sS", "2:1 unknown-command"), (" https://example.test/", "", "2:1 unexpected-value"),
                ("\" \\", " \\", "2:25 unexpected-end"),
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

    @Test("Envoy's clusters are read; what would validate less is an error with its place")
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

    @Test("Chromium's list has comments, names keys of another file, and says what it forbids")
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
            ("include_subdomains", "mode", "3:39 unknown-key"), ("// \"entries\"", "/* */", "2:62 comment"),
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

    // MARK: The command

    @Test("Errors name file, line and column, in JSON too, and nothing is written")
    func command() throws {
        let run = ToolRun("import", "--from", "nsc", "-", "--json", input: Array("<a>\n <b></a>".utf8))
        #expect(run.code == 2)
        let error = try run.json()["error"]
        #expect(error?["code"]?.string == "malformed-xml")
        #expect(error?["file"]?.string == "stdin")
        #expect(error?["line"]?.integer == 2)
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
