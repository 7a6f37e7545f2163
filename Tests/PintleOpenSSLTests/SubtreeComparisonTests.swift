import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Name constraints on e-mail addresses, URIs and IP addresses that a server's certificate has beside its DNS name.
@Suite("Name constraints on other names than the server's")
struct SubtreeComparisonTests {
    typealias Name = CertificateTemplate.GeneralName

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var permitted: [Name] = []
        var excluded: [Name] = []
        let names: [Name]
        let isAllowed: Bool

        init(_ names: Name..., permitted: [Name] = [], excluded: [Name] = [], isAllowed: Bool) {
            testDescription = "\(names) permitted \(permitted) excluded \(excluded)"
            (self.permitted, self.excluded, self.names, self.isAllowed) = (permitted, excluded, names, isAllowed)
        }
    }

    private static let refusal = "invalid-path name-constraint-violation"

    private func check(_ item: Case, subject: CertificateTemplate.DistinguishedName? = nil) throws {
        // Constraints without a name break the standard.
        let field: CertificateExtension? =
            item.permitted.isEmpty && item.excluded.isEmpty
            ? nil : .nameConstraints(permitted: item.permitted, excluded: item.excluded)
        for atRoot in [false, true] {
            let root = try CertificateAuthority.root { if atRoot { $0.nameConstraints = field } }
            let authority = try root.intermediate { if !atRoot { $0.nameConstraints = field } }
            let leaf = try authority.issue(hosts: [Validation.host]) {
                $0.subjectAltNames += item.names
                if let subject { $0.subject = subject }
            }
            let verdict = try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
            #expect(verdict == (item.isAllowed ? "host-not-pinned" : Self.refusal), "at the root: \(atRoot)")
        }
    }

    @Test(
        "An e-mail address must be comparable and outside of the excluded names",
        arguments: [
            Case(.email("a@example.test"), excluded: [.email("")], isAllowed: false),
            Case(.email("a@example.test"), excluded: [.email(".")], isAllowed: false),
            Case(excluded: [.email("")], isAllowed: true),
            Case(.email("a@example.test"), excluded: [.email("example.test")], isAllowed: false),
            Case(.email("a@EXAMPLE.test"), excluded: [.email("example.test")], isAllowed: false),
            Case(.email("a@other.test"), excluded: [.email("example.test")], isAllowed: true),
            Case(.email("a@mail.example.test"), excluded: [.email(".example.test")], isAllowed: false),
            Case(.email("a@example.test"), excluded: [.email(".example.test")], isAllowed: true),
            Case(.email("a@example.test."), excluded: [.email("example.test")], isAllowed: false),
            Case(.email("\"a\"@example.test"), excluded: [.email("a@example.test")], isAllowed: false),
            Case(.email("b@example.test"), excluded: [.email("a@example.test")], isAllowed: true),
            Case(.email("a@example.test"), excluded: [.email("a@example.test")], isAllowed: false),
            Case(.email("a@other.test"), excluded: [.email("exam ple.test")], isAllowed: false),
            Case(excluded: [.email("exam ple.test")], isAllowed: true),
            Case(.email("root"), excluded: [.email("example.test")], isAllowed: false),
            Case(.email("root"), isAllowed: true),
            Case(.email("a@example.test"), permitted: [.email("example.test")], isAllowed: true),
            Case(.email("a@other.test"), permitted: [.email("example.test")], isAllowed: false),
        ] as [Case])
    func mail(_ item: Case) throws { try check(item) }

    @Test(
        "A URI must have a DNS name that can be compared and is outside of the excluded names",
        arguments: [
            Case(.uri("https://example.test/"), excluded: [.uri("")], isAllowed: false),
            Case(.uri("https://example.test/"), excluded: [.uri(".")], isAllowed: false),
            Case(excluded: [.uri("")], isAllowed: true),
            Case(.uri("https://user@example.test/"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://user@other.test/"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://other.test/"), excluded: [.uri("example.test")], isAllowed: true),
            Case(.uri("https://good.test:x@evil.test/"), permitted: [.uri("good.test")], isAllowed: false),
            Case(.uri("https://good.test:443/x"), permitted: [.uri("good.test")], isAllowed: true),
            Case(.uri("https://192.0.2.1/"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://192.0.2.1/"), isAllowed: true),
            Case(.uri("https://[2001:db8::1]/"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://example.test/a:b"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://example.test?a"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://example.test#a"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://EXAMPLE.test"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://example.test./"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("https://ex%61mple.test/"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("urn:uuid:1"), excluded: [.uri("example.test")], isAllowed: false),
            Case(.uri("urn:uuid:1"), isAllowed: true),
            Case(.uri("https://a.example.test/"), excluded: [.uri(".example.test")], isAllowed: false),
            Case(.uri("https://example.test/"), excluded: [.uri(".example.test")], isAllowed: true),
            Case(.uri("https://evil.test/a.good.test:b"), permitted: [.uri(".good.test")], isAllowed: false),
            Case(.uri("https://a.good.test/"), permitted: [.uri(".good.test")], isAllowed: true),
            Case(.uri("https://other.test/"), excluded: [.uri("192.0.2.1")], isAllowed: false),
            Case(.uri("//evil.test/x://good.test/"), excluded: [.uri("evil.test")], isAllowed: false),
            Case(.uri("//evil.test/x://good.test/"), permitted: [.uri("good.test")], isAllowed: false),
            Case(.uri("x://good.test/"), permitted: [.uri("good.test")], isAllowed: true),
        ] as [Case])
    func uri(_ item: Case) throws { try check(item) }

    @Test(
        "A range of addresses must have a mask of ones before zeros",
        arguments: [
            Case(excluded: [.ip([192, 0, 2, 0, 255, 0, 255, 0])], isAllowed: false),
            Case(excluded: [.ip([192, 0, 2, 0, 255, 255, 255, 0])], isAllowed: true),
            Case(excluded: [.ip([192, 0, 2, 0, 255, 255, 253, 0])], isAllowed: false),
            Case(excluded: [.ip([192, 0, 2, 0, 255, 255, 254, 0])], isAllowed: true),
            Case(excluded: [.ip([192, 0, 2, 0, 0, 0, 0, 1])], isAllowed: false),
            Case(excluded: [.ip([0, 0, 0, 0, 0, 0, 0, 0])], isAllowed: true),
            Case(excluded: [.ip([UInt8](repeating: 0, count: 32))], isAllowed: true),
            Case(excluded: [.ip([192, 0, 2, 0, 255])], isAllowed: false),
            Case(excluded: [.ip([])], isAllowed: false),
            Case(.ip([192, 0, 2, 7]), permitted: [.ip([192, 0, 2, 0, 255, 255, 255, 0])], isAllowed: true),
            Case(.ip([192, 0, 2, 7]), permitted: [.ip([192, 0, 2, 0, 255, 0, 255, 0])], isAllowed: false),
            Case(.ip([192, 0, 2]), excluded: [.ip([10, 0, 0, 0, 255, 0, 0, 0])], isAllowed: false),
        ] as [Case])
    func address(_ item: Case) throws { try check(item) }

    @Test("The e-mail addresses of a subject, and internationalized ones, are excluded by an empty base")
    func otherPlaces() throws {
        let address = CertificateTemplate.DistinguishedName.Attribute(
            [1, 2, 840, 113_549, 1, 9, 1], valueDER: [0x16, 14] + Array("a@example.test".utf8))
        let international = Self.international("ä@example.test")
        for (base, isAllowed) in [("", false), ("other.test", true)] {
            try check(Case(excluded: [.email(base)], isAllowed: isAllowed), subject: [address])
            try check(Case(international, excluded: [.email(base)], isAllowed: isAllowed))
        }
    }

    private static func international(_ address: String) -> Name { .other([1, 3, 6, 1, 5, 5, 7, 8, 9], address) }

    // OpenSSL 3.0 compares them only with a host without a leading dot, in its Unicode form.
    @Test(
        "An internationalized e-mail address is compared with each form of an excluded name",
        arguments: [
            Case(international("ä@example.test"), excluded: [.email("example.test")], isAllowed: false),
            Case(international("ä@example.test"), excluded: [.email("other.test")], isAllowed: true),
            Case(international("ä@mail.example.test"), excluded: [.email(".example.test")], isAllowed: false),
            Case(international("ä@example.test"), excluded: [.email(".example.test")], isAllowed: true),
            Case(international("a@example.test"), excluded: [.email("a@example.test")], isAllowed: false),
            Case(international("ä@example.test"), excluded: [.email("a@example.test")], isAllowed: true),
            Case(international("ä@xn--4ca.test"), excluded: [.email("xn--4ca.test")], isAllowed: false),
            Case(international("ä@xn--4ca.test"), excluded: [.email("xn--nda.test")], isAllowed: true),
            Case(international("b@Ä.test"), excluded: [.email("xn--4ca.test")], isAllowed: false),
            Case(international("ä@example.test."), excluded: [.email("example.test")], isAllowed: false),
            Case(international("ä@example.test"), excluded: [international("example.test")], isAllowed: false),
            Case(excluded: [international("example.test")], isAllowed: true),
            Case(international("b@Ä.test"), isAllowed: true),
            Case(international("ä@example.test"), permitted: [.email("example.test")], isAllowed: true),
            Case(international("ä@other.test"), permitted: [.email("example.test")], isAllowed: false),
        ] as [Case])
    func internationalMail(_ item: Case) throws { try check(item) }

    @Test("Constraints apply to intermediates too, but not to self-issued ones", arguments: [true, false])
    func intermediates(isSelfIssued: Bool) throws {
        let root = try CertificateAuthority.root {
            $0.nameConstraints = .nameConstraints(excluded: [.email("")])
        }
        let authority = try root.intermediate {
            if isSelfIssued { $0.subject = root.certificate.subject }
            $0.subjectAltNames = [.email("a@example.test")]
        }
        let leaf = try authority.issue(hosts: [Validation.host])
        let verdict = try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
        #expect(verdict == (isSelfIssued ? "host-not-pinned" : Self.refusal))
    }
}

@Suite("Intermediates that cannot be read")
struct UnreadableIssuerTests {
    @Test(
        "A failure names the intermediate that was sent and cannot be read, and only then", arguments: [true, false])
    func named(isReadable: Bool) throws {
        let root = try CertificateAuthority.root()
        let authority = try root.intermediate(name: "Broken Authority") {
            guard !isReadable else { return }
            $0.editExtensions = { list in
                list.append(CertificateExtension([2, 5, 29, 30], critical: false, value: [0x30, 0]))
            }
        }
        let leaf = try authority.issue(hosts: [Validation.host])
        let sent = try Validation.decide(leaf.chain, anchors: [root.certificate])
        #expect(sent.summary == (isReadable ? "host-not-pinned" : "invalid-path untrusted-root"))
        if case .rejected(.invalidPath(let failure)) = sent {
            let named = try #require(failure.unreadableIssuer)
            #expect(named.text.contains("certificate 1") && named.text.contains("CN=Broken Authority"))
            #expect(named.text.contains("nameConstraints at byte") && failure.detail.last == named)
        }
        let missing = try Validation.decide([leaf.certificate.der], anchors: [root.certificate])
        guard case .rejected(.invalidPath(let failure)) = missing else {
            Issue.record("trusted without its issuer")
            return
        }
        #expect(failure.code == .untrustedRoot && failure.unreadableIssuer == nil)
    }
}
