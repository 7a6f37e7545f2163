import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Critical extensions that OpenSSL counts as handled and does not obey, or not in the same way in every version.
///
/// A validator must refuse a critical extension that it does not process (RFC 5280 section 4.2).
@Suite("Critical extensions")
struct CriticalExtensionTests {
    /// An extension, and whether a path with it is valid if it is not critical; `nil` if that depends on the depth.
    struct Field: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let identifier: DERWriter.OID
        let value: [UInt8]
        let isHarmless: Bool?

        init(
            _ description: String, _ identifier: DERWriter.OID, isHarmless: Bool? = true,
            _ body: (inout DERWriter) -> Void
        ) {
            testDescription = description
            (self.identifier, self.isHarmless) = (identifier, isHarmless)
            value = DERWriter.encode(body)
        }
    }

    private static let lists: @Sendable (inout DERWriter) -> Void = { der in
        // DistributionPoint { distributionPoint [0] { fullName [0] { URI } } }
        der.sequence { der in
            der.sequence { der in
                der.context(0) { der in
                    der.context(0) { CertificateTemplate.GeneralName.uri("http://crl.example.test/").write(to: &$0) }
                }
            }
        }
    }

    private static let location: @Sendable (inout DERWriter) -> Void = { der in
        der.sequence { der in
            der.sequence { der in
                der.oid([1, 3, 6, 1, 5, 5, 7, 48, 5])
                CertificateTemplate.GeneralName.uri("http://repository.example.test/").write(to: &der)
            }
        }
    }

    @Test(
        "An extension that Pintle does not obey must not be critical, in leaf and intermediate",
        arguments: [
            // Server and authority of TLS: OpenSSL checks it in the leaf only.
            Field("nsCertType", [2, 16, 840, 1, 113_730, 1, 1]) { $0.bitString([0x44], unusedBits: 2) },
            Field("CRL distribution points", [2, 5, 29, 31], lists),
            Field("freshest CRL", [2, 5, 29, 46], lists),
            Field("issuing distribution point", [2, 5, 29, 28]) { $0.sequence { _ in } },
            Field("OCSP no check", [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]) { $0.null() },
            // OpenSSL refuses such resources if the issuer lacks them, and not if only the subject lacks them.
            Field("IP addresses", [1, 3, 6, 1, 5, 5, 7, 1, 7], isHarmless: nil) { der in
                der.sequence { der in
                    der.sequence { der in
                        der.octetString([0, 1])
                        der.sequence { $0.bitString([10]) }
                    }
                }
            },
            Field("AS numbers", [1, 3, 6, 1, 5, 5, 7, 1, 8], isHarmless: nil) { der in
                der.sequence { der in der.context(0) { $0.sequence { $0.integer(64_512) } } }
            },
            Field("TLS feature", [1, 3, 6, 1, 5, 5, 7, 1, 24]) { der in der.sequence { $0.integer(5) } },
            Field("private key usage period", [2, 5, 29, 16]) { der in
                der.sequence { $0.context(0, .primitive, content: Array("20200101000000Z".utf8)) }
            },
            Field("issuer alternative name", [2, 5, 29, 18]) { der in
                der.sequence { CertificateTemplate.GeneralName.dns("issuer.example.test").write(to: &$0) }
            },
            Field("subject information access", [1, 3, 6, 1, 5, 5, 7, 1, 11], location),
            Field("authority information access", [1, 3, 6, 1, 5, 5, 7, 1, 1], location),
            Field("qualified certificate statements", [1, 3, 6, 1, 5, 5, 7, 1, 3]) { $0.sequence { _ in } },
        ])
    func critical(_ field: Field) throws {
        let root = try CertificateAuthority.root()
        func verdict(inLeaf: Bool, critical: Bool) throws -> String {
            let field = CertificateExtension(field.identifier, critical: critical, value: field.value)
            let authority = try root.intermediate { if !inLeaf { $0.extraExtensions = [field] } }
            let leaf = try authority.issue(hosts: [Validation.host]) { if inLeaf { $0.extraExtensions = [field] } }
            return try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
        }
        for inLeaf in [true, false] {
            let refused = try verdict(inLeaf: inLeaf, critical: true)
            #expect(refused == "invalid-path unhandled-critical-extension", "in the leaf: \(inLeaf)")
            guard let isHarmless = field.isHarmless else { continue }
            let accepted = try verdict(inLeaf: inLeaf, critical: false)
            #expect((accepted == "host-not-pinned") == isHarmless, "in the leaf: \(inLeaf), \(accepted)")
        }
    }

    @Test(
        "A proxy certificate (RFC 3820) is refused, with and without the names of a server", arguments: [true, false])
    func proxyCertificate(hasNames: Bool) throws {
        let root = try CertificateAuthority.root()
        func verdict(_ extensions: [CertificateExtension]) throws -> TrustDecision {
            let leaf = try root.issue(hosts: [Validation.host]) {
                if !hasNames { $0.subjectAltNames = [] }
                $0.extraExtensions = extensions
            }
            return try Validation.decide(leaf.chain, anchors: [root.certificate])
        }
        let information = CertificateExtension([1, 3, 6, 1, 5, 5, 7, 1, 14], critical: true) { der in
            der.sequence { der in der.sequence { $0.oid([1, 3, 6, 1, 5, 5, 7, 21, 1]) } }
        }
        // OpenSSL finds no issuer for a proxy certificate with alternative names, and otherwise demands other key
        // usages.
        #expect(try verdict([information]).summary == "invalid-path \(hasNames ? "untrusted-root" : "other")")
        #expect(try verdict([]).summary == (hasNames ? "host-not-pinned" : "invalid-path name-mismatch"))
    }

    @Test("Key identifiers must not be critical", arguments: [true, false])
    func keyIdentifiers(isCritical: Bool) throws {
        let root = try CertificateAuthority.root()
        for identifier in [DERWriter.OID.authorityKeyIdentifier, .subjectKeyIdentifier] {
            let leaf = try root.issue(hosts: [Validation.host]) {
                $0.editExtensions = { list in
                    for index in list.indices where list[index].oid == identifier {
                        list[index].isCritical = isCritical
                    }
                }
            }
            let verdict = try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
            #expect(verdict == (isCritical ? "invalid-path unhandled-critical-extension" : "host-not-pinned"))
        }
    }

    /// Server Gated Cryptography allowed strong encryption for banks in the nineties.
    private static let microsoft: DERWriter.OID = [1, 3, 6, 1, 4, 1, 311, 10, 3, 3]
    private static let netscape: DERWriter.OID = [2, 16, 840, 1, 113_730, 4, 1]

    @Test(
        "Server Gated Cryptography does not stand for serverAuth, in leaf and intermediate",
        arguments: [
            [microsoft], [netscape], [microsoft, netscape], [.clientAuth, microsoft], [.clientAuth, netscape],
        ] as [[DERWriter.OID]])
    func gatedCryptography(_ purposes: [DERWriter.OID]) throws {
        let root = try CertificateAuthority.root()
        func verdict(depth: Int, _ purposes: [DERWriter.OID]?) throws -> String {
            let upper = try root.intermediate(name: "Upper") { if depth == 2 { $0.extendedKeyUsage = purposes } }
            let lower = try upper.intermediate(name: "Lower") { if depth == 1 { $0.extendedKeyUsage = purposes } }
            let leaf = try lower.issue(hosts: [Validation.host]) { if depth == 0 { $0.extendedKeyUsage = purposes } }
            return try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
        }
        for depth in 0...2 {
            #expect(try verdict(depth: depth, purposes) == "invalid-path unsuitable-purpose", "depth \(depth)")
            #expect(try verdict(depth: depth, purposes + [.serverAuth]) == "host-not-pinned", "depth \(depth)")
            #expect(try verdict(depth: depth, nil) == "host-not-pinned", "depth \(depth)")
        }
        #expect(
            try verdict(depth: 1, [.serverAuth, .anyExtendedKeyUsage]) == "host-not-pinned")
        #expect(try verdict(depth: 1, [.clientAuth]) == "invalid-path unsuitable-purpose")
    }
}
