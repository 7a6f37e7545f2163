import FoundationEssentials
import Pintle
import Testing

@testable import PintleTools

/// Pins in source code and in shell commands.
@Suite("Import of code")
struct ImportCodeTests: ImportReading {
    private static let kotlin = """
        package app // example
        import okhttp3.CertificatePinner
        /* "CertificatePinner.Builder()" */
        val quote = '"'
        // .add("comment.test", "sha256/\(hash)")
        val text = ".add(\\"string.test\\", \\"sha256/\(hash)\\")"
        val client = OkHttpClient.Builder().certificatePinner(
            CertificatePinner.Builder()
                .add("example.test", "sha256/\(hash)", "sha256/\(other)") // .add("more.test", "sha256/\(hash)")
                .build()
        ).build()
        """

    @Test("Import reads the literal calls of a CertificatePinner from Kotlin and Java, and no comments or strings")
    func okHttp() throws {
        let expected = ["sha256/\(Self.hash)", "sha256/\(Self.other)"]
        let java = """
            CertificatePinner certificatePinner = new CertificatePinner.Builder()
                .add("example.test", "\(expected[0])")
                .add("example.test", "\(expected[1])")
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

    @Test("Code that import does not understand is an error with its place")
    func okHttpErrors() throws {
        try check(
            Self.kotlin, .okhttp,
            [
                (", \"sha256/\(Self.other)\")", ", PIN)", "9:85 not-a-literal"),
                (", \"sha256/\(Self.other)\")", ", \"sha256/$pin\")", "9:85 not-a-literal"),
                (", \"sha256/\(Self.other)\")", ", \"sha256/\" + PIN)", "9:95 not-a-literal"),
                (", \"sha256/\(Self.other)\")", ", *PINS)", "9:85 not-a-literal"),
                (", \"sha256/\(Self.other)\")", ", \"sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=\")", "9:85 unsupported-hash"),
                (", \"sha256/\(Self.other)\")", ", \"\(Self.other)\")", "9:85 invalid-pin"),
                ("\"example.test\"", "HOST", "9:14 not-a-literal"),
                ("\"example.test\"", "\"a.*.test\"", "9:14 invalid-host"),
                ("\"example.test\", \"sha256/\(Self.hash)\", \"sha256/\(Self.other)\"", "HOST", "9:14 not-a-literal"),
                ("\", \"sha256/\(Self.hash)\", \"sha256/\(Self.other)\"", "\"", "9:10 nothing-pinned"),
                (".add(\"example.test\"", ".addAll(\"example.test\"", "9:10 unknown-code"),
                ("        .build()\n", "", "10:1 unknown-code"),
                (
                    "CertificatePinner.Builder()\n", "CertificatePinner.Builder().build()\nCertificatePinner.Builder()",
                    "9:1 ambiguous"
                ),
                ("// example", "/* /* example */", "1:16 nested-comment"),
                ("package app", "package app \"", "1:13 unexpected-end"),
            ])
    }

    @Test("Import names every call that it does not read, and a policy with fewer pins is never written")
    func okHttpUnread() throws {
        let adds = """
            CertificatePinner.Builder()
                .add(HOST, "sha256/\(Self.hash)")
                .add("example.test", "sha256/\(Self.hash)")
                .add("other.test", pins.first(), "sha256/\(Self.other)")
                .build()
            """
        let run = ToolRun("import", "--from", "okhttp", "-", input: Array(adds.utf8))
        #expect(run.code == 2)
        #expect(run.output == "")
        #expect(run.errors.contains("stdin:2:10: add(...) is not read because of HOST: only string literals are"))
        #expect(run.errors.contains("stdin:4:24: add(...) is not read because of pins: only string literals are"))
        let literal = adds.replacing("HOST", with: "\"a.test\"")
            .replacing("pins.first()", with: "\"sha256/\(Self.hash)\"")
        #expect(try draft(literal, .okhttp).rules.map(\.pins.count) == [1, 1, 2])
        // A condition would put the pins of one build into all of them.
        let conditional = literal.replacing(
            "    .build()", with: "    .apply { if (DEBUG) add(\"b.test\", \"sha256/\(Self.hash)\") }\n    .build()")
        #expect(try refusal(conditional, .okhttp) == "5:14 unknown-code")
        #expect(try draft(conditional.replacing("if (DEBUG) ", with: ""), .okhttp).rules.count == 4)
    }

    @Test(
        "Wildcards become rules for subdomains, with a loss if stricter; different pins under one name are refused"
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
        #expect(throws: ToolError.self) { try read(("*.example.test", Self.hash), ("example.test", Self.other)) }
        // A parent's pattern for one label does not match two labels down.
        let error = #expect(throws: ToolError.self) {
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

    @Test("Import reads TrustKit's configuration from Swift")
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

    @Test("Import names each setting of TrustKit that a policy cannot have")
    func trustKitLosses() throws {
        #expect(try losses(Self.trustKit, .trustkit) == ["other reports example.test"])
        let silent = Self.trustKit.replacing(
            "kTSKIncludeSubdomains", with: "kTSKDisableDefaultReportUri: true, kTSKIncludeSubdomains")
        #expect(try losses(silent, .trustkit) == [])
        let loud = silent.replacing("DefaultReportUri: true", with: "DefaultReportUri: false")
        #expect(try losses(loud, .trustkit) == ["other reports example.test"])
        let everywhere = silent.replacing("Delegates: false", with: "Delegates: true")
        #expect(try losses(everywhere, .trustkit) == ["other stacks"])
        let list = """
            <plist version="1.0"><dict><key>TSKPinnedDomain</key><true/><key>TSKPinnedDomains</key><dict>
            <key>example.test</key><dict><key>TSKPublicKeyHashes</key><array><string>\(Self.hash)</string></array></dict>
            </dict></dict></plist>
            """
        #expect(try refusal(list, .trustkit) == "1:28 unknown-key")
        let known = list.replacing("TSKPinnedDomain<", with: "TSKSwizzleNetworkDelegates<")
        #expect(try refusal(known, .trustkit) == "read as 1 rules")
    }

    @Test("Import also reads TrustKit's settings beside the domains from Swift")
    func trustKitGlobals() throws {
        #expect(try !draft(Self.trustKit, .trustkit).losses.losses.contains { $0.kind == .userAnchors })
        let skipping = Self.trustKit.replacing(
            "kTSKSwizzleNetworkDelegates: false", with: "kTSKIgnorePinningForUserDefinedTrustAnchors: true")
        #expect(try draft(skipping, .trustkit).losses.losses.contains { $0.kind == .userAnchors })
        let call = "TrustKit.initSharedInstance(withConfiguration: "
        let argument = Self.trustKit.replacing("let trustKitConfig = ", with: "let a = [1]; \(call)") + ")"
        #expect(try draft(argument, .trustkit).rules.count == 1)
    }

    @Test("Import reads curl's command lines as a shell does and refuses expansions")
    func curl() throws {
        let text =
            "# pins\ncurl -sS --pinnedpubkey \"sha256//\(Self.hash);sha256//\(Self.other)\" \\\n  https://example.test/\n"
        let rule = try #require(try draft(text, .curl).policy().hosts.first)
        #expect(rule.pins.map(\.position) == [.leaf, .leaf])
        // A rule without a port would also trust the roots of --cacert on other ports.
        #expect(rule.port == 443)
        #expect(try draft(text.replacing("test/", with: "test:8443/"), .curl).policy().hosts.map(\.port) == [8443])
        #expect(try losses(text, .curl) == [])
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
}
