import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleTools

@Suite("Export")
struct ExportTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    /// Writes a policy file with one rule, which has the host and these members.
    private func policy(_ members: String, top: String = "", host: String = "example.test") throws -> String {
        try directory.write(
            "{\"version\": 1, \(top) \"hosts\": [{\"host\": \"\(host)\", \(members)}]}", to: "policy.json")
    }

    private static let plain =
        "\"pins\": [{\"spki\": \"\(pin)\", \"at\": \"leaf\"}], \"backupPins\": [{\"spki\": \"\(spare)\", \"at\": \"leaf\"}]"
    private static let anywhere = "\"pins\": [\"\(pin)\"], \"backupPins\": [\"\(spare)\"]"

    /// Returns the losses as `weaker subdomains` and so on.
    private func losses(_ run: ToolRun) throws -> [String] {
        let losses = try run.json()["losses"]?.elements.map(Array.init) ?? []
        return losses.map { "\($0["effect"]?.string ?? "") \($0["id"]?.string ?? "")" }
    }

    // MARK: Losses

    /// The members of a rule, the format, and the expected losses besides the one of backups.
    private static let table: [(members: String, format: String, losses: [String])] = [
        (plain, "ats", []),
        ("\"minimumPathLength\": 3, \(plain)", "ats", ["weaker path-length"]),
        ("\"minimumPathLength\": 1, \(plain)", "ats", []),
        ("\"issuerKey\": \"\(pin)\", \(plain)", "ats", ["weaker issuer-key"]),
        (
            "\"minimumPathLength\": 3, \"issuerKey\": \"\(pin)\", \(anywhere)", "nsc",
            ["weaker path-length", "weaker issuer-key"]
        ),
        ("\"minimumPathLength\": 3, \(anywhere)", "okhttp", ["weaker path-length"]),
        ("\"minimumPathLength\": 3, \(anywhere)", "trustkit", ["weaker path-length"]),
        ("\"port\": 443, \"minimumPathLength\": 3, \(plain)", "curl", ["weaker path-length"]),
        ("\"port\": 443, \"issuerKey\": \"\(pin)\", \(plain)", "envoy", ["weaker issuer-key"]),
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

    @Test("Export names each member that a format cannot express, with the effect", arguments: table.indices)
    func losses(row: Int) throws {
        let (members, format, expected) = Self.table[row]
        // A second rule that loses nothing, because an export that pins nothing is refused.
        let port = ["curl", "envoy"].contains(format) ? "\"port\": 443, " : ""
        let pin =
            port.isEmpty && format != "ats"
            ? "\"\(Self.pin)\", \"\(Self.spare)\"" : "{\"spki\": \"\(Self.pin)\", \"at\": \"leaf\"}"
        let other = "}, {\"host\": \"example.net\", \(port)\"pins\": [\(pin)], \"backupPins\": \"none-accepted\""
        let run = ToolRun("export", try policy(members + other, host: "example.com"), "--to", format, "--json")
        #expect(run.code == 0)
        let found = try losses(run)
        // No format keeps which pins are backups.
        #expect(found.filter { !["other backups", "other stacks"].contains($0) } == expected)
        // The files that are for a whole process name the stacks that do not read them.
        #expect(found.contains("other stacks") == ["ats", "nsc"].contains(format))
        #expect(found.contains("other backups") == !members.contains("none-accepted"))
        for word in expected { #expect(run.errors.contains(word.split(separator: " ")[1])) }
    }

    @Test(
        "A policy that refuses or asks about other hosts loses that in every format", arguments: ForeignFormat.allCases)
    func unpinnedHosts(format: ForeignFormat) throws {
        let path = try policy(Self.plain, top: "\"unpinnedHosts\": \"reject\",", host: "example.com")
        #expect(try losses(ToolRun("export", path, "--to", format.rawValue, "--json")).first == "weaker unpinned-hosts")
        let twin = try policy(Self.plain)
        #expect(
            try !losses(ToolRun("export", twin, "--to", format.rawValue, "--json")).contains("weaker unpinned-hosts"))
    }

    @Test("A host that App Transport Security does not apply to has no entry", arguments: ["192.0.2.7", "intranet"])
    func names(host: String) throws {
        let other = "\(Self.plain)}, {\"host\": \"intranet.test\", \(Self.plain)"
        let run = ToolRun("export", try policy(other, host: host), "--to", "ats", "--json")
        #expect(try losses(run) == ["weaker address", "other backups", "other stacks"])
        #expect(run.output.contains("<key>intranet.test</key>") && !run.output.contains("<key>\(host)</key>"))
    }

    @Test("An export that would pin nothing is refused, and names what the format cannot hold")
    func nothingPinned() throws {
        func run(_ json: String, _ format: ForeignFormat) throws -> ToolRun {
            let path = try directory.write(json, to: "nothing.json")
            return ToolRun("export", path, "--to", format.rawValue, "-o", directory.path(of: "nothing"))
        }
        for format in ForeignFormat.allCases {
            for json in [
                "{\"version\": 1, \"hosts\": []}", "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\"}]}",
                format == .trustkit
                    ? "{\"version\": 1, \"hosts\": []}"
                    : "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \"enforcement\": \"reportOnly\", \(Self.plain)}]}",
            ] {
                let refused = try run(json, format)
                #expect(refused.code == 2 && refused.output.isEmpty, "\(format) \(json)")
                #expect(refused.errors.contains("nothing is written: \(format.title) "), "\(refused.errors)")
                #expect(!OutputFile.exists(directory.path(of: "nothing")))
            }
        }
        let label = "{\"version\": 1, \"hosts\": [{\"host\": \"localhost\", \(Self.plain)}]}"
        #expect(try run(label, .ats).errors.contains("would pin no host, and it cannot hold localhost"))
        #expect(try run(label, .okhttp).code == 0)
        // A rule without pins is worth a file if only a private root counts.
        try directory.write(try CertificateAuthority.root().certificate.pem, to: "root.pem")
        let root =
            "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \"anchors\": {\"include\": [\"root.pem\"]}}]}"
        for (format, code) in [(ForeignFormat.nsc, Int32(0)), (.envoy, 0), (.okhttp, 2)] {
            let path = try directory.write(root, to: "rooted.json")
            #expect(ToolRun("export", path, "--to", format.rawValue).code == code, "\(format)")
        }
        let certificate = try CertificateAuthority.root().issue(hosts: ["localhost"]).certificate.pem
        let path = try directory.write(certificate, to: "localhost.pem")
        let (ats, okhttp) = (ToolRun("pin", path, "--as", "ats"), ToolRun("pin", path, "--as", "okhttp"))
        #expect(ats.code == 2 && ats.errors.contains("it cannot hold localhost"))
        #expect(okhttp.code == 0)
    }

    @Test("--strict writes nothing if a server would be accepted, and writes if servers would only be refused")
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

    @Test("ATS takes pins without a position as pins of the leaf, and a loss says so")
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

    @Test("Export names the lists of App Transport Security that the system adds up, with the effect on the host")
    func pooledLists() throws {
        func run(_ parent: String, _ child: String, isWide: Bool = true) throws -> ToolRun {
            let path = try directory.write(
                """
                {"version": 1, "hosts": [
                 {"host": "example.test", "includeSubdomains": \(isWide), "pins": [\(parent)], "backupPins": "none-accepted"},
                 {"host": "api.example.test", "pins": [\(child)], "backupPins": "none-accepted"
                  \(child.contains("leaf") && child.contains("ca\"") ? ", \"requires\": \"leafAndCA\"" : "")}]}
                """, to: "lists.json")
            return ToolRun("export", path, "--to", "ats", "--json")
        }
        func pin(_ key: String, _ position: String) -> String { "{\"spki\": \"\(key)\", \"at\": \"\(position)\"}" }
        let authority = pin(Self.pin, "ca")
        func pooling(_ run: ToolRun) throws -> [String] { try losses(run).filter { $0.contains("pooling") } }
        #expect(try pooling(run(authority, pin(Self.spare, "ca"))) == ["weaker pooling"])
        #expect(try pooling(run(authority, authority)) == [])
        #expect(try pooling(run(authority, pin(Self.spare, "ca"), isWide: false)) == [])
        // The list of authorities of the parent must match too. The rule pins none of them, so no server may pass.
        let refused = try run(authority, pin(Self.spare, "leaf"))
        #expect(refused.code == 2)
        #expect(try refused.json()["error"]?["code"]?.string == "locks-out")
        #expect(try run(authority, pin(Self.spare, "leaf"), isWide: false).code == 0)
        #expect(try pooling(run(authority, pin(Self.pin, "leaf"))) == ["stricter pooling"])
        #expect(try pooling(run(authority, pin(Self.spare, "leaf") + ", " + authority)) == [])
    }

    @Test(
        "If nothing would be pinned, the hint names the rules that only report, or asks for a pin",
        arguments: ["ats", "nsc", "okhttp", "curl", "envoy"])
    func nothingPinned(format: String) throws {
        func hint(_ terms: String) throws -> String? {
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [{\"host\": \"example.com\", \(terms)}]}", to: "nothing.json")
            let run = ToolRun("export", path, "--to", format, "--json")
            #expect(run.code == 2)
            #expect(try run.json()["error"]?["code"]?.string == "nothing-pinned")
            return try run.json()["error"]?["hint"]?.string
        }
        let reporting = try #require(try hint("\(Self.anywhere), \"enforcement\": \"reportOnly\""))
        #expect(reporting.hasPrefix("write \"enforcement\": \"enforce\" for example.com: "))
        #expect(try hint("\"pins\": []") == "give a rule a pin of a key: pintle pin HOST")
    }

    @Test(
        "A rule for a name at which TrustKit ends the app is left out as weaker",
        arguments: [
            "api.corp.internal", "srv.lan", "example.corp", "files.local", "azurewebsites.net", "appspot.com",
            "googleapis.com", "amazonaws.com", "abc.execute-api.eu-west-1.amazonaws.com", "fastly.net",
        ])
    func refusedNames(host: String) throws {
        let rule = "{\"host\": \"\(host)\", \"includeSubdomains\": true, \(Self.anywhere)}"
        let other = "{\"host\": \"example.com\", \(Self.anywhere)}"
        func run(_ hosts: String) throws -> ToolRun {
            let path = try directory.write("{\"version\": 1, \"hosts\": [\(hosts)]}", to: "names.json")
            return ToolRun("export", path, "--to", "trustkit", "--json")
        }
        let both = try run("\(rule), \(other)")
        #expect(both.code == 0)
        #expect(try losses(both).contains("weaker name"))
        #expect(try both.json()["files"]?.elements?.first { _ in true }?["content"]?.string?.contains(host) == false)
        // TrustKit also ends the app if no host is pinned.
        let alone = try run(rule)
        #expect(alone.code == 2)
        #expect(try alone.json()["error"]?["code"]?.string == "nothing-pinned")
        #expect(try !losses(run(other)).contains("weaker name"))
    }

    @Test(
        "--pins-at has no effect on a format that compares pins with every certificate", arguments: ["nsc", "okhttp"])
    func positionsWithoutPlaces(format: String) throws {
        let path = try policy(Self.anywhere)
        let run = ToolRun("export", path, "--to", format, "--strict", "--pins-at", "leaf", "--json")
        #expect(run.code == 0)
        #expect(try losses(run).allSatisfy { $0.hasPrefix("other") })
        #expect(run.output == ToolRun("export", path, "--to", format, "--strict", "--json").output)
    }

    @Test("Export names rules that OkHttp pools, unless the parent has the same pins")
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

    @Test("If a rule for one port becomes a rule for all ports, the loss names the rule that it replaces")
    func otherPorts() throws {
        let root = try CertificateAuthority.root()
        try directory.write(root.certificate.pem, to: "root.pem")
        let parent =
            "{\"host\": \"example.com\", \"includeSubdomains\": true, \"pins\": [\"\(Self.pin)\"], "
            + "\"backupPins\": \"none-accepted\"}, "
        func export(_ parent: String, _ members: String, to format: String = "nsc") throws -> [String] {
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [\(parent){\"host\": \"api.example.com\", \"port\": 8443\(members)}]}",
                to: "ports.json")
            return try losses(ToolRun("export", path, "--to", format, "--json"))
        }
        let pins = ", \"pins\": [\"\(Self.spare)\"], \"backupPins\": \"none-accepted\""
        let anchors = ", \"anchors\": {\"include\": [\"root.pem\"]}"
        // Under a parent with pins, the parent decides at the other ports.
        for format in ["nsc", "trustkit"] {
            #expect(try export(parent, pins, to: format).contains("weaker port-rule"))
            #expect(try !export("", pins, to: format).contains("weaker port-rule"))
        }
        #expect(try export(parent, "").contains("weaker port-rule"))
        // If no other rule decides, a private root is also trusted at the other ports.
        #expect(try export("", pins + anchors).contains("weaker port"))
        #expect(try export("", pins) == ["stricter port", "other stacks"])
    }

    @Test("If the rule of one port decides at another port that has none of its pins, the loss names that rule")
    func portsWithoutCommonPins() throws {
        func export(_ second: String, to format: String) throws -> [String] {
            let rules = [(443, Self.pin), (8443, second)].map { port, pin in
                "{\"host\": \"api.example.com\", \"port\": \(port), \"backupPins\": \"none-accepted\", "
                    + "\"pins\": [{\"spki\": \"\(pin)\", \"at\": \"leaf\"}]}"
            }
            let path = try directory.write(
                "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}", to: "ports.json")
            var found: [String] = []
            for loss in try ToolRun("export", path, "--to", format, "--json").json()["losses"]?.elements.map(Array.init)
                ?? []
            {
                guard loss["id"]?.string == "port-rule", let effect = loss["effect"]?.string else { continue }
                let hosts = loss["hosts"]?.elements.map(Array.init) ?? []
                found += hosts.compactMap(\.string).map { "\(effect) \($0)" }
            }
            return found
        }
        for format in ["ats", "nsc", "okhttp", "trustkit"] {
            #expect(
                try export(Self.spare, to: format)
                    == ["weaker api.example.com:8443", "stricter api.example.com:8443"])
            #expect(try export(Self.pin, to: format) == [])
        }
        for format in ["curl", "envoy"] { #expect(try export(Self.spare, to: format) == []) }
    }

    // MARK: Output

    @Test("Private roots go to Android as resources, with debug anchors beside them, and import reads them again")
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
        // Without an output folder, each file has its name as a heading. A single file has no heading.
        let several = ToolRun("export", path, "--to", "nsc")
        #expect(several.code == 0)
        #expect(several.lines.first == "==> xml/network_security_config.xml <==")
        #expect(several.lines.contains { $0.hasPrefix("==> raw/pintle_root_") })
        let one = ToolRun("export", try policy(Self.anywhere), "--to", "nsc")
        #expect(one.code == 0)
        #expect(!one.output.contains("==>"))
        // With -o, a single file goes into a new folder as well, unless the name has the file's extension or is an
        // existing file.
        let plain = try policy(Self.anywhere)
        let fresh = directory.path(of: "fresh")
        #expect(ToolRun("export", plain, "--to", "nsc", "-o", fresh).code == 0)
        #expect(InputFile.exists("\(fresh)/xml/network_security_config.xml"))
        #expect(ToolRun("export", plain, "--to", "nsc", "-o", directory.path(of: "one.xml")).code == 0)
        #expect(!OutputFolder.exists(directory.path(of: "one.xml")))
        try directory.write("", to: "old")
        #expect(ToolRun("export", plain, "--to", "nsc", "-o", directory.path(of: "old")).code == 0)
        #expect(!OutputFolder.exists(directory.path(of: "old")))
    }

    @Test("Export refuses options that do not belong to the format")
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

    @Test("A file that is replaced is complete at all times, and no temporary file stays")
    func replaced() throws {
        let path = try policy(Self.anywhere)
        let target = directory.path(of: "Pins.kt")
        for _ in 0..<2 { #expect(ToolRun("export", path, "--to", "okhttp", "-o", target).code == 0) }
        let content = try InputFile(target, standardInput: ByteSource([])).bytes
        #expect(content == Array(ToolRun("export", path, "--to", "okhttp").output.utf8))
        let listing = try runProcess(["ls", directory.path(of: ".")]).output
        #expect(!listing.contains(".new"))
    }

    @Test("Kotlin, Java, Swift and both property lists have the documented form")
    func looks() throws {
        let path = try policy("\"includeSubdomains\": true, \(Self.anywhere)", host: "example.com")
        #expect(
            ToolRun("export", path, "--to", "okhttp").output == """
                // Written by pintle export; edit the policy, not this file.
                // Needs OkHttp 4.3 or later: older ones read **. and match no host with it.
                import okhttp3.CertificatePinner

                val certificatePinner: CertificatePinner =
                    CertificatePinner.Builder()
                        .add(
                            "**.example.com",
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
        #expect(swift.contains("        \"example.com\": [\n            kTSKIncludeSubdomains: true,"))
        let curl = ToolRun("export", path, "--to", "curl").output
        let hashes = [Self.pin, Self.spare].map { "sha256//" + $0.dropFirst(7) }.joined(separator: ";")
        #expect(curl.hasSuffix("\ncurl --pinnedpubkey '\(hashes)' https://example.com/\n"))
    }
}
