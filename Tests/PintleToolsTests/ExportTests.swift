import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

@Suite("Export")
struct ExportTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    /// A policy file with one rule, of these members beside the host.
    private func policy(_ members: String, top: String = "", host: String = "example.test") throws -> String {
        try directory.write(
            "{\"version\": 1, \(top) \"hosts\": [{\"host\": \"\(host)\", \(members)}]}", to: "policy.json")
    }

    private static let plain =
        "\"pins\": [{\"spki\": \"\(pin)\", \"at\": \"leaf\"}], \"backupPins\": [{\"spki\": \"\(spare)\", \"at\": \"leaf\"}]"
    private static let anywhere = "\"pins\": [\"\(pin)\"], \"backupPins\": [\"\(spare)\"]"

    /// `weaker subdomains`...
    private func losses(_ run: ToolRun) throws -> [String] {
        let losses = try run.json()["losses"]?.elements.map(Array.init) ?? []
        return losses.map { "\($0["effect"]?.string ?? "") \($0["id"]?.string ?? "")" }
    }

    /// The text without the line breaks that fit it to the terminal.
    private func unwrapped(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    // MARK: What is lost

    /// A member of a rule, the format, and the loss beside that of the backups.
    private static let table: [(members: String, format: String, losses: [String])] = [
        (plain, "ats", []),
        ("\"includeSubdomains\": true, \(plain)", "ats", ["weaker subdomains"]),
        (
            "\"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}, \(plain)", "ats",
            ["stricter expiry"]
        ),
        ("\"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"reject\"}, \(plain)", "ats", ["weaker expiry"]),
        ("\"enforcement\": \"reportOnly\", \(plain)", "ats", ["other report-only"]),
        ("\"port\": 8443, \(plain)", "ats", ["stricter port"]),
        ("\"reportTo\": [\"https://reports.test/\"], \(plain)", "ats", ["other reports"]),
        (anywhere, "nsc", []),
        (plain, "nsc", ["weaker position"]),
        (
            "\"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}, \(anywhere)", "nsc",
            ["other expiry-time"]
        ),
        (
            "\"expiry\": {\"after\": \"2027-01-01T00:00:01Z\", \"then\": \"systemTrust\"}, \(anywhere)", "nsc",
            ["stricter expiry-time", "other expiry-time"]
        ),
        ("\"includeSubdomains\": true, \(anywhere)", "nsc", []),
        ("\"includeSubdomains\": true, \(anywhere)", "okhttp", []),
        ("\"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}, \(anywhere)", "trustkit", []),
        ("\"enforcement\": \"reportOnly\", \(anywhere)", "trustkit", []),
        (plain, "curl", ["weaker port"]),
        (anywhere, "curl", ["weaker port", "stricter position"]),
        ("\"enforcement\": \"reportOnly\", \(plain)", "curl", ["other port", "other report-only"]),
        (plain, "envoy", ["weaker port"]),
        ("\"port\": 443, \(plain)", "curl", []),
        ("\"port\": 443, \(plain)", "envoy", []),
        ("\"includeSubdomains\": true, \"port\": 443, \(plain)", "envoy", ["weaker subdomains"]),
        ("\"includeSubdomains\": true, \(anywhere)", "chromium", ["weaker list-age", "weaker user-anchors"]),
        (
            "\"reportTo\": [\"https://reports.test/\"], \(anywhere)", "chromium",
            ["weaker list-age", "weaker user-anchors"]
        ),
        ("\"enforcement\": \"reportOnly\", \(anywhere)", "chromium", ["other report-only"]),
        (
            "\"pins\": [{\"certificate\": \"\(String(repeating: "ab", count: 32))\"}, \"\(spare)\"], \"backupPins\": [\"\(pin)\"]",
            "nsc",
            ["stricter certificate-pins"]
        ),
        (
            "\"pins\": [{\"certificate\": \"\(String(repeating: "ab", count: 32))\"}], \"backupPins\": \"none-accepted\"",
            "nsc", ["weaker certificate-pins"]
        ),
    ]

    @Test("Each thing that a format cannot say is named, with its effect", arguments: table.indices)
    func losses(row: Int) throws {
        let (members, format, expected) = Self.table[row]
        let run = ToolRun("export", try policy(members), "--to", format, "--json")
        #expect(run.code == 0)
        let found = try losses(run)
        // Which pins are backups no format keeps.
        #expect(found.filter { $0 != "other backups" } == expected)
        #expect(found.contains("other backups") == !members.contains("none-accepted"))
        for word in expected { #expect(run.errors.contains(word.split(separator: " ")[1])) }
    }

    @Test(
        "A policy that refuses or asks about other hosts loses that in every format", arguments: ForeignFormat.allCases)
    func unpinnedHosts(format: ForeignFormat) throws {
        let path = try policy(Self.plain, top: "\"unpinnedHosts\": \"reject\",")
        #expect(try losses(ToolRun("export", path, "--to", format.rawValue, "--json")).first == "weaker unpinned-hosts")
        let twin = try policy(Self.plain)
        #expect(
            try !losses(ToolRun("export", twin, "--to", format.rawValue, "--json")).contains("weaker unpinned-hosts"))
    }

    @Test("Hosts that App Transport Security does not apply to have no entry", arguments: ["192.0.2.7", "intranet"])
    func names(host: String) throws {
        let run = ToolRun("export", try policy(Self.plain, host: host), "--to", "ats", "--json")
        #expect(try losses(run) == ["weaker address"])
        #expect(!run.output.contains("NSPinnedLeafIdentities"))
        let twin = ToolRun("export", try policy(Self.plain, host: "intranet.test"), "--to", "ats")
        #expect(twin.output.contains("NSPinnedLeafIdentities"))
    }

    @Test("Strict writes nothing where something would be weaker, and writes where it would only be stricter")
    func strict() throws {
        let target = directory.path(of: "out.plist")
        let weaker = try policy("\"includeSubdomains\": true, \(Self.plain)")
        let refused = ToolRun("export", weaker, "--to", "ats", "--strict", "-o", target)
        #expect(refused.code == 1)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("one loss weakens the policy"))
        #expect(refused.errors.contains("WEAKER    subdomains"))
        #expect(!InputFile.exists(target))
        let document = ToolRun("export", weaker, "--to", "ats", "--strict", "--json", "-o", target)
        #expect(document.code == 1)
        #expect(try document.json()["refused"]?.boolean == true)
        #expect(!InputFile.exists(target))
        let stricter = try policy(
            "\"expiry\": {\"after\": \"2027-01-01T00:00:00Z\", \"then\": \"systemTrust\"}, \(Self.plain)")
        #expect(ToolRun("export", stricter, "--to", "ats", "--strict", "-o", target).code == 0)
        #expect(InputFile.exists(target))
        let twin = ToolRun("export", stricter, "--to", "ats", "--strict", "--json", "-o", target)
        #expect(twin.code == 0)
        #expect(try twin.json()["refused"] == nil)
    }

    @Test("ATS takes pins that do not say where they belong for those of the leaf, and says so")
    func positions() throws {
        let path = try policy(Self.anywhere)
        let run = ToolRun("export", path, "--to", "ats")
        #expect(run.code == 0)
        #expect(run.output.contains("NSPinnedLeafIdentities"))
        #expect(run.errors.contains("stricter  position"))
        for (word, key) in [("leaf", "NSPinnedLeafIdentities"), ("ca", "NSPinnedCAIdentities")] {
            let told = ToolRun("export", path, "--to", "ats", "--pins-at", word)
            #expect(told.code == 0)
            #expect(told.output.contains(key))
        }
        let placed = ToolRun("export", try policy(Self.plain), "--to", "ats")
        #expect(placed.code == 0)
        #expect(!placed.errors.contains("position"))
    }

    @Test(
        "What compares pins with the leaf is given no rule that pins authorities: it would refuse every server",
        arguments: ["curl", "envoy"])
    func authoritiesAtTheLeaf(format: String) throws {
        func run(_ members: String, _ more: String...) throws -> ToolRun {
            let target = directory.path(of: "out")
            unlink(target)
            let run = ToolRun(arguments: ["export", try policy(members), "--to", format, "-o", target] + more)
            #expect(run.code == (InputFile.exists(target) ? 0 : 2))
            return run
        }
        let authority = "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"ca\"}]"
        let refused = try run(authority + ", \"backupPins\": [\"\(Self.spare)\"]")
        #expect(refused.code == 2)
        #expect(refused.errors.contains("refuse every server of example.test"), "\(refused.errors)")
        #expect(refused.errors.contains("cannot pin an authority"))
        #expect(try run(authority + ", \"backupPins\": \"none-accepted\"").code == 2)
        // A pin of the leaf beside it, or in its place; nothing enforced.
        let leaf = "{\"spki\": \"\(Self.spare)\", \"at\": \"leaf\"}"
        #expect(try run(String(authority.dropLast()) + ", \(leaf)], \"backupPins\": \"none-accepted\"").code == 0)
        #expect(try run(authority.replacing("ca", with: "leaf") + ", \"backupPins\": [\"\(Self.spare)\"]").code == 0)
        #expect(
            try run(authority + ", \"backupPins\": [\"\(Self.spare)\"], \"enforcement\": \"reportOnly\"").code == 0)
        // Whose the other pin is, is a guess: the loss `position` names it.
        let mixed = try run(String(authority.dropLast()) + ", \"\(Self.spare)\"], \"backupPins\": \"none-accepted\"")
        #expect(mixed.code == 0)
        #expect(
            unwrapped(mixed.errors).contains("if they are authorities', every server is refused"), "\(mixed.errors)")
        // The author's word.
        #expect(try run(Self.anywhere).code == 0)
        #expect(try run(Self.anywhere, "--pins-at", "ca").code == 2)
        #expect(try run(Self.anywhere, "--pins-at", "leaf").code == 0)
    }

    @Test(
        "An imported list of authorities is not taken for servers' keys, unless the author says so",
        arguments: ["ats", "curl", "envoy"])
    func importedAuthorities(format: String) throws {
        func keys(_ count: Int) throws -> [String] {
            try (0..<count).map { _ in
                "\(try PublicKeyPin(subjectPublicKeyInfo: CertificateAuthority.root().certificate.spkiDER))"
            }
        }
        func run(_ hosts: [String], _ keys: [String], backup: String? = nil, _ more: String...) throws -> ToolRun {
            let pins = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            let backups = backup.map { "[\"\($0)\"]" } ?? "\"none-accepted\""
            let rules = hosts.map { "{\"host\": \"\($0)\", \"pins\": [\(pins)], \"backupPins\": \(backups)}" }
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}", to: "list.json")
            return ToolRun(arguments: ["export", path, "--to", format] + more)
        }
        let five = try keys(5)
        let list = try run(["example.test"], five)
        #expect(list.code == 2)
        #expect(list.output.isEmpty)
        #expect(list.errors.contains(format == "ats" ? "--pins-at ca for authorities" : "--pins-at leaf"))
        #expect(try run(["example.test"], five, "--pins-at", "leaf").code == 0)
        #expect(try run(["example.test"], five, "--pins-at", "ca").code == (format == "ats" ? 0 : 2))
        #expect(try run(["example.test"], Array(five.prefix(4))).code == 0)
        #expect(try run(["example.test"], Array(five.prefix(4)), backup: five[4]).code == 0)
        let hosts = ["example.com", "example.net", "example.org", "example.test"]
        #expect(try run(hosts, [five[0]]).code == 2)
        // Servers of four domains may share a key; a rule with a backup is no imported list.
        let shared = try run(hosts, [five[0]], backup: five[4])
        #expect(shared.code == 0)
        #expect(
            unwrapped(shared.errors).contains("if they are authorities', every server is refused"), "\(shared.errors)")
        #expect(try run(["a.example.com", "b.example.com", "c.example.com", "d.example.com"], [five[0]]).code == 0)
    }

    @Test("ATS wants a leaf and an authority where both are listed, so a bare pin beside an authority's needs a word")
    func mixedPositions() throws {
        let mixed =
            "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"ca\"}], \"backupPins\": [\"\(Self.spare)\"]"
        let run = ToolRun("export", try policy(mixed), "--to", "ats")
        #expect(run.code == 2)
        #expect(run.errors.contains("--pins-at ca"))
        let told = ToolRun("export", try policy(mixed), "--to", "ats", "--pins-at", "ca")
        #expect(told.code == 0)
        #expect(!told.output.contains("NSPinnedLeafIdentities"))
        // A leaf's pin in use remains: that it is the leaf's is a guess, which the loss `position` names.
        let inUse =
            "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"ca\"}, \"\(Self.spare)\"], \"backupPins\": \"none-accepted\""
        let guessed = ToolRun("export", try policy(inUse), "--to", "ats")
        #expect(guessed.code == 0)
        #expect(guessed.errors.contains("position") && unwrapped(guessed.errors).contains("a leaf and a ca must match"))
    }

    @Test("ATS wants a match in both of its lists, so one of backups only would refuse every server")
    func listOfBackups() throws {
        func run(_ backupPosition: String) throws -> ToolRun {
            let members =
                "\"pins\": [{\"spki\": \"\(Self.pin)\", \"at\": \"leaf\"}], "
                + "\"backupPins\": [{\"spki\": \"\(Self.spare)\", \"at\": \"\(backupPosition)\"}]"
            return ToolRun("export", try policy(members), "--to", "ats")
        }
        let refused = try run("ca")
        #expect(refused.code == 2)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("only backups would stand for one of them"), "\(refused.errors)")
        #expect(try run("leaf").code == 0)
    }

    @Test(
        "A rule of which only backups would be written is not written: it would refuse every server",
        arguments: ["ats", "nsc", "okhttp", "trustkit", "curl", "chromium"])
    func backupsOnly(format: String) throws {
        let fingerprint = CertificatePin(certificate: try CertificateAuthority.root().certificate.der)
        func run(_ pins: String, _ more: String = "") throws -> ToolRun {
            let members =
                "\"pins\": [\(pins)], \"backupPins\": [{\"spki\": \"\(Self.spare)\", \"at\": \"leaf\"}]\(more)"
            return ToolRun("export", try policy(members), "--to", format)
        }
        let certificate = "{\"certificate\": \"\(fingerprint)\", \"at\": \"leaf\"}"
        let refused = try run(certificate)
        #expect(refused.code == 2)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("only backups, which no server shows yet"), "\(refused.errors)")
        #expect(refused.errors.contains("refuse every server of example.test"))
        // A key in use beside it; nothing enforced.
        #expect(try run(certificate + ", {\"spki\": \"\(Self.pin)\", \"at\": \"leaf\"}").code == 0)
        #expect(try run(certificate, ", \"enforcement\": \"reportOnly\"").code == 0)
    }

    @Test("Rules that OkHttp pools are named, unless the parent's pins are the rule's own")
    func pooling() throws {
        func export(_ child: String) throws -> [String] {
            let path = try directory.write(
                """
                {"version": 1, "hosts": [
                 {"host": "example.test", "includeSubdomains": true, "pins": ["\(Self.pin)"], "backupPins": "none-accepted"},
                 {"host": "api.example.test", "pins": ["\(child)"], "backupPins": "none-accepted"}]}
                """, to: "pooled.json")
            return try losses(ToolRun("export", path, "--to", "okhttp", "--json"))
        }
        #expect(try export(Self.spare) == ["weaker pooling"])
        #expect(try export(Self.pin) == [])
    }

    @Test("A rule for one port that decides for all of them says what it takes the place of")
    func otherPorts() throws {
        let root = try CertificateAuthority.root()
        try directory.write(root.certificate.pem, to: "root.pem")
        let parent =
            "{\"host\": \"example.test\", \"includeSubdomains\": true, \"pins\": [\"\(Self.pin)\"], "
            + "\"backupPins\": \"none-accepted\"}, "
        func export(_ parent: String, _ members: String, to format: String = "nsc") throws -> [String] {
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [\(parent){\"host\": \"api.example.test\", \"port\": 8443\(members)}]}",
                to: "ports.json")
            return try losses(ToolRun("export", path, "--to", format, "--json"))
        }
        let pins = ", \"pins\": [\"\(Self.spare)\"], \"backupPins\": \"none-accepted\""
        let anchors = ", \"anchors\": {\"include\": [\"root.pem\"]}"
        // Under a parent with pins, which decides at the other ports.
        for format in ["nsc", "trustkit", "chromium"] {
            #expect(try export(parent, pins, to: format).contains("weaker port-rule"))
            #expect(try !export("", pins, to: format).contains("weaker port-rule"))
        }
        #expect(try export(parent, "").contains("weaker port-rule"))
        // Where nothing else decides, a private root counts at the other ports.
        #expect(try export("", pins + anchors).contains("weaker port"))
        #expect(try export("", pins) == ["stricter port"])
    }

    // MARK: What is written

    @Test("Private roots go to Android as resources, debug anchors beside them, and come back")
    func resources() throws {
        let root = try CertificateAuthority.root()
        try directory.write(root.certificate.pem, to: "root.pem")
        let debug = try directory.write(try CertificateAuthority.root().certificate.pem, to: "proxy.pem")
        let path = try policy("\"anchors\": {\"include\": [\"root.pem\"]}, \(Self.anywhere)")
        let folder = directory.path(of: "res")
        let run = ToolRun("export", path, "--to", "nsc", "-o", folder, "--debug-anchors", debug)
        #expect(run.code == 0)
        let back = ToolRun("import", "--from", "nsc", "\(folder)/xml/network_security_config.xml", "--json")
        #expect(back.code == 0)
        let include = try back.json()["policy"]?["hosts"]?.elements?.first { _ in true }?["anchors"]?["include"]
        #expect(include?.elements?.first { _ in true }?.string == root.certificate.pem)
        #expect(try losses(back).contains("other debug-overrides"))
        // Without the folder each file has its name before it; one alone has none.
        let several = ToolRun("export", path, "--to", "nsc")
        #expect(several.code == 0)
        #expect(several.lines.first == "==> xml/network_security_config.xml <==")
        #expect(several.lines.contains { $0.hasPrefix("==> raw/pintle_root_") })
        let one = ToolRun("export", try policy(Self.anywhere), "--to", "nsc")
        #expect(one.code == 0)
        #expect(!one.output.contains("==>"))
        // One file alone goes to the same place in a folder that is not there yet, unless it is called what it is.
        let plain = try policy(Self.anywhere)
        let fresh = directory.path(of: "fresh")
        #expect(ToolRun("export", plain, "--to", "nsc", "-o", fresh).code == 0)
        #expect(InputFile.exists("\(fresh)/xml/network_security_config.xml"))
        #expect(ToolRun("export", plain, "--to", "nsc", "-o", directory.path(of: "one.xml")).code == 0)
        #expect(!OutputFolder.exists(directory.path(of: "one.xml")))
        try directory.write("{}", to: "old")
        #expect(ToolRun("export", plain, "--to", "nsc", "-o", directory.path(of: "old")).code == 0)
        #expect(!OutputFolder.exists(directory.path(of: "old")))
    }

    @Test("Options that do not belong to the format are refused")
    func options() throws {
        let path = try policy(Self.plain)
        #expect(ToolRun("export", path).code == 2)
        #expect(ToolRun("export", path, "--to", "hpkp").code == 2)
        #expect(ToolRun("export", path, "--to", "okhttp", "--language", "swift").code == 2)
        #expect(ToolRun("export", path, "--to", "ats", "--language", "swift").code == 2)
        #expect(ToolRun("export", path, "--to", "ats", "--debug-anchors", path).code == 2)
        #expect(ToolRun("export", path, "--to", "ats", "-o", directory.path(of: "no/such/folder/x")).code == 2)
        #expect(ToolRun("export", path, "--to", "okhttp", "--language", "java").code == 0)
    }

    @Test("A file that is replaced is whole at any time, and nothing is left beside it")
    func replaced() throws {
        let path = try policy(Self.anywhere)
        let target = directory.path(of: "Pins.kt")
        for _ in 0..<2 { #expect(ToolRun("export", path, "--to", "okhttp", "-o", target).code == 0) }
        let content = try InputFile(target, standardInput: ByteSource([])).bytes
        #expect(content == Array(ToolRun("export", path, "--to", "okhttp").output.utf8))
        let listing = try runProcess(["ls", directory.path(of: ".")]).output
        #expect(!listing.contains(".new"))
    }

    @Test("Kotlin, Java, Swift and both property lists look as they are documented")
    func looks() throws {
        let path = try policy("\"includeSubdomains\": true, \(Self.anywhere)")
        #expect(
            ToolRun("export", path, "--to", "okhttp").output == """
                // Written by pintle export; edit the policy, not this file.
                // Needs OkHttp 4 or later: OkHttp 3 reads **. and matches no host with it.
                import okhttp3.CertificatePinner

                val certificatePinner: CertificatePinner =
                    CertificatePinner.Builder()
                        .add(
                            "**.example.test",
                            "\(Self.pin)",
                            "\(Self.spare)",
                        )
                        .build()

                """)
        let plist = ToolRun("export", path, "--to", "trustkit", "--language", "plist").output
        #expect(plist.contains("<key>TSKIncludeSubdomains</key>\n                <true/>"))
        #expect(plist.contains("<key>TSKIgnorePinningForUserDefinedTrustAnchors</key>\n        <false/>"))
        let swift = ToolRun("export", path, "--to", "trustkit").output
        #expect(swift.contains("    \"TSKIgnorePinningForUserDefinedTrustAnchors\": false,\n"))
        #expect(swift.contains("        \"example.test\": [\n            kTSKIncludeSubdomains: true,"))
        let curl = ToolRun("export", path, "--to", "curl").output
        let hashes = [Self.pin, Self.spare].map { "sha256//" + $0.dropFirst(7) }.joined(separator: ";")
        #expect(curl.hasSuffix("\ncurl --pinnedpubkey '\(hashes)' https://example.test/\n"))
    }
}
