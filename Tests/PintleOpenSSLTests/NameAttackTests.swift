import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleSuffixes
import PintleTestKit
import Testing

/// Names that must not match, each beside a matching name that differs in one point (RFC 9525 section 6).
@Suite("Name attacks")
struct NameAttackTests {
    private let root: CertificateAuthority

    init() throws {
        root = try .root()
    }

    /// Returns the reason and the path failure for a leaf with these names and a useless common name.
    private func verdict(
        _ names: [CertificateTemplate.GeneralName], host: String, commonName: String = "Some Server"
    ) throws -> String {
        let identity = try root.issue(hosts: []) {
            $0.subject = .commonName(commonName)
            $0.subjectAltNames = names
        }
        return try Validation.decide(identity.chain, anchors: [root.certificate], host: host).summary
    }

    private static let matches = "host-not-pinned"
    private static let differs = "invalid-path name-mismatch"
    /// The result for a name with a control character beside the right one.
    private static let unsound = "invalid-path other"

    @Test("A DNS name that is not ASCII makes the leaf malformed, and the text names the field")
    func foreignName() throws {
        func failure(_ name: String) throws -> PathFailure? {
            let leaf = try root.issue(hosts: [Validation.host]) { $0.subjectAltNames.append(.dns(name)) }
            let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
            guard case .rejected(.invalidPath(let failure)) = decision else { return nil }
            return failure
        }
        let found = try #require(try failure("bücher.example.test"))
        #expect(found.code == .malformedCertificate && found.primary.text.hasPrefix("dNSName at byte "))
        #expect(try failure("xn--bcher-kva.example.test") == nil)
    }

    @Test(
        "A wildcard stands for exactly one label",
        arguments: [
            ("a.example.test", matches), ("a.b.example.test", differs), ("example.test", differs),
            ("aexample.test", differs), ("A.EXAMPLE.test.", matches),
        ])
    func wildcardLabel(host: String, expected: String) throws {
        #expect(try verdict([.dns("*.example.test")], host: host) == expected)
    }

    @Test(
        "A wildcard must be the whole left-most label",
        arguments: [
            ("w*.example.test", "www.example.test"), ("*w.example.test", "www.example.test"),
            ("w*w.example.test", "www.example.test"), ("www.*.test", "www.example.test"),
            ("*.*.example.test", "a.b.example.test"), ("**.example.test", "www.example.test"),
            ("*", "localhost"), ("*.", "localhost"), ("*www.example.test", "www.example.test"),
        ])
    func partialWildcard(pattern: String, host: String) throws {
        #expect(try verdict([.dns(pattern)], host: host) == Self.differs)
        #expect(try verdict([.dns(host)], host: host) == Self.matches)
        #expect(try verdict([.dns(host), .dns(pattern)], host: host) == Self.matches)
    }

    @Test(
        "A dNSName that is not a DNS name matches nothing, is named, and leaves the other names valid",
        arguments: [
            "192.0.2.7", "2001:db8::7", "exa mple.test", "server.example.test:443", "https://server.example.test/",
            "", ".", "server.example.test.", ".example.test", "a..test", "under_score.example.test", "-a.test",
            "a-.test",
            "w*.example.test", "*.*.test", "root@example.test", "server.example.test/path", "(none)",
            String(repeating: "a", count: 64) + ".test", String(repeating: "abcdefg.", count: 40) + "test",
        ])
    func misspelt(name: String) throws {
        #expect(try verdict([.dns(Validation.host), .dns(name)], host: Validation.host) == Self.matches)
        #expect(try verdict([.dns(name), .dns(Validation.host)], host: Validation.host) == Self.matches)
        let leaf = try root.issue(hosts: []) { $0.subjectAltNames = [.dns("other.test"), .dns(name)] }
        let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
        guard case .rejected(.invalidPath(let failure)) = decision else {
            return #expect(Bool(false), "trusted as \(Validation.host)")
        }
        #expect(failure.code == .nameMismatch && failure.detail.count == 1)
        let text = failure.detail.first?.text ?? ""
        #expect(text.hasPrefix("not a DNS name: " + (name.isEmpty ? "an empty text" : name.prefix(253))), "\(text)")
    }

    @Test("A host does not match a name that OpenSSL compares and that does not count")
    func rawMatch() throws {
        let host = "under_score.example.test"
        #expect(try verdict([.dns(host)], host: host) == Self.differs)
        #expect(try verdict([.dns("*.example.test")], host: host) == Self.differs)
        #expect(try verdict([.dns("under-score.example.test")], host: "under-score.example.test") == Self.matches)
    }

