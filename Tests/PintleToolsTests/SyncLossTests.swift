import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools

/// Sync never loses content of the user silently, and reports no more than the file has.
@Suite("Sync: content of the user")
struct SyncLossTests {
    private let fixture: SyncFixture

    init() throws { fixture = try SyncFixture() }

    private func config(_ text: String) throws {
        try fixture.targets(("nsc", "n.xml"))
        try fixture.directory.write(text, to: "n.xml")
    }

    // MARK: Content that a new element would not have

    private struct Row {
        let text: String
        /// The line and the part of the message that names the content.
        let line: Int64
        let named: String
        /// A file with the content at a place that stays.
        let accepted: String
    }

    private static func configuration(
        root: String = "", before: String = "", attribute: String = "", domain: String = "", inside: String = ""
    ) -> String {
        """
        <network-security-config xmlns:tools="http://schemas.android.com/tools"\(root)>\(before)
          <domain-config\(attribute)>
            <domain\(domain)>api.example.com</domain>
            \(inside)
          </domain-config>
        </network-security-config>
        """
    }

    private static let lost: [Row] = [
        Row(
            text: configuration(attribute: " tools:ignore=\"PinSetExpiry\""), line: 2,
            named: "tools:ignore of <domain-config>", accepted: configuration(root: " tools:ignore=\"PinSetExpiry\"")),
        Row(
            text: configuration(domain: " tools:ignore=\"x\""), line: 3, named: "tools:ignore of <domain>",
            accepted: configuration(root: " tools:ignore=\"x\"")),
        Row(
            text: configuration(inside: "<pin-set x:y=\"1\"><pin digest=\"SHA-256\">x</pin></pin-set>"), line: 4,
            named: "x:y of <pin-set>", accepted: configuration(root: " x:y=\"1\"")),
        Row(
            text: configuration(attribute: " xmlns:x=\"urn:x\""), line: 2, named: "xmlns:x of <domain-config>",
            accepted: configuration(root: " xmlns:x=\"urn:x\"")),
        Row(
            text: configuration(inside: "<?keep this?>"), line: 4, named: "processing instruction",
            accepted: configuration(before: "<?keep this?>")),
        Row(
            text: configuration(inside: "<pin-set><pin digest=\"SHA-256\">x<?keep this?></pin></pin-set>"), line: 4,
            named: "processing instruction", accepted: "<?keep this?>" + configuration()),
        Row(
            text: configuration(inside: "do not touch"), line: 2, named: "text of <domain-config>",
            accepted: configuration(before: "do not touch")),
        Row(
            text: configuration(inside: "<x:note/>"), line: 4, named: "<x:note>",
            accepted: configuration(before: "<x:note/>")),
    ]

    @Test(
        "Content that a rewritten element would not have is refused with its place, and accepted outside of it",
        arguments: lost.indices)
    func refused(row: Int) throws {
        let row = Self.lost[row]
        try config(row.text)
        for options in [[], ["--check"]] {
            let run = ToolRun(arguments: ["sync", fixture.directory.path(of: SyncFile.name), "--json"] + options)
            #expect(run.code == 2)
            let error = try run.json()["error"]
            #expect(error?["code"]?.string == "lost-content")
            #expect(error?["line"]?.integer == row.line)
            #expect(error?["message"]?.string?.contains(row.named) == true, "\(run.output)")
            #expect(error?["hint"]?.string?.isEmpty == false)
        }
        #expect(try fixture.text("n.xml") == row.text)
        try config(row.accepted)
        #expect(fixture.sync().code == 0)
        let written = try fixture.text("n.xml")
        for part in ["tools:ignore", "x:y", "xmlns:x", "<?keep this?>", "do not touch", "<x:note/>"]
        where row.accepted.contains(part) {
            #expect(written.contains(part))
        }
        #expect(fixture.sync("--check").code == 0)
    }

    @Test("Comments in a rewritten element of Android's are counted, and those beside it stay")
    func comments() throws {
        try config(Self.configuration(inside: "<!-- one --><pin-set><!-- two --></pin-set>"))
        #expect(fixture.sync("--check").errors.contains("2 comments between the pins will be lost"))
        #expect(fixture.sync().errors.contains("2 comments between the pins will be lost"))
        try config(Self.configuration(before: "<!-- one -->"))
        #expect(!fixture.sync().errors.contains("lost"))
        #expect(try fixture.text("n.xml").contains("<!-- one -->"))
    }

