import Testing

@testable import Pintle

@Suite("Certificate policies of a path")
struct PathPoliciesTests {
    typealias D = DERBytes

    private static let certificatePolicies = D.oid(2, 5, 29, 32)
    private static let policyConstraints = D.oid(2, 5, 29, 36)

    private static func certificate(
        _ identifier: [UInt8]? = nil, isCritical: Bool = false, size: Int = 4
    ) throws -> Certificate {
        var certificate = UnsignedCertificate()
        certificate.extensions = identifier.map {
            let value = D.element(0x30, [UInt8](repeating: 0, count: size - 2))
            return [UnsignedCertificate.extensionField($0, critical: isCritical ? D.yes : [], value)]
        }
        return try certificate.read()
    }

    @Test("Below the anchor, a critical policy or any other extension about policies can make the path invalid")
    func restricted() throws {
        let plain = try Self.certificate()
        for (identifier, isCritical, isRestricted) in [
            (Self.certificatePolicies, false, false), (Self.certificatePolicies, true, true),
            (Self.policyConstraints, false, true), (Self.policyConstraints, true, true),
            (D.oid(2, 5, 29, 31), true, false),
        ] {
            let certificate = try Self.certificate(identifier, isCritical: isCritical)
            #expect(PathPolicies([plain, certificate, plain]).areRestricted == isRestricted)
            #expect(!PathPolicies([plain, certificate, plain]).includesAnchor)
            #expect(PathPolicies([certificate, plain]).areRestricted == isRestricted)
            // An anchor's extensions count only if one of them is critical, and not in a leaf that is the anchor.
            let anchored = PathPolicies([plain, certificate])
            #expect(anchored.includesAnchor == (isRestricted && isCritical))
            #expect(anchored.areRestricted == (isRestricted && isCritical))
            #expect(!PathPolicies([certificate]).includesAnchor && !PathPolicies([certificate]).areRestricted)
        }
        #expect(!PathPolicies([]).includesAnchor && !PathPolicies([]).areRestricted)
    }

    @Test("The work grows with the square of the size of each certificate's policies")
    func steps() throws {
        let plain = try Self.certificate()
        let small = try Self.certificate(Self.certificatePolicies, size: 40)
        let large = try Self.certificate(Self.policyConstraints, size: 100)
        #expect(PathPolicies([plain, plain]).steps == 0)
        #expect(PathPolicies([small, plain]).steps == 200)
        #expect(PathPolicies([small, large, plain]).steps == 200 + 1_250)
        var both = UnsignedCertificate()
        both.extensions = [Self.certificatePolicies, Self.policyConstraints].map {
            UnsignedCertificate.extensionField($0, D.element(0x30, [UInt8](repeating: 0, count: 18)))
        }
        #expect(PathPolicies([try both.read(), plain]).steps == 200)
        #expect(PathPolicies([try Self.certificate(D.oid(2, 5, 29, 31), size: 100), plain]).steps == 0)
    }
}
