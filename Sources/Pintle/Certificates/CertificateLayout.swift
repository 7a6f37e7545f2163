/// The offsets of a certificate's parts in its DER.
///
///     Certificate ::= SEQUENCE {                       -- RFC 5280 section 4.1
///         tbsCertificate       TBSCertificate,
///         signatureAlgorithm   AlgorithmIdentifier,
///         signatureValue       BIT STRING }
///
///     TBSCertificate ::= SEQUENCE {
///         version         [0]  EXPLICIT Version DEFAULT v1,
///         serialNumber         INTEGER,
///         signature            AlgorithmIdentifier,
///         issuer               Name,
///         validity             SEQUENCE { notBefore Time, notAfter Time },
///         subject              Name,
///         subjectPublicKeyInfo SubjectPublicKeyInfo,
///         issuerUniqueID  [1]  IMPLICIT BIT STRING OPTIONAL,
///         subjectUniqueID [2]  IMPLICIT BIT STRING OPTIONAL,
///         extensions      [3]  EXPLICIT SEQUENCE OF Extension OPTIONAL }
struct CertificateLayout {
    var version = 1
    var serialNumber: Range<Int>
    var issuer: DERElement
    var validity: DERElement
    var subject: DERElement
    var subjectPublicKeyInfo: DERElement
    var extensions: DERElement?
    var tbsCertificate: Range<Int>

    init(_ bytes: [UInt8]) throws(DERError) {
        var input = DERReader(0..<bytes.count)
        var certificate = DERReader(
            contentsOf: try input.next(DERTag.sequence, in: bytes, reading: "certificate"))
        try input.finish(reading: "certificate")

        let tbs = try certificate.next(DERTag.sequence, in: bytes, reading: "tbsCertificate")
        tbsCertificate = tbs.range
        // Nothing here compares this algorithm with `signature`: the library that verifies the signature does.
        _ = try certificate.next(DERTag.sequence, in: bytes, reading: "signatureAlgorithm")
        _ = try certificate.next(in: bytes, reading: "signatureValue").bitString(in: bytes, reading: "signatureValue")
        try certificate.finish(reading: "certificate")

        var fields = DERReader(contentsOf: tbs)
        if let tagged = try fields.nextIfPresent(DERTag.constructed(0), in: bytes, reading: "version") {
            version = try Self.version(in: tagged, bytes)
        }
        let serial = try fields.next(DERTag.integer, in: bytes, reading: "serialNumber")
        try serial.checkInteger(in: bytes, reading: "serialNumber")
        serialNumber = serial.contents
        _ = try fields.next(DERTag.sequence, in: bytes, reading: "signature")
        issuer = try fields.next(DERTag.sequence, in: bytes, reading: "issuer")
        validity = try fields.next(DERTag.sequence, in: bytes, reading: "validity")
        subject = try fields.next(DERTag.sequence, in: bytes, reading: "subject")
        subjectPublicKeyInfo = try fields.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo")
        for tag in [DERTag.primitive(1), DERTag.primitive(2)]
        where try fields.nextIfPresent(tag, in: bytes, reading: "uniqueID") != nil {
            guard version >= 2 else { throw DERError(.invalidValue, at: tbs.start, reading: "uniqueID") }
        }
        if let tagged = try fields.nextIfPresent(DERTag.constructed(3), in: bytes, reading: "extensions") {
            guard version == 3 else { throw DERError(.invalidValue, at: tagged.start, reading: "extensions") }
            var inner = DERReader(contentsOf: tagged)
            extensions = try inner.next(DERTag.sequence, in: bytes, reading: "extensions")
            try inner.finish(reading: "extensions")
        }
        try fields.finish(reading: "tbsCertificate")
    }

    /// Parses `Version ::= INTEGER { v1(0), v2(1), v3(2) }`. DER never writes v1, because it is the default.
    private static func version(in tagged: DERElement, _ bytes: [UInt8]) throws(DERError) -> Int {
        var reader = DERReader(contentsOf: tagged)
        let number = try reader.next(DERTag.integer, in: bytes, reading: "version")
        try reader.finish(reading: "version")
        let value = try number.smallInteger(in: bytes, reading: "version")
        guard value == 1 || value == 2 else { throw DERError(.invalidValue, at: number.start, reading: "version") }
        return value + 1
    }
}
