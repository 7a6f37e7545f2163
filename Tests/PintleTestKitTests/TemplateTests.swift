import FoundationEssentials
import PintleTestKit
import Testing

@Suite("Certificate templates")
struct TemplateTests {
    let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority.root()
    }

    func text(_ configure: (inout CertificateTemplate) -> Void) throws -> String {
        try MintingTests.text(root.issue(hosts: ["a.test"], configure: configure).certificate.der).output
    }

    @Test("openssl prints the value of each field")
    func fields() throws {
        let text = try text { template in
            template.subject = [.country("DE"), .organization("Org"), .commonName("x")]
            template.serialNumber = [0x01, 0x02, 0x03]
            template.notBefore = .date(Date(timeIntervalSince1970: 951_782_400))
            template.subjectAltNames = [
                .dns("*.a.test"), .host("192.0.2.7"), .host("2001:db8::1"), .email("a@b.test"), .uri("https://u.test/"),
                .directory(.commonName("dir")), .other([1, 2, 3], "other"),
            ]
            template.basicConstraints = .init(isCA: true, pathLength: 300)
            template.keyUsage = [.digitalSignature, .cRLSign, .decipherOnly]
            template.extendedKeyUsage = [.serverAuth, .clientAuth, .anyExtendedKeyUsage]
            template.isExtendedKeyUsageCritical = true
            template.nameConstraints = .nameConstraints(
                permitted: [.dns("a.test")], excluded: [.ip([10, 0, 0, 0, 255, 0, 0, 0])])
            template.extraExtensions = [
                .authorityInfoAccess(ocsp: [.uri("http://o.test")], caIssuers: [.uri("http://c.test")]),
                .policyConstraints(requireExplicitPolicy: 1, inhibitPolicyMapping: 0),
                .certificatePolicies([[2, 23, 140, 1, 2, 1]]), .inhibitAnyPolicy(skipping: 2),
                CertificateExtension([1, 2, 3, 4], critical: true, value: [0x05, 0x00]),
            ]
        }
        let expected = [
            "Version: 3 (0x2)", "66051 (0x10203)", "C = DE, O = Org, CN = x", "Feb 29 00:00:00 2000 GMT",
            "DNS:*.a.test, IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:1",
            "email:a@b.test, URI:https://u.test/, DirName:/CN=dir", "CA:TRUE, pathlen:300",
            "Digital Signature, CRL Sign, Decipher Only", "Extended Key Usage: critical",
            "TLS Web Server Authentication, TLS Web Client Authentication, Any Extended Key Usage", "DNS:a.test",
            "IP:10.0.0.0/255.0.0.0", "OCSP - URI:http://o.test", "CA Issuers - URI:http://c.test",
            "Require Explicit Policy:1, Inhibit Policy Mapping:0", "Policy: 2.23.140.1.2.1", "1.2.3.4: critical",
        ]
        for line in expected { #expect(text.contains(line), "\(line) in \(text)") }
    }

    @Test(
        "Times from 1950 to 2049 are UTCTime, all others GeneralizedTime",
        arguments: [
            (2_524_607_999.0, "Dec 31 23:59:59 2049 GMT", "UTCTIME"),
            (2_524_608_000.0, "Jan  1 00:00:00 2050 GMT", "GENERALIZEDTIME"),
            (-631_152_001.0, "Dec 31 23:59:59 1949 GMT", "GENERALIZEDTIME"),
            (-631_152_000.0, "Jan  1 00:00:00 1950 GMT", "UTCTIME"),
            (4_107_542_399.0, "Feb 28 23:59:59 2100 GMT", "GENERALIZEDTIME"),
            (4_107_542_400.0, "Mar  1 00:00:00 2100 GMT", "GENERALIZEDTIME"),
            (253_402_300_799.0, "Dec 31 23:59:59 9999 GMT", "GENERALIZEDTIME"),
        ])
    func times(_ seconds: Double, _ printed: String, _ type: String) throws {
        let der = try root.issue { $0.notAfter = .date(Date(timeIntervalSince1970: seconds)) }.certificate.der
        #expect(try MintingTests.text(der).output.contains("Not After : \(printed)"))
        let parsed = try runProcess(["openssl", "asn1parse", "-inform", "DER"], input: der)
        let times = parsed.output.split(separator: "\n").filter { $0.contains("TIME") }
        #expect(times.last?.contains(type) == true)
    }

    @Test("A certificate can omit version, key usage, purposes and basic constraints")
    func absences() throws {
        let text = try text { template in
            template.version = nil
            template.basicConstraints = nil
            template.keyUsage = nil
            template.extendedKeyUsage = nil
            template.subjectAltNames = []
            template.subjectKeyIdentifier = .absent
            template.authorityKeyIdentifier = .absent
        }
        #expect(text.contains("Version: 1 (0x0)"))
        #expect(!text.contains("X509v3"))
    }

    @Test("The alternative names are critical only if the subject is empty")
    func emptySubject() throws {
        #expect(try text { $0.subject = .empty }.contains("Subject Alternative Name: critical"))
        #expect(try !text { $0.subject = .commonName("a") }.contains("Subject Alternative Name: critical"))
    }

    @Test("A certificate can have an extension twice")
    func duplicateExtension() throws {
        let text = try text { $0.extraExtensions = [.subjectAltName([.dns("b.test")])] }
        #expect(text.contains("DNS:a.test") && text.contains("DNS:b.test"))
    }

    @Test("Minting writes control characters and bidirectional overrides unchanged")
    func hostileText() throws {
        let name = "a\u{1B}[31m\u{202E}moc\0.test"
        let der = try root.issue { $0.subject = .commonName(name) }.certificate.der
        let pattern = Array(name.utf8)
        #expect(der.indices.contains { der[$0...].starts(with: pattern) })
    }
}
