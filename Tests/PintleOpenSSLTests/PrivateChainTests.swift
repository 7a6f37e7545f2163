import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Chains of private authorities that lack what RFC 5280 demands of public ones, and that other validators accept.
@Suite("Private chains")
struct PrivateChainTests {
    /// A change of the root, the intermediate and the leaf.
    struct Shape: Sendable, CustomTestStringConvertible {
        typealias Change = @Sendable (inout CertificateTemplate) -> Void
        let testDescription: String
        /// The verdict on a path to a root of the system.
        let system: String
        let root: Change
        let authority: Change
        let leaf: Change

        init(
            _ description: String, _ system: String = "invalid-path other", root: @escaping Change = { _ in },
            authority: @escaping Change = { _ in }, leaf: @escaping Change = { _ in }
        ) {
            testDescription = description
            (self.system, self.root, self.authority, self.leaf) = (system, root, authority, leaf)
        }
    }

    private static let accepted = "host-not-pinned"

    /// Returns the verdicts on a shape: below an anchor of a rule, below one beside the system's roots, below one that
    /// is both, and below a root of the system.
    private func verdicts(_ shape: Shape) throws -> [String] {
        let root = try CertificateAuthority.root(name: "Private Root", configure: shape.root)
        let other = try CertificateAuthority.root(name: "Other Root")
        let leaf = try root.intermediate(configure: shape.authority).issue(
            hosts: [Validation.host], configure: shape.leaf)
        func verdict(_ anchors: [CertificateAuthority], _ system: [CertificateAuthority]?) throws -> String {
            func parse(_ list: [CertificateAuthority]) throws -> [Certificate] {
                try list.map { try Certificate(der: $0.certificate.der) }
            }
            let rule = try PinnedHost(
                Validation.host, pins: [Pin](),
                anchors: TrustAnchors(try parse(anchors), includesSystem: system != nil))
            let validator = PathValidator(system: SystemAnchors(replacedBy: try parse(system ?? [])))
            return try PinningPolicy(hosts: [rule]).evaluate(
                ServerEndpoint(host: try ServerName(Validation.host)), presented: leaf.chain, at: Date(),
                validate: validator.validate
            ).decision.summary
        }
        return [
            try verdict([root], nil), try verdict([root], [other]), try verdict([root], [root]),
            try verdict([other], [root]),
            try Validation.decide(leaf.chain, anchors: [root.certificate]).summary,
        ]
    }

    private static let constraints = CertificateExtension.policyConstraints(
        requireExplicitPolicy: 9, critical: false)

    @Test(
        "A path to a rule's anchor may lack what private authorities leave out, and a path to a root may not",
        arguments: [
            Shape("complete", accepted),
            Shape(
                "no key identifiers", authority: { $0.subjectKeyIdentifier = .absent },
                leaf: { $0.authorityKeyIdentifier = .absent }),
            Shape("no subject key identifier", authority: { $0.subjectKeyIdentifier = .absent }),
            Shape("no key usage", authority: { $0.keyUsage = nil }),
            Shape(
                "a path length without key usage",
                authority: {
                    $0.basicConstraints = .init(isCA: true, pathLength: 0)
                    $0.keyUsage = nil
                }),
            Shape(
                "basic constraints that are not critical",
                authority: { $0.basicConstraints = .init(isCA: true, pathLength: 0, critical: false) }),
            Shape(
                "a root without key identifier", accepted, root: { $0.subjectKeyIdentifier = .absent },
                authority: { $0.authorityKeyIdentifier = .octets([1]) }),
            Shape("a root without key usage", accepted, root: { $0.keyUsage = nil }),
            Shape(
                "a root with basic constraints that are not critical", accepted,
                root: { $0.basicConstraints = .init(isCA: true, critical: false) }),
            Shape(
                "a critical extended key usage", "invalid-path unsuitable-purpose",
                leaf: { $0.isExtendedKeyUsageCritical = true }),
            Shape(
                "a critical extended key usage in an authority", accepted,
                authority: {
                    $0.extendedKeyUsage = [.serverAuth]
                    $0.isExtendedKeyUsageCritical = true
                }),
            Shape(
                "policy constraints that are not critical", authority: { $0.extraExtensions = [constraints] }),
            Shape(
                "policy constraints that are not critical, in the leaf", leaf: { $0.extraExtensions = [constraints] }),
            Shape(
                "all at once", "invalid-path unsuitable-purpose", root: { $0.keyUsage = nil },
                authority: {
                    $0.keyUsage = nil
                    $0.subjectKeyIdentifier = .absent
                    $0.authorityKeyIdentifier = .absent
                    $0.basicConstraints = .init(isCA: true, critical: false)
                    $0.extraExtensions = [constraints]
                },
                leaf: {
                    $0.authorityKeyIdentifier = .absent
                    $0.isExtendedKeyUsageCritical = true
                }),
        ])
    func forgiven(_ shape: Shape) throws {
        let expected = [Self.accepted, Self.accepted, Self.accepted, shape.system, shape.system]
        #expect(try verdicts(shape) == expected)
    }

