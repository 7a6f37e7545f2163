import FoundationEssentials
import Testing

@testable import Pintle
@testable import PintlePolicyLint
@testable import PintlePolicyTools

@Suite("Lint of terms about the path")
struct PathTermsLintTests {
    private static let terms = "\"minimumPathLength\": 3, \"issuerKey\": \"\(PolicyText.third)\""

    @Test(
        "Lint names terms that change nothing or let no server in",
        arguments: [
            ("\"minimumPathLength\": 1", ["path-length-without-effect hosts[0].minimumPathLength"]),
            ("\"minimumPathLength\": 4", []),
            ("\"minimumPathLength\": 5", ["path-length-unusual hosts[0].minimumPathLength"]),
            ("\"issuerKey\": \"\(PolicyText.third)\"", []),
            ("\"issuerKey\": \"\(PolicyText.pin)\"", ["issuer-key-of-leaf hosts[0].issuerKey"]),
            ("\"issuerKey\": \"\(PolicyText.backup)\"", []),
            (
                "\"issuerKey\": \"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"",
                ["placeholder-pin hosts[0].issuerKey"]
            ),
        ] as [(String, [String])])
    func lint(_ term: String, _ expected: [String]) throws {
        let rule = """
            {"host": "a.example", "pins": [{"spki": "\(PolicyText.pin)", "at": "leaf"}],
             "backupPins": ["\(PolicyText.backup)"], \(term)}
            """
        #expect(try findings(rule) == expected)
    }

    @Test("Lint names an issuer key of a root that does not issue the leaf, and rules that drop a parent's term")
    func lintContext() throws {
        let issuer = "\"issuerKey\": \"\(PolicyText.third)\""
        let root = try Pin.publicKey(PolicyText.third)
        let rule = PolicyText.rule("a.example", issuer)
        #expect(
            try findings(rule) { $0.sharedAuthority = { $0 == root ? "Root X" : nil } }
                == ["issuer-key-of-root hosts[0].issuerKey"])
        #expect(try findings(rule) == [])
        let bare = "{\"host\": \"a.example\"}"
        #expect(try findings(bare) == ["rule-without-effect hosts[0].host"])
        #expect(try findings("{\"host\": \"a.example\", \"minimumPathLength\": 3}") == [])
        let expiry = "\"expiry\": {\"after\": \"2028-01-01T00:00:00Z\", \"then\": \"reject\"}"
        #expect(
            try findings("{\"host\": \"a.example\", \"minimumPathLength\": 3, \(expiry)}")
                == ["expiry-without-effect hosts[0].expiry"])
        #expect(try findings(PolicyText.rule("a.example", expiry)) == [])
        let wide = PolicyText.rule("example.com", "\"includeSubdomains\": true, \(Self.terms)")
        #expect(try findings(wide, PolicyText.rule("x.example.com")) == ["looser-than-parent hosts[1].host"])
        #expect(try findings(wide, PolicyText.rule("x.example.com", Self.terms)) == [])
    }

    private func findings(
        _ rules: String..., change: (inout PolicyLint) -> Void = { _ in }
    ) throws -> [String] {
        var lint = PolicyLint(at: try RFC3339.date(from: "2026-11-20T00:00:00Z"))
        change(&lint)
        let text = "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}"
        return lint.report(on: Array(text.utf8)).findings.map { finding in
            let ids = finding.severity == .error ? ProblemIDs.errors : ProblemIDs.warnings
            #expect(ids.contains(finding.problem.id))
            return "\(finding.problem.id) \(finding.problem.path)"
        }
    }
}
