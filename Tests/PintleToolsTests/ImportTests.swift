import FoundationEssentials
import Pintle
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
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
                ("<!-- ours -->", "<base-config/><base-config/>", "3:17 duplicate-key"),
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

    @Test("Import names each setting of a network security configuration that a policy cannot have")
    func networkSecurityConfigLosses() throws {
        let inner = "<domain-config tools:ignore=\"x\">"
        let base = "<!-- ours -->"
        #expect(try losses(Self.nsc, .nsc) == ["other expiry-time example.test"])
        for (place, added, expected) in [
            (inner, "<domainEncryption mode=\"enabled\"/>", ["other tls-settings example.test"]),
            (inner, "<domainEncryption mode=\"required\"/>", ["weaker tls-settings example.test"]),
            (inner, "<domainEncryption mode=\"disabled\"/>", []),
            (inner, "<certificateTransparency enabled=\"True\"/>", ["weaker certificate-transparency example.test"]),
            (inner, "<certificateTransparency enabled=\"FALSE\"/>", []),
            (inner, "<trustkit-config enforcePinning=\"true\"/>", ["other reports example.test"]),
            (
                inner, "<trustkit-config><report-uri>https://r.test/</report-uri></trustkit-config>",
                ["other reports example.test", "stricter report-only example.test"]
            ),
            (base, "<base-config><domainEncryption/></base-config>", ["other tls-settings"]),
            (base, "<base-config hstsEnforced=\"true\"/>", ["weaker https-only"]),
            (base, "<base-config cleartextTrafficPermitted=\"false\"/>", ["weaker https-only"]),
            (base, "<base-config cleartextTrafficPermitted=\"true\"/>", ["stricter cleartext"]),
        ] {
            let found = try losses(Self.nsc.replacing(place, with: place + added), .nsc)
            #expect(Set(found) == Set(expected + ["other expiry-time example.test"]), "\(added)")
        }
        let enforced = Self.nsc.replacing(inner, with: "<domain-config hstsEnforced=\"true\">")
        #expect(try losses(enforced, .nsc).contains("other https-only example.test"))
        let both = enforced.replacing(base, with: "<base-config cleartextTrafficPermitted=\"true\"/>").replacing(
            "<domain-config ", with: "<domain-config cleartextTrafficPermitted=\"true\" ")
        #expect(
            try losses(both, .nsc).filter { $0.contains("cleartext") }
                == ["stricter cleartext", "stricter cleartext example.test"])
        for (added, error) in [
            ("<domainEncryption name=\"x\"/>", "4:35 unknown-key"),
            ("<certificateTransparency><log/></certificateTransparency>", "4:60 unknown-element"),
            ("<trustkit-config enforce=\"true\"/>", "4:35 unknown-key"),
        ] {
            #expect(try refusal(Self.nsc.replacing(inner, with: inner + added), .nsc) == error)
        }
    }

    @Test("Import reads digests and booleans as Android does, and refuses hashes that Android refuses")
    func spellings() throws {
        let other = Self.nsc.replacing("\"SHA-256\"", with: "\"sha-256\"").replacing("\"true\"", with: "\"True\"")
        let rule = try #require(try draft(other, .nsc).policy().hosts.first)
        #expect(rule.pins.count == 2)
        #expect(rule.includesSubdomains)
        let error = #expect(throws: ToolError.self) {
            try draft(Self.nsc.replacing(Self.hash, with: "sha256/\(Self.hash)"), .nsc)
        }
        #expect(error?.code == "invalid-pin")
        #expect(error?.message == "\"sha256/\(Self.hash)\" is not base64 without a prefix")
        #expect(error?.hint == "write \(Self.hash)")
        #expect(
            try refusal(Self.ats.replacing(Self.hash, with: "sha256/\(Self.hash)"), .ats) == "9:40 invalid-pin")
    }

    @Test("The hint for an empty inner pin-set leaves the host without pins, as Android does")
    func emptyPinSet() throws {
        let domain = "<domain>api.example.test</domain>"
        func hint(_ text: String) -> String? {
            do throws(ToolError) {
                _ = try ImportCommand.read(Array(text.utf8), as: .nsc, files: .none)
                return nil
            } catch {
                return error.hint
            }
        }
        let inner = Self.nsc.replacing(
            "</pin-set>", with: "</pin-set><domain-config>\(domain)<pin-set/></domain-config>")
        #expect(
            hint(inner)
                == "if nothing is pinned, give the domains a domain-config outside of this one, without a pin-set")
        let outside = Self.nsc.replacing(
            "</network-security", with: "<domain-config>\(domain)</domain-config></network-security")
        #expect(try draft(outside, .nsc).policy().hosts.map(\.pins.count) == [2, 0])
        let outer = outside.replacing(domain, with: domain + "<pin-set/>")
        #expect(hint(outer) == "leave it out if nothing is pinned")
    }

    @Test("The placeholder pin pins nothing by itself, and import leaves it out beside another pin")
    func placeholder() throws {
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

    @Test("Import names each setting of App Transport Security that a policy cannot have")
    func propertyListLosses() throws {
        func read(_ settings: String) throws -> [String] {
            try losses(
                Self.ats.replacing("<key>NSPinnedDomains", with: settings + "<key>NSPinnedDomains"), .ats)
        }
        func exception(_ key: String, _ value: String) throws -> [String] {
            try read(
                "<key>NSExceptionDomains</key><dict><key>old.test</key><dict><key>NSIncludesSubdomains</key><true/>"
                    + "<key>\(key)</key>\(value)</dict></dict>")
        }
        #expect(try losses(Self.ats, .ats) == [])
        for key in [
            "NSAllowsArbitraryLoads", "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInMedia",
            "NSAllowsArbitraryLoadsInWebContent", "NSAllowsLocalNetworking",
        ] {
            #expect(try read("<key>\(key)</key><true/>") == ["stricter cleartext"])
            #expect(try read("<key>\(key)</key><false/>") == [])
        }
        for (key, value, expected) in [
            ("NSExceptionAllowsInsecureHTTPLoads", "<true/>", ["stricter cleartext old.test"]),
            ("NSExceptionAllowsInsecureHTTPLoads", "<false/>", []),
            ("NSThirdPartyExceptionAllowsInsecureHTTPLoads", "<true/>", ["stricter cleartext old.test"]),
            ("NSExceptionMinimumTLSVersion", "<string>TLSv1.3</string>", ["weaker tls-settings old.test"]),
            ("NSExceptionMinimumTLSVersion", "<string>TLSv1.2</string>", []),
            ("NSTemporaryExceptionMinimumTLSVersion", "<string>TLSv1.0</string>", ["stricter tls-settings old.test"]),
            ("NSExceptionRequiresForwardSecrecy", "<false/>", ["other tls-settings old.test"]),
            ("NSExceptionRequiresForwardSecrecy", "<true/>", []),
            ("NSRequiresCertificateTransparency", "<true/>", ["weaker certificate-transparency old.test"]),
            ("NSRequiresCertificateTransparency", "<false/>", []),
        ] {
            #expect(try exception(key, value) == expected, "\(key) \(value)")
        }
        for settings in [
            "<key>NSAllowsArbitraryLoad</key><true/>",
            "<key>NSExceptionDomains</key><dict><key>a.test</key><dict><key>NSRequiresCT</key><true/></dict></dict>",
        ] {
            let error = #expect(throws: ToolError.self) { try read(settings) }
            #expect(error?.code == "unknown-key")
        }
        #expect(throws: ToolError.self) {
            try exception("NSExceptionMinimumTLSVersion", "<string>TLSv1.4</string>")
        }
        let strict = Self.ats.replacing(
            "<key>NSPinnedDomains",
            with: "<key>NSExceptionDomains</key><dict><key>old.test</key><dict><key>NSExceptionMinimumTLSVersion</key>"
                + "<string>TLSv1.3</string></dict></dict><key>NSPinnedDomains")
        #expect(ToolRun("import", "--from", "ats", "-", "--strict", input: Array(strict.utf8)).code == 1)
        #expect(ToolRun("import", "--from", "ats", "-", "--strict", input: Array(Self.ats.utf8)).code == 0)
    }

    @Test("Import joins the lists of a host and of the parent domain one label above, as the system does")
    func pooledLists() throws {
        func domain(_ name: String, _ list: String, _ key: String, isWide: Bool) -> String {
            "<key>\(name)</key><dict><key>NSIncludesSubdomains</key><\(isWide)/><key>NSPinned\(list)Identities</key>"
                + "<array><dict><key>SPKI-SHA256-BASE64</key><string>\(key)</string></dict></array></dict>"
        }
        func read(_ domains: String...) throws -> ImportDraft {
            try draft("<plist><dict><key>NSPinnedDomains</key><dict>\(domains.joined())</dict></dict></plist>", .ats)
        }
        let parent = domain("example.test", "CA", Self.hash, isWide: true)
        let api = try read(parent, domain("api.example.test", "Leaf", Self.other, isWide: false))
        #expect(api.rules.map(\.pins.count) == [1, 2])
        #expect(api.rules.map(\.requires) == [.anyPin, .leafAndCA])
        #expect(api.losses.losses.allSatisfy { $0.kind != .pooling })
        // One label below the child, only its own entry counts.
        let wide = try read(parent, domain("api.example.test", "Leaf", Self.other, isWide: true))
        #expect(wide.losses.losses.filter { $0.kind == .pooling }.map(\.effect) == [.stricter])
        let same = try read(parent, domain("api.example.test", "CA", Self.other, isWide: true))
        #expect(same.losses.losses.filter { $0.kind == .pooling }.map(\.effect) == [.weaker])
        // Two labels below, and below a parent without sub-domains, nothing is joined.
        let deep = try read(parent, domain("a.b.example.test", "Leaf", Self.other, isWide: false))
        #expect(deep.rules.map(\.pins.count) == [1, 1])
        let narrow = try read(
            domain("example.test", "CA", Self.hash, isWide: false),
            domain("api.example.test", "Leaf", Self.other, isWide: false))
        #expect(narrow.rules.map(\.pins.count) == [1, 1])
    }

    @Test("Losses of a domain-config name each of its hosts, and those of inner ones that inherit the setting")
    func lossesOfEveryHost() throws {
        let text = """
            <network-security-config><domain-config><certificateTransparency enabled="true"/><domain>one.test</domain>
            <domain>two.test</domain><pin-set><pin digest="SHA-256">\(Self.hash)</pin></pin-set>
            <domain-config><domain>three.two.test</domain></domain-config>
            <domain-config><domain>four.two.test</domain><certificateTransparency enabled="false"/></domain-config>
            </domain-config></network-security-config>
            """
        #expect(try losses(text, .nsc) == ["weaker certificate-transparency one.test two.test three.two.test"])
    }

    @Test("Source code is an error that says what the file is and how to go on")
    func sourceCode() {
        for (text, kind) in [
            ("CertificatePinner.Builder().add(\"a.test\", \"sha256/x\")", "source code"),
            ("let c = [kTSKPinnedDomains: [:]]", "source code"),
            ("curl --pinnedpubkey 'sha256//x' https://a.test/", "curl"),
        ] {
            for format in ForeignFormat.imported {
                let run = ToolRun("import", "--from", format.rawValue, "-", "--json", input: Array(text.utf8))
                #expect(run.code == 2)
                let error = try? run.json()["error"]
                #expect(error?["code"]?.string == "other-kind")
                #expect(error?["message"]?.string?.contains(kind) == true)
                #expect(error?["hint"]?.string?.contains("a policy") == true)
            }
        }
        #expect(ToolRun("import", "--from", "nsc", "-", input: Array(Self.nsc.utf8)).code == 0)
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
        #expect(ToolRun("import", "--from", "nsc", "-", "--keys=x", input: Array(Self.nsc.utf8)).code == 2)
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