    @Test(
        "A rule's anchor does not make an authority of another certificate, nor a server's certificate of another",
        arguments: [
            Shape(
                "no basic constraints", "invalid-path not-a-ca", authority: { $0.basicConstraints = nil }),
            Shape(
                "no basic constraints in the root", "invalid-path not-a-ca", root: { $0.basicConstraints = nil }),
            Shape(
                "a key usage without keyCertSign", "invalid-path not-a-ca",
                authority: { $0.keyUsage = [.digitalSignature, .cRLSign] }),
            Shape(
                "a path length and a key usage without keyCertSign", "invalid-path not-a-ca",
                authority: {
                    $0.basicConstraints = .init(isCA: true, pathLength: 0)
                    $0.keyUsage = [.cRLSign]
                }),
            Shape(
                "a key usage without keyCertSign in the root", "invalid-path not-a-ca",
                root: { $0.keyUsage = [.cRLSign] }),
            Shape(
                "an extended key usage without serverAuth", "invalid-path unsuitable-purpose",
                leaf: { $0.extendedKeyUsage = [.clientAuth] }),
            Shape(
                "a critical extended key usage without serverAuth", "invalid-path unsuitable-purpose",
                leaf: {
                    $0.extendedKeyUsage = [.clientAuth]
                    $0.isExtendedKeyUsageCritical = true
                }),
            Shape(
                "an extended key usage without serverAuth in the authority", "invalid-path unsuitable-purpose",
                authority: { $0.extendedKeyUsage = [.clientAuth] }),
            Shape(
                "policy constraints that no policy meets", "invalid-path no-valid-certificate-policy",
                authority: {
                    $0.extraExtensions = [.policyConstraints(requireExplicitPolicy: 0, critical: true)]
                }),
            Shape(
                "a path that is too long", "invalid-path path-length-exceeded",
                root: { $0.basicConstraints = .init(isCA: true, pathLength: 0, critical: false) }),
        ])
    func refused(_ shape: Shape) throws {
        #expect(try verdicts(shape) == Array(repeating: shape.system, count: 5))
    }

    /// The chain of the manual of JDK 17's keytool: `-ext bc:c` for the root, `-ext BC=0` for the intermediate and
    /// `-ext ku:c=dig,kE` for the server. The name is that of a server.
    @Test("The chain of keytool's manual is trusted below a rule's anchor")
    func keytool() throws {
        let shape = Shape(
            "keytool", root: { $0.keyUsage = nil },
            authority: {
                $0.basicConstraints = .init(isCA: true, pathLength: 0, critical: false)
                $0.keyUsage = nil
            },
            leaf: {
                $0.basicConstraints = nil
                $0.extendedKeyUsage = nil
                $0.keyUsage = [.digitalSignature, .keyEncipherment]
            })
        let found = try verdicts(shape)
        #expect(found == [Self.accepted, Self.accepted, Self.accepted, shape.system, shape.system])
    }
}
