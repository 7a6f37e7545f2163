package import Pintle
package import PintleConsole
internal import PintleCrypto

/// A certificate request (PKCS#10, RFC 2986). Parsing does not check its signature.
///
///     CertificationRequest ::= SEQUENCE {
///         certificationRequestInfo  SEQUENCE {
///             version               INTEGER { v1(0) },
///             subject               Name,
///             subjectPKInfo         SubjectPublicKeyInfo,
///             attributes       [0]  IMPLICIT SET OF Attribute },
///         signatureAlgorithm        AlgorithmIdentifier,
///         signature                 BIT STRING }
package struct CertificateRequest: Sendable, Hashable {
    let der: [UInt8]
    let subject: DistinguishedName
    /// The DER of the SubjectPublicKeyInfo.
    let subjectPublicKeyInfo: [UInt8]
    let publicKey: PublicKeyDescription
    /// The subject alternative names that it asks for; empty if it asks for none, or if they cannot be read.
    package let names: [GeneralName]
    /// A Boolean value that indicates whether it asks for names that cannot be read.
    let hasUnreadableNames: Bool
    /// A Boolean value that indicates whether another key than its own has signed it.
    var isSignedByOtherKey = false
    /// A Boolean value that indicates whether the libraries could not tell who has signed it.
    var hasUncheckedSignature = false

    /// - Parameter der: the whole request.
    init(der: [UInt8]) throws(DERError) {
        guard der.count <= Certificate.maximumSize else { throw DERError(.tooLarge, at: 0, reading: "request") }
        var input = DERReader(0..<der.count)
        let whole = try input.next(DERTag.sequence, in: der, reading: "request")
        try input.finish(reading: "request")
        var outer = DERReader(contentsOf: whole)
        var info = DERReader(
            contentsOf: try outer.next(DERTag.sequence, in: der, reading: "certificationRequestInfo"))
        _ = try outer.next(DERTag.sequence, in: der, reading: "signatureAlgorithm")
        _ = try outer.next(DERTag.bitString, in: der, reading: "signature")
        try outer.finish(reading: "request")

        _ = try info.next(DERTag.integer, in: der, reading: "version")
        let name = try info.next(DERTag.sequence, in: der, reading: "subject")
        try DistinguishedName.check(name, in: der)
        let key = try info.next(DERTag.sequence, in: der, reading: "subjectPKInfo")
        // Some tools omit the empty set of attributes, against the standard.
        let attributes = try info.nextIfPresent(DERTag.constructed(0), in: der, reading: "attributes")
        try info.finish(reading: "certificationRequestInfo")
        self.der = der
        subject = DistinguishedName(name, in: der)
        do {
            let asked = try attributes.flatMap { attributes throws(DERError) in
                try Certificate.alternativeNames(ofRequest: attributes, in: der)
            }
            (names, hasUnreadableNames) = (asked ?? [], false)
        } catch {
            (names, hasUnreadableNames) = ([], true)
        }
        publicKey = try PublicKeyDescription(key, in: der)
        subjectPublicKeyInfo = Array(der[key.range])
    }

    package var publicKeyPin: PublicKeyPin { PublicKeyPin(digest: SHA256Digest(hashing: subjectPublicKeyInfo)) }

    /// Throws if the request asks for names that cannot be read: its key may be of another host than is meant.
    package func requireReadableNames(from source: String) throws(ToolError) {
        guard hasUnreadableNames else { return }
        throw .unusable(
            "malformed-request", "the names in the request cannot be read", file: source,
            hint: "make the request again, or give the key itself")
    }
}
