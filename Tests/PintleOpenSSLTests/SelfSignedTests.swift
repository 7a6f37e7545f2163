import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleStorage
import PintleTestKit
import Testing

/// Typical home-made certificates, created by `openssl req -x509` in the forms that its manual suggests.
@Suite("Self-signed servers as openssl makes them")
struct SelfSignedTests {
    enum Key: String, CaseIterable {
        case rsa = "rsa:2048"
        case ec = "ec"
        case ed25519
    }

    private static let name = "subjectAltName=DNS:\(Validation.host)"
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func make(
        _ key: Key = .ec, extensions: [String] = [SelfSignedTests.name], more: [String] = [],
        subject: String = "/CN=\(Validation.host)", to name: String = "cert.pem"
    ) throws -> CertificateBundle {
        let curve = key == .ec ? ["-pkeyopt", "ec_paramgen_curve:P-256"] : []
        let path = directory.path(of: name)
        let result = try runProcess(
            ["openssl", "req", "-x509", "-newkey", key.rawValue] + curve
                + ["-nodes", "-days", "30", "-subj", subject, "-keyout", directory.path(of: "key.pem"), "-out", path]
                + extensions.flatMap { ["-addext", $0] } + more)
        try #require(result.status == 0, "\(result.errorOutput)")
        return try CertificateBundle(contentsOfFile: path)
    }

    private func verdict(
        _ bundle: CertificateBundle, anchors: CertificateBundle? = nil, host: String = Validation.host,
        after: Double = 0, pins: [Pin] = []
    ) throws -> String {
        let policy = try PinningPolicy {
            try PinnedHost(
                host, pins: pins, backup: .noneAccepted, anchors: .only(anchors ?? bundle))
        }
        return ServerTrustEvaluator(policy: policy, validator: PathValidator(system: SystemAnchors(replacedBy: [])))
            .evaluate(
                ServerEndpoint(host: try ServerName(host)), presented: bundle.certificates.map(\.der),
                at: Date() + after
            ).decision.summary
    }

    @Test("A self-signed certificate with a name can be its own anchor", arguments: Key.allCases)
    func usual(key: Key) throws {
        let bundle = try make(key)
        #expect(bundle.certificates.first?.isCA == true)
        #expect(try verdict(bundle) == "host-not-pinned")
        #expect(try verdict(bundle, pins: bundle.publicKeyPins(at: .leaf)) == "pin-matched")
        #expect(try verdict(bundle, pins: bundle.certificatePins()) == "pin-matched")
        // Counter-check: without it as an anchor.
        #expect(try verdict(bundle, anchors: try make(key, to: "other.pem")) == "invalid-path self-signed")
    }

    @Test("A certificate with only a common name matches no host", arguments: Key.allCases)
    func noName(key: Key) throws {
        let bundle = try make(key, extensions: [])
        #expect(bundle.certificates.first?.subjectAlternativeNames == nil)
        #expect(try verdict(bundle) == "invalid-path name-mismatch")
        #expect(try verdict(try make(key)) == "host-not-pinned")
    }

    static let forms: [[String]] = [
        ["basicConstraints=critical,CA:FALSE"], ["basicConstraints=CA:TRUE,pathlen:0"],
        ["keyUsage=digitalSignature"], ["keyUsage=critical,keyCertSign,cRLSign"],
        ["extendedKeyUsage=serverAuth"], ["extendedKeyUsage=clientAuth"], ["extendedKeyUsage=critical,serverAuth"],
        ["keyUsage=critical,digitalSignature", "extendedKeyUsage=serverAuth", "basicConstraints=CA:FALSE"],
        ["nsComment=made at home"],
    ]

    @Test("The purpose of a leaf that is its own anchor does not count", arguments: forms, [Key.rsa, .ec])
    func added(extensions: [String], key: Key) throws {
        let bundle = try make(key, extensions: [Self.name] + extensions)
        #expect(try verdict(bundle) == "host-not-pinned")
        #expect(try verdict(bundle, host: "other.example.test") == "invalid-path name-mismatch")
        #expect(try verdict(bundle, after: 31 * 86_400) == "invalid-path expired")
        #expect(try verdict(bundle, after: -2 * 86_400) == "invalid-path not-yet-valid")
    }

    @Test("An address entry matches that address")
    func address() throws {
        let bundle = try make(extensions: ["subjectAltName=IP:192.0.2.7,IP:2001:db8::7"])
        #expect(try verdict(bundle, host: "192.0.2.7") == "host-not-pinned")
        #expect(try verdict(bundle, host: "2001:db8::7") == "host-not-pinned")
        #expect(try verdict(bundle, host: "192.0.2.8") == "invalid-path name-mismatch")
        let textual = try make(extensions: ["subjectAltName=DNS:192.0.2.7"])
        #expect(try verdict(textual, host: "192.0.2.7") != "host-not-pinned")
    }

    @Test("A weak key and an unknown critical extension are still refused")
    func strength() throws {
        let weak = try make(.rsa, more: ["-newkey", "rsa:1024"])
        #expect(try verdict(weak) == "invalid-path weak-key")
        let critical = try make(extensions: [Self.name, "1.2.3.4.5=critical,ASN1:NULL"])
        #expect(try verdict(critical) == "invalid-path unhandled-critical-extension")
        let harmless = try make(extensions: [Self.name, "1.2.3.4.5=ASN1:NULL"])
        #expect(try verdict(harmless) == "host-not-pinned")
    }

    @Test("A certificate of version 1 has no name to match")
    func firstVersion() throws {
        let configuration = try directory.write("[req]\ndistinguished_name=dn\n[dn]\n", to: "min.cnf")
        let bundle = try make(extensions: [], more: ["-config", configuration])
        #expect(bundle.certificates.first?.version == 1)
        #expect(try verdict(bundle) == "invalid-path name-mismatch")
        let named = try make(extensions: [Self.name], more: ["-config", configuration])
        #expect(try verdict(named) == "host-not-pinned")
    }

    @Test("A leaf below such a certificate needs the certificate to be an authority")
    func asAuthority() throws {
        let authority = try make(subject: "/CN=Home CA", to: "ca.pem")
        try directory.write(Array(try directory.read("key.pem")), to: "ca.key")
        let leaf = try make(
            extensions: [Self.name, "basicConstraints=critical,CA:FALSE"],
            more: ["-CA", directory.path(of: "ca.pem"), "-CAkey", directory.path(of: "ca.key")], to: "leaf.pem")
        #expect(leaf.certificates.first?.isSelfIssued == false)
        #expect(try verdict(leaf, anchors: authority) == "host-not-pinned")
        let noAuthority = try make(
            extensions: [Self.name, "basicConstraints=critical,CA:FALSE"], subject: "/CN=Home CA", to: "ca.pem")
        try directory.write(Array(try directory.read("key.pem")), to: "ca.key")
        let below = try make(
            extensions: [Self.name, "basicConstraints=critical,CA:FALSE"],
            more: ["-CA", directory.path(of: "ca.pem"), "-CAkey", directory.path(of: "ca.key")], to: "leaf.pem")
        #expect(try verdict(below, anchors: noAuthority) == "invalid-path not-a-ca")
    }
}
