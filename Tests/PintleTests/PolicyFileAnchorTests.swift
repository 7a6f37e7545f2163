import Testing

@testable import Pintle
@testable import PintlePolicyFile

@Suite("Anchors in a policy file")
struct PolicyFileAnchorTests {
    private struct NoSuchFile: Error, CustomStringConvertible {
        let description = "no such file"
    }

    private func problems(of content: String) -> [PolicyProblem] {
        let text = PolicyText.policy(PolicyText.rule("a.example", "\"anchors\": {\"include\": [\"roots.pem\"]}"))
        return PolicyText.problems(text, files: { _ in Array(content.utf8) })
    }

    @Test("All certificates of a PEM bundle with text between them are read, and so is a DER certificate")
    func reads() throws {
        let bundle =
            "# first\n" + MinimalCertificate.pem(named: "A") + "# second\n" + MinimalCertificate.pem(named: "B")
        let text = PolicyText.policy(PolicyText.rule("a.example", "\"anchors\": {\"include\": [\"a.pem\", \"b.der\"]}"))
        let policy = try PinningPolicy(json: Array(text.utf8)) { path in
            path == "a.pem" ? Array(bundle.utf8) : MinimalCertificate.der(named: "C")
        }
        #expect(
            policy.hosts.first?.anchors.certificates.map(\.der)
                == ["A", "B", "C"].map { MinimalCertificate.der(named: $0) })
        #expect(policy.hosts.first?.anchors.includesSystem == false)
    }

    @Test("Rules with the same anchors read the file once")
    func readsOnce() throws {
        let rule = "\"anchors\": {\"include\": [\"a.pem\"]}"
        let text = PolicyText.policy(PolicyText.rule("a.example", rule), PolicyText.rule("b.example", rule))
        var reads = 0
        let policy = try PinningPolicy(json: Array(text.utf8)) { _ in
            reads += 1
            return Array(MinimalCertificate.pem().utf8)
        }
        #expect(reads == 1)
        #expect(policy.hosts.count == 2)
    }

    @Test("Each unreadable certificate is reported with file, block and reason, without hiding the next one")
    func badBlock() throws {
        let good = MinimalCertificate.pem()
        let notBase64 = "-----BEGIN CERTIFICATE-----\nAA!A\n-----END CERTIFICATE-----\n"
        let notDER = PEMBlock.text(label: "CERTIFICATE", bytes: [0x30, 0x80, 0, 0])
        let found = problems(of: good + notBase64 + notDER + good)
        #expect(found.map(\.id) == ["invalid-anchor", "invalid-anchor"])
        #expect(found.allSatisfy { $0.path == "hosts[0].anchors.include[0]" && $0.line == 1 })
        #expect(found.first?.message.hasPrefix("\"roots.pem\": block 2, line ") == true)
        #expect(found.last?.message.contains("block 3, line ") == true)
        #expect(problems(of: good + good) == [])
    }

    @Test(
        "Content that is not a certificate is an error and is never skipped",
        arguments: [
            ("", "no-anchor"), ("just text", "no-anchor"),
            (PEMBlock.text(label: "PRIVATE KEY", bytes: [1]), "invalid-anchor"),
            (PEMBlock.text(label: "TRUSTED CERTIFICATE", bytes: [1]), "invalid-anchor"),
            (String(MinimalCertificate.pem().dropLast(30)), "invalid-anchor"),
        ])
    func refuses(_ content: String, _ id: String) {
        #expect(problems(of: content).map(\.id) == [id])
    }

    @Test("An unreadable file is reported with its name and the reason")
    func unreadable() {
        let text = PolicyText.policy(PolicyText.rule("a.example", "\"anchors\": {\"include\": [\"gone.pem\"]}"))
        let found = PolicyText.problems(text, files: { _ in throw NoSuchFile() })
        #expect(found.map(\.id) == ["unreadable-anchor-file"])
        #expect(found.first?.message == "cannot read the anchor file \"gone.pem\": no such file")
    }

    @Test("Private anchors for a public suffix are refused with sub-domains and accepted without")
    func publicSuffix() {
        let anchors = "\"anchors\": {\"include\": [\(JSONWriter.quoted(MinimalCertificate.pem()))]}"
        let isSuffix: (String) -> Bool = { $0 == "co.uk" }
        let broad = PolicyText.policy(PolicyText.rule("co.uk", "\"includeSubdomains\": true, \(anchors)"))
        #expect(PolicyText.problems(broad, isPublicSuffix: isSuffix).map(\.id) == ["anchors-too-broad"])
        let narrow = PolicyText.policy(PolicyText.rule("a.co.uk", "\"includeSubdomains\": true, \(anchors)"))
        #expect(PolicyText.problems(narrow, isPublicSuffix: isSuffix) == [])
        #expect(
            PolicyText.problems(PolicyText.policy(PolicyText.rule("co.uk", anchors)), isPublicSuffix: isSuffix) == [])
        // The same file is accepted by the initializer without a list, because it knows no public suffix.
        #expect(PolicyText.problems(broad) == [])
        let label = PolicyText.policy(PolicyText.rule("uk", "\"includeSubdomains\": true, \(anchors)"))
        #expect(PolicyText.ids(label) == ["anchors-too-broad"])
    }
}
