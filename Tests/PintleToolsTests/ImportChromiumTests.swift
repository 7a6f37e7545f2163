import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

/// The format of the list until 2018: pins and https-only hosts in one file. The content is made up for the test.
@Suite("Chromium's list of pins and https-only hosts")
struct ImportChromiumTests {
    private let directory: TemporaryDirectory
    private let list: String

    init() throws {
        directory = try TemporaryDirectory()
        let key = try PublicKeyPin(subjectPublicKeyInfo: CertificateAuthority.root().certificate.spkiDER)
        try directory.write(
            "# keys\nPinsListTimestamp\n1470000000\n\nTheRoot\n\(key)\n", to: "transport_security_state_static.pins")
        list = """
            // A comment, with a "string" and a // in it.
            {
              "pinsets": [ // inside
                {"name": "ours", "static_spki_hashes": ["TheRoot"], "report_uri": "http://reports.test/"}
              ],
              "entries": [
                // Pins, and more.
                {"name": "example.test", "include_subdomains": true, "mode": "force-https", "pins": "ours"},
                {"name": "narrow.test", "include_subdomains_for_pinning": true, "pins": "ours",
                 "expect_ct": true, "expect_ct_report_uri": "https://ct.test/"},
                {"name": "exact.test", "include_subdomains": false, "pins": "ours", "expect_staple": true,
                 "expect_staple_report_uri": "https://ocsp.test/", "include_subdomains_for_expect_staple": true},
                // No pins.
                {"name": "open.example.test", "mode": "force-https"},
                {"name": "deep.open.narrow.test", "include_subdomains": true},
                {"name": "elsewhere.test", "include_subdomains": true, "mode": "force-https", "policy": "custom"},
                {"name": "under.exact.test", "mode": "force-https"},
                {"name": "plain.test"}
              ],
              "domain_ids": ["NOT_PINNED", "EXAMPLE"]
            }
            """
    }

    private func run(_ text: String, _ more: String...) throws -> ToolRun {
        let path = try directory.write(text, to: "transport_security_state_static.json")
        return ToolRun(arguments: ["import", "--from", "chromium", path] + more)
    }

    private func hosts(_ loss: String, in run: ToolRun) throws -> [[String]] {
        let losses = try run.json()["losses"]?.elements.map(Array.init) ?? []
        return losses.filter { "\($0["effect"]?.string ?? "") \($0["id"]?.string ?? "")" == loss }.map { loss in
            loss["hosts"]?.elements?.compactMap(\.string) ?? []
        }
    }

    @Test("Import keeps the pins of the list and names its other members as losses")
    func both() throws {
        let run = try run(list)
        #expect(run.code == 0, "\(run.errors)")
        let policy = try PinningPolicy(json: Array(run.output.utf8))
        #expect(
            policy.hosts.map { "\($0) \($0.includesSubdomains)" } == [
                "example.test true", "narrow.test true", "exact.test false",
            ])
        let losses = try self.run(list, "--json")
        #expect(try hosts("stricter exclusion", in: losses) == [["open.example.test", "deep.open.narrow.test"]])
        #expect(try hosts("weaker https-only", in: losses) == [["elsewhere.test", "under.exact.test"]])
        #expect(try hosts("other https-only", in: losses) == [["example.test"]])
        #expect(try hosts("weaker certificate-transparency", in: losses) == [["narrow.test"]])
        #expect(try hosts("other stapling", in: losses) == [["exact.test"]])
        #expect(try hosts("other reports", in: losses).flatMap(\.self).contains("narrow.test"))
        #expect(try hosts("other list-metadata", in: losses) == [[], ["elsewhere.test"], ["plain.test"]])
        #expect(try self.run(list, "--strict").code == 1)
    }

    @Test("Either member extends the pins to subdomains, and a false one does not undo that")
    func subdomains() throws {
        for (members, widens) in [
            ("\"include_subdomains\": true", true), ("\"include_subdomains_for_pinning\": true", true),
            ("\"include_subdomains\": false, \"include_subdomains_for_pinning\": true", true),
            ("\"include_subdomains\": true, \"include_subdomains_for_pinning\": false", true),
            ("\"include_subdomains_for_pinning\": false", false), ("\"mode\": \"force-https\"", false),
        ] {
            let entry = "{\"name\": \"example.test\", \"pins\": \"ours\", \(members)}"
            let head = list.prefix { $0 != "]" } + "], \"report_uri\": \"https://reports.test/\"}], \"entries\": ["
            let run = try run(head + entry + "]}")
            try #require(run.code == 0, "\(run.errors)")
            #expect(try PinningPolicy(json: Array(run.output.utf8)).hosts.first?.includesSubdomains == widens)
        }
    }

    @Test("A member that no generation of the list has is an error with its place")
    func unknown() throws {
        for (old, new, code) in [
            ("\"domain_ids\"", "\"domain_names\"", "unknown-key"),
            ("\"expect_ct\": true", "\"expect_ct\": 1", "wrong-type"),
            ("\"mode\"", "\"modus\"", "unknown-key"), ("{\"name\": \"plain.test\"}", "{}", "missing-key"),
            ("\"pins\": \"ours\"", "\"pins\": \"yours\"", "unknown-value"),
        ] {
            let run = try run(list.replacing(old, with: new), "--json")
            #expect(run.code == 2)
            #expect(try run.json()["error"]?["code"]?.string == code, "\(new): \(run.output)")
            #expect(try run.json()["error"]?["line"] != nil)
        }
    }
}
