internal import PintleCrypto

/// The parts of a certificate that its pins and its place in a chain need.
///
/// ``Certificate`` refuses a certificate if an extension breaks the standard, because a verdict depends on all of them.
/// A pin only depends on the key, so this reader stops behind it.
package struct CertificateOutline: Sendable, Hashable {
    package let der: [UInt8]
    private let issuer: Range<Int>
    private let subject: Range<Int>
    private let key: Range<Int>
    package let publicKey: PublicKeyDescription

    package init(der: [UInt8]) throws(DERError) {
        guard der.count <= Certificate.maximumSize else { throw DERError(.tooLarge, at: 0, reading: "certificate") }
        var input = DERReader(0..<der.count)
        var certificate = DERReader(contentsOf: try input.next(DERTag.sequence, in: der, reading: "certificate"))
        try input.finish(reading: "certificate")
        var fields = DERReader(contentsOf: try certificate.next(DERTag.sequence, in: der, reading: "tbsCertificate"))
        _ = try certificate.next(DERTag.sequence, in: der, reading: "signatureAlgorithm")
        _ = try certificate.next(DERTag.bitString, in: der, reading: "signatureValue")
        try certificate.finish(reading: "certificate")

        _ = try fields.nextIfPresent(DERTag.constructed(0), in: der, reading: "version")
        _ = try fields.next(DERTag.integer, in: der, reading: "serialNumber")
        _ = try fields.next(DERTag.sequence, in: der, reading: "signature")
        issuer = try fields.next(DERTag.sequence, in: der, reading: "issuer").range
        _ = try fields.next(DERTag.sequence, in: der, reading: "validity")
        subject = try fields.next(DERTag.sequence, in: der, reading: "subject").range
        let key = try fields.next(DERTag.sequence, in: der, reading: "subjectPublicKeyInfo")
        publicKey = try PublicKeyDescription(key, in: der)
        self.key = key.range
        self.der = der
    }

    package var issuerDER: ArraySlice<UInt8> { der[issuer] }
    package var subjectDER: ArraySlice<UInt8> { der[subject] }

    /// The SubjectPublicKeyInfo, DER.
    package var subjectPublicKeyInfo: [UInt8] { Array(der[key]) }
    /// The SHA-256 of the SubjectPublicKeyInfo.
    package var publicKeyPin: PublicKeyPin { PublicKeyPin(digest: SHA256Digest(hashing: der[key])) }
    /// The SHA-256 of the certificate.
    package var fingerprint: CertificatePin { CertificatePin(certificate: der) }

    /// The holder's name; `nil` if it breaks the standard.
    package var subjectName: DistinguishedName? { Self.name(subject, in: der) }
    /// The issuer's name; `nil` if it breaks the standard.
    package var issuerName: DistinguishedName? { Self.name(issuer, in: der) }

    private static func name(_ range: Range<Int>, in der: [UInt8]) -> DistinguishedName? {
        var reader = DERReader(range)
        guard let name = try? reader.next(DERTag.sequence, in: der, reading: "name"),
            (try? DistinguishedName.check(name, in: der)) != nil
        else { return nil }
        return DistinguishedName(name, in: der)
    }
}