    @Test("Where the pins are current, nothing is rewritten, so nothing is refused")
    func currentStays() throws {
        try config("<network-security-config/>")
        #expect(fixture.sync().code == 0)
        let text = try fixture.text("n.xml").replacing("<domain-config ", with: "<domain-config tools:x=\"y\" ")
            .replacing("<pin-set>", with: "<?keep this?><pin-set>")
        #expect(text.contains("tools:x") && text.contains("<?keep"))
        try fixture.directory.write(text, to: "n.xml")
        #expect(fixture.sync("--check").code == 0 && fixture.sync().code == 0)
        #expect(try fixture.text("n.xml") == text)
    }

    @Test("A processing instruction or an attribute between the pins of an Info.plist is refused")
    func infoPlist() throws {
        try fixture.targets(("ats", "Info.plist"))
        func plist(_ value: String, beside: String = "") -> String {
            "<plist><dict>\(beside)<key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains</key>\(value)</dict></dict></plist>"
        }
        for value in ["<dict><?keep this?></dict>", "<dict id=\"x\"/>"] {
            try fixture.directory.write(plist(value), to: "Info.plist")
            #expect(try fixture.refusal() == "lost-content")
            #expect(try fixture.refusal("--check") == "lost-content")
        }
        try fixture.directory.write(plist("<dict/>", beside: "<?keep this?>"), to: "Info.plist")
        #expect(fixture.sync().code == 0)
        #expect(try fixture.text("Info.plist").contains("<?keep this?>"))
    }

    @Test("An element with pins for no domain is refused, because Android refuses the file")
    func withoutDomain() throws {
        let set = "<pin-set><pin digest=\"SHA-256\">x</pin></pin-set>"
        try config("<network-security-config><domain-config>\(set)</domain-config></network-security-config>")
        #expect(try fixture.refusal() == "no-domain")
        #expect(try fixture.refusal("--check") == "no-domain")
        try config(
            "<network-security-config><domain-config><domain>a.example</domain>\(set)</domain-config></network-security-config>"
        )
        #expect(fixture.sync().code == 0)
    }

    // MARK: Facts

    @Test("The facts of an element with many domains and many pins are as many as these, not their product")
    func size() throws {
        let count = 600
        let domains = (0..<count).map { "<domain>h\($0).example.com</domain>" }.joined()
        let pins = (0..<count).map { "<pin digest=\"SHA-256\">\($0)</pin>" }.joined()
        try config(
            "<network-security-config><domain-config>\(domains)<pin-set>\(pins)</pin-set></domain-config></network-security-config>"
        )
        // The same hosts, so that all facts of both sides are compared.
        try fixture.policy(hosts: (0..<count).map { "h\($0).example.com" })
        let target = try fixture.sync("--check", "--json").json()["targets"]?.elements?.first { _ in true }
        let facts = (target?["removed"]?.count ?? 0) + (target?["added"]?.count ?? 0)
        #expect(facts > 3 * count && facts < 3 * count + 20)
        #expect(fixture.sync().code == 0 && fixture.sync("--check").code == 0)
    }

    @Test("A fact is named for those of an element's domains for which it changes")
    func groups() throws {
        try fixture.policy(hosts: ["a.example.com", "b.example.com", "c.example.com"])
        try config("<network-security-config/>")
        #expect(fixture.sync().code == 0)
        let rules = [("a", 1), ("b", 2), ("c", 2)].map { name, backup in
            """
            {"host": "\(name).example.com", "pins": [{"spki": "sha256/\(SyncFixture.pins[0])", "at": "leaf"}],
             "backupPins": [{"spki": "sha256/\(SyncFixture.pins[backup])", "at": "leaf"}]}
            """
        }
        try fixture.directory.write(
            "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}", to: "policy.json")
        let target = try fixture.sync("--check", "--json").json()["targets"]?.elements?.first { _ in true }
        func line(_ pin: Int) -> String {
            "b.example.com, c.example.com pin-set pin digest=\"SHA-256\" \"\(SyncFixture.pins[pin])\""
        }
        #expect(target?["removed"]?.elements?.compactMap(\.string) == [line(1)])
        #expect(target?["added"]?.elements?.compactMap(\.string) == [line(2)])
        // The same facts in other elements are the same.
        #expect(fixture.sync().code == 0)
        let text = try fixture.text("n.xml")
        let elements = text.split(separator: "  <domain-config").map { "  <domain-config\($0)" }
        let shared = try #require(elements.first { $0.contains("b.example.com") && $0.contains("c.example.com") })
            .replacing("</network-security-config>", with: "")
        func without(_ host: String) -> String {
            shared.replacing("<domain includeSubdomains=\"false\">\(host).example.com</domain>", with: "")
        }
        try fixture.directory.write(text.replacing(shared, with: without("c") + without("b")), to: "n.xml")
        #expect(fixture.sync("--check").code == 0)
    }