    @Test("Findings name at most eight of the names that do not count")
    func manyMisspelt() throws {
        let leaf = try root.issue(hosts: []) { $0.subjectAltNames = (0..<20).map { .dns("a_\($0).test") } }
        let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
        guard case .rejected(.invalidPath(let failure)) = decision else { return #expect(Bool(false)) }
        #expect(failure.detail.count == 9)
        #expect(failure.detail.last?.text == "12 more names that are not DNS names")
    }

    @Test("An address that is another spelling of the one that systems connect to is refused, the other is not")
    func alias() throws {
        for host in ["::ffff:192.0.2.7", "0.0.0.0", "::"] {
            #expect(try verdict([.host(host)], host: host) == "invalid-path other")
        }
        for host in ["192.0.2.7", "127.0.0.1", "::1"] {
            #expect(try verdict([.host(host)], host: host) == Self.matches)
        }
    }

    @Test(
        "A wildcard below a public suffix is refused, and one below a registered domain is not",
        .enabled(if: PublicSuffixList.system.contains("co.uk"), "skipped: libpsl knows no list"),
        arguments: [
            ("*.com", "example.com", differs), ("*.co.uk", "example.co.uk", differs),
            ("*.CO.UK", "example.co.uk", differs), ("*.example.co.uk", "www.example.co.uk", matches),
            ("*.example.com", "www.example.com", matches), ("example.com", "example.com", matches),
        ])
    func publicSuffix(pattern: String, host: String, expected: String) throws {
        #expect(try verdict([.dns(pattern)], host: host) == expected)
        let beside = expected == Self.matches ? Self.matches : Self.differs
        #expect(try verdict([.dns(host), .dns(pattern)], host: host) == beside)
    }

    @Test(
        "Without a list, a wildcard below fewer than three labels is refused, and the finding names the list",
        arguments: [
            ("*.co.uk", "example.co.uk", true), ("*.example.com", "www.example.com", true),
            ("*.www.example.com", "a.www.example.com", false), ("example.co.uk", "example.co.uk", false),
        ])
    func missingList(pattern: String, host: String, isRefused: Bool) throws {
        let identity = try root.issue(hosts: []) { $0.subjectAltNames = [.dns(pattern)] }
        let decision = try Validation.decide(
            identity.chain, anchors: [root.certificate], host: host, suffixes: .missing)
        #expect(decision.summary == (isRefused ? Self.differs : Self.matches))
        guard isRefused, case .rejected(.invalidPath(let failure)) = decision else { return }
        #expect(failure.primary.text.contains("there is no public suffix list; install publicsuffix"))
    }

    @Test("A NUL does not end a name")
    func nul() throws {
        let host = Validation.host
        #expect(try verdict([.dns(host + "\0.attacker.test")], host: host) == Self.differs)
        #expect(try verdict([.dns(host + "\0")], host: host) == Self.differs)
        #expect(try verdict([.dns(host), .dns(host + "\0.attacker.test")], host: host) == Self.unsound)
        #expect(try verdict([.dns(host), .dns(host + ".attacker.test")], host: host) == Self.matches)
    }

    @Test("A wildcard above a public suffix, which a user may accept, does not hide a NUL in another name")
    func hiddenNul() throws {
        let endpoint = ServerEndpoint(host: try ServerName(Validation.host))
        func verdict(_ names: String...) throws -> String {
            let identity = try Identity.selfSigned(hosts: []) { $0.subjectAltNames = names.map { .dns($0) } }
            let leaf = try Certificate(der: identity.certificate.der)
            let approval = try TrustApproval(
                .certificate(leaf.fingerprint), for: endpoint, accepting: [.selfSigned, .nameMismatch], at: Date())
            return try PinningPolicy(hosts: [], unpinnedHosts: .askUser).evaluate(
                endpoint, presented: [leaf.der], approvals: TrustApprovals([approval]), at: Date(),
                validate: PathValidator(system: SystemAnchors(replacedBy: [])).validate
            ).decision.summary
        }
        #expect(try verdict("*.com", "a\0.test") == Self.unsound)
        #expect(try verdict("a\0.test", "*.com") == Self.unsound)
        #expect(try verdict("*.com", "a.test") == "user-approved")
    }

    @Test("Names are compared without case")
    func letterCase() throws {
        #expect(try verdict([.dns("SERVER.Example.TEST")], host: "server.example.test") == Self.matches)
        #expect(try verdict([.dns("server.example.test")], host: "SERVER.Example.TEST") == Self.matches)
        #expect(try verdict([.dns("*.EXAMPLE.test")], host: "Server.example.TEST") == Self.matches)
        #expect(try verdict([.dns("SERVERS.Example.TEST")], host: "server.example.test") == Self.differs)
    }

    @Test("The requested host may end in a dot, but a name in a certificate may not")
    func trailingDot() throws {
        #expect(try verdict([.dns("server.example.test")], host: "server.example.test.") == Self.matches)
        #expect(try verdict([.dns("server.example.test")], host: "server.example.test") == Self.matches)
        for host in ["server.example.test", "server.example.test."] {
            #expect(try verdict([.dns("server.example.test.")], host: host) == Self.differs)
        }
    }

    @Test("A wildcard may stand beside an A-label but not inside it")
    func internationalized() throws {
        let host = "xn--bcher-kva.example.test"
        #expect(try verdict([.dns(host)], host: host) == Self.matches)
        #expect(try verdict([.dns("XN--bcher-KVA.example.test")], host: host) == Self.matches)
        #expect(try verdict([.dns("*.example.test")], host: host) == Self.matches)
        #expect(try verdict([.dns("*.\(host)")], host: "www.\(host)") == Self.matches)
        #expect(try verdict([.dns("*.\(host)")], host: "www.xn--bcher-kvb.example.test") == Self.differs)
        for pattern in ["xn--*.example.test", "xn--b*-kva.example.test", "*n--bcher-kva.example.test"] {
            #expect(try verdict([.dns(pattern)], host: host) == Self.differs, "\(pattern)")
        }
    }

    @Test("A name in Unicode does not match, whatever its encoded form is")
    func unicode() throws {
        let host = "xn--bcher-kva.example.test"
        #expect(try verdict([.dns("bücher.example.test")], host: host) == "invalid-path malformed-certificate")
        #expect(try verdict([.dns(host)], host: host) == Self.matches)
    }

    @Test(
        "An address matches only address entries, never text that looks like an address",
        arguments: [
            ("192.0.2.7", "192.0.2.8"), ("2001:db8::7", "2001:db8::8"), ("::1", "::2"),
            // An IPv4 address differs from the IPv6 address that maps it.
            ("192.0.2.7", "::ffff:192.0.2.7"),
        ])
    func address(host: String, other: String) throws {
        #expect(try verdict([.host(host)], host: host) == Self.matches)
        #expect(try verdict([.host(other)], host: host) == Self.differs)
        #expect(try verdict([.dns(host)], host: host) == Self.differs)
        #expect(try verdict([.dns("server.example.test"), .host(host)], host: host) == Self.matches)
    }

    @Test("A wildcard does not match an address, and an address entry does not match a name")
    func addressAndWildcard() throws {
        #expect(try verdict([.dns("*.0.2.7")], host: "192.0.2.7") == Self.differs)
        #expect(try verdict([.dns("*")], host: "192.0.2.7") == Self.differs)
        // The four bytes of an address entry spell the four characters of the name.
        #expect(try verdict([.ip(Array("a.bc".utf8))], host: "a.bc") == Self.differs)
        #expect(try verdict([.dns("a.bc")], host: "a.bc") == Self.matches)
    }

    @Test("Every notation of an IPv6 address matches", arguments: ["2001:db8::7", "[2001:DB8:0:0::7]"])
    func addressSpellings(host: String) throws {
        #expect(try verdict([.host("2001:db8::7")], host: host) == Self.matches)
        #expect(try verdict([.host("2001:db8::70")], host: host) == Self.differs)
    }

    @Test(
        "The common name never matches",
        arguments: ["server.example.test", "192.0.2.7", "2001:db8::7"])
    func commonName(host: String) throws {
        #expect(try verdict([], host: host, commonName: host) == Self.differs)
        #expect(try verdict([.host(host)], host: host, commonName: "other.example.test") == Self.matches)
        for names: [CertificateTemplate.GeneralName] in [
            [.email("root@\(host)")], [.uri("https://\(host)/")], [.email("root@\(host)"), .uri("https://\(host)/")],
            [.directory(.commonName(host))], [.dns("other.example.test")], [.host("192.0.2.99")],
        ] {
            #expect(try verdict(names, host: host, commonName: host) == Self.differs, "\(names)")
            #expect(try verdict(names + [.host(host)], host: host, commonName: host) == Self.matches, "\(names)")
        }
    }
}
