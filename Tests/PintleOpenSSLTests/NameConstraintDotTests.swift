import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Name constraints on DNS names that begin with a dot. RFC 5280 section 4.2.1.10 has none, and public authorities use
/// them: they stand for the sub-domains. An excluded one excludes the domain itself too.
@Suite("Name constraints with a leading dot")
struct NameConstraintDotTests {
    private static let accepted = "host-not-pinned"
    private static let refused = "invalid-path name-constraint-violation"

    /// Returns the verdicts with the constraint in an intermediate and in the root.
    private func verdicts(
        permitted: [String] = [], excluded: [String] = [], name: String, host: String
    ) throws -> [String] {
        let field = CertificateExtension.nameConstraints(
            permitted: permitted.map { .dns($0) }, excluded: excluded.map { .dns($0) })
        return try [false, true].map { atRoot in
            let root = try CertificateAuthority.root { if atRoot { $0.nameConstraints = field } }
            let authority = try root.intermediate { if !atRoot { $0.nameConstraints = field } }
            let leaf = try authority.issue(hosts: [name])
            return try Validation.decide(leaf.chain, anchors: [root.certificate], host: host).summary
        }
    }

    @Test(
        "A permitted name with a dot allows the sub-domains, and does not touch addresses",
        arguments: [
            ("server.example.test", "server.example.test", true), ("a.b.example.test", "a.b.example.test", true),
            ("SERVER.Example.TEST", "server.example.test", true), ("*.example.test", "server.example.test", true),
            ("192.0.2.7", "192.0.2.7", true), ("example.test", "example.test", false),
            ("serverexample.test", "serverexample.test", false), ("server.example.org", "server.example.org", false),
            ("*.example.org", "server.example.org", false),
        ])
    func permitted(name: String, host: String, isAllowed: Bool) throws {
        let expected = isAllowed ? Self.accepted : Self.refused
        for verdict in try verdicts(permitted: [".example.test"], name: name, host: host) {
            #expect(verdict == expected)
        }
        // Beside the top-level domains of an authority in a country.
        for verdict in try verdicts(permitted: [".gr", ".example.test", ".edu"], name: name, host: host) {
            #expect(verdict == expected)
        }
    }

    @Test(
        "An excluded name with a dot excludes the domain, its sub-domains and wildcards for them",
        arguments: [
            ("server.example.test", "server.example.test", false), ("a.b.example.test", "a.b.example.test", false),
            ("example.test", "example.test", false), ("Example.TEST", "example.test", false),
            ("*.example.test", "server.example.test", false), ("*.sub.example.test", "a.sub.example.test", false),
            ("192.0.2.7", "192.0.2.7", true), ("serverexample.test", "serverexample.test", true),
            ("server.example.org", "server.example.org", true), ("*.example.org", "server.example.org", true),
        ])
    func excluded(name: String, host: String, isAllowed: Bool) throws {
        for verdict in try verdicts(excluded: [".example.test"], name: name, host: host) {
            #expect(verdict == (isAllowed ? Self.accepted : Self.refused))
        }
    }

    @Test("A wildcard is refused if it stands for the domain of an excluded name with a dot")
    func wildcardAbove() throws {
        let server = (name: "*.example.test", host: "server.example.test")
        let one = try verdicts(excluded: [".secret.example.test"], name: server.name, host: server.host)
        #expect(one == [Self.refused, Self.refused])
        let two = try verdicts(excluded: [".very.secret.example.test"], name: server.name, host: server.host)
        #expect(two == [Self.accepted, Self.accepted])
    }

    @Test(
        "An excluded name that cannot be read makes the path invalid, because it would exclude nothing",
        arguments: [
            (".", false), ("..example.org", false), ("example.org.", false), ("*.example.org", false),
            ("exam ple.org", false), ("example.org", true), (".example.org", true),
        ])
    func unreadable(base: String, isReadable: Bool) throws {
        let found = try verdicts(excluded: [base], name: "server.example.test", host: "server.example.test")
        #expect(found == Array(repeating: isReadable ? Self.accepted : Self.refused, count: 2))
        let permitted = try verdicts(
            permitted: ["example.test", base], name: "server.example.test", host: "server.example.test")
        #expect(permitted == [Self.accepted, Self.accepted])
    }
}
