/// The bytes of a certificate that a public-key pin hashes. All pins are computed from this structure.
///
///     SubjectPublicKeyInfo ::= SEQUENCE {               -- RFC 5280 section 4.1.2.7
///         algorithm         AlgorithmIdentifier,
///         subjectPublicKey  BIT STRING }
///
/// The structure is taken unchanged, including its header. The code does not depend on the algorithm, so a key of any
/// type can be pinned.
enum SubjectPublicKeyInfo {
    /// Returns the range of the structure in a certificate. It reads only the elements before it.
    ///
    /// Use it for certificates that have passed validation: it checks only the elements that it reads.
    static func range(inCertificate bytes: [UInt8]) throws(DERError) -> Range<Int> {
        var input = DERReader(0..<bytes.count)
        var certificate = DERReader(
            contentsOf: try input.next(DERTag.sequence, in: bytes, reading: "certificate"))
        var fields = DERReader(
            contentsOf: try certificate.next(DERTag.sequence, in: bytes, reading: "tbsCertificate"))
        _ = try fields.nextIfPresent(DERTag.constructed(0), in: bytes, reading: "version")
        _ = try fields.next(DERTag.integer, in: bytes, reading: "serialNumber")
        _ = try fields.next(DERTag.sequence, in: bytes, reading: "signature")
        _ = try fields.next(DERTag.sequence, in: bytes, reading: "issuer")
        _ = try fields.next(DERTag.sequence, in: bytes, reading: "validity")
        _ = try fields.next(DERTag.sequence, in: bytes, reading: "subject")
        return try fields.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo").range
    }

    /// Throws unless the whole input is one SubjectPublicKeyInfo.
    static func check(_ bytes: [UInt8]) throws(DERError) {
        var input = DERReader(0..<bytes.count)
        let outer = try input.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo")
        try input.finish(reading: "subjectPublicKeyInfo")
        _ = try PublicKeyDescription(outer, in: bytes)
    }
}