    @Test("NSIncludesSubdomains false is the same as no such key")
    func includesSubdomains() throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        #expect(fixture.sync().code == 0)
        let text = try fixture.text("Info.plist")
        func written(_ value: String) throws {
            try fixture.directory.write(
                text.replacing(
                    "<key>NSPinnedLeaf", with: "<key>NSIncludesSubdomains</key>\(value)<key>NSPinnedLeaf"),
                to: "Info.plist")
        }
        try written("<false/>")
        #expect(fixture.sync("--check").code == 0)
        for other in ["<true/>", "<string>false</string>", "<dict/>"] {
            try written(other)
            #expect(fixture.sync("--check").code == 1)
        }
        // An entry without pins is not the same as no entry.
        try fixture.directory.write(
            text.replacing(
                "<key>api.example.com</key>",
                with:
                    "<key>x.example</key><dict><key>NSIncludesSubdomains</key><false/></dict><key>api.example.com</key>"
            ),
            to: "Info.plist")
        #expect(fixture.sync("--check").code == 1)
        // The policy wants sub-domains.
        try fixture.policy(hosts: ["api.example.com"], rule: "\"includeSubdomains\": true,")
        try written("<false/>")
        #expect(fixture.sync("--check").code == 1)
        try written("<true/>")
        #expect(fixture.sync("--check").code == 0)
    }

    // MARK: Private roots

    @Test(
        "The folder raw is found beside the folder of the file",
        arguments: [
            ("/n.xml", "/"), ("/xml/n.xml", "/"), ("/res/xml/n.xml", "/res/"), ("n.xml", "../"), ("xml/n.xml", ""),
            ("xml//n.xml", ""), ("./n.xml", "./../"), ("../n.xml", "../../"), ("res/../n.xml", "res/../../"),
            ("res/xml/n.xml", "res/"), ("res//xml/n.xml", "res//"), ("//n.xml", "/"),
        ])
    func rawFolder(path: String, parent: String) {
        #expect(ImportCommand.parent(of: path) == parent)
    }

    @Test("A root that no element names any more is named each time, and is not deleted")
    func orphanedRoots() throws {
        try #require(mkdir(fixture.directory.path(of: "xml"), 0o700) == 0)
        try fixture.targets(("nsc", "xml/n.xml"))
        try fixture.directory.write("<network-security-config/>", to: "xml/n.xml")
        let root = try CertificateAuthority.root(name: "Private Root").certificate
        try fixture.directory.write(root.pem, to: "root.pem")
        let name = "pintle_root_\(CertificatePin(certificate: root.der).description.prefix(16))"
        let written = fixture.directory.path(of: "raw/\(name).pem")
        try fixture.policy(hosts: ["api.example.com"], rule: "\"anchors\": {\"include\": [\"root.pem\"]},")
        #expect(fixture.sync().code == 0)
        #expect(!fixture.sync().errors.contains("raw/"))
        try fixture.policy(hosts: ["api.example.com"])
        let foreign = fixture.directory.path(of: "raw/pintle_root_0123456789abcdef.pem")
        try fixture.directory.write("mine", to: "raw/pintle_root_0123456789abcdef.pem")
        try fixture.directory.write("mine", to: "raw/other.pem")
        for options in [["--check"], [], ["--check"]] {
            let run = ToolRun(arguments: ["sync", fixture.directory.path(of: SyncFile.name), "--json"] + options)
            let warnings = try run.json()["warnings"]?.elements.map(Array.init)?.compactMap(\.string) ?? []
            #expect(
                warnings.contains(
                    "\(written): no target names this root any more, which pintle sync has written: delete the file if "
                        + "nothing else names it"))
            #expect(
                warnings.contains(
                    "\(foreign): no target names this file, and pintle sync has not written its content: look at it before you "
                        + "delete it"))
            #expect(!warnings.contains { $0.contains("other.pem") })
        }
        #expect(try fixture.text("raw/\(name).pem") == root.pem)
        // Another element that stays names it, or another target does.
        let text = try fixture.text("xml/n.xml")
        try fixture.directory.write(
            text.replacing(
                "</network-security-config>",
                with:
                    "<base-config><trust-anchors><certificates src=\"@raw/\(name)\"/></trust-anchors></base-config>\n</network-security-config>"
            ), to: "xml/n.xml")
        #expect(!fixture.sync("--check").errors.contains(name))
        try fixture.directory.write(try fixture.text("xml/n.xml"), to: "xml/m.xml")
        try fixture.directory.write(text, to: "xml/n.xml")
        #expect(fixture.sync("--check").errors.contains(name))
        try fixture.targets(("nsc", "xml/n.xml"), ("nsc", "xml/m.xml"))
        #expect(!fixture.sync("--check").errors.contains(name))
    }
}
