/// Tells from the AlgorithmIdentifier of a certificate's key whether a library may decode the key.
///
/// Libraries decode keys when they parse a certificate. With an EC key whose parameters are written out instead of named,
/// OpenSSL then computes square roots modulo a number that the certificate chose, which can take half a second.
/// RFC 5480 section 2.1.1 forbids such parameters, so nothing is lost by not decoding these keys.
package enum KeyAlgorithm {
    case decodable
    /// An EC key whose curve is not named. `identifier` is where the contents of the algorithm's object identifier are.
    case unnamedCurve(identifier: Range<Int>)
    /// The certificate is not DER up to the key's algorithm.
    case unreadable

    /// The algorithms whose parameters are ECParameters: RFC 5480 section 2.1, and SM2.
    static let withCurves: [OID] = [.ecPublicKey, .ecDH, .ecMQV, .sm2]

    package static let unnamedCurveText = "an EC key whose curve is not named"

    /// Reads headers up to the key's algorithm, and the object identifier there: some hundred bytes, whatever the
    /// certificate holds.
    package init(ofCertificate der: [UInt8]) {
        do {
            self = try Self.read(der.elementSpan)
        } catch {
            self = .unreadable
        }
    }

    private static func read(_ bytes: borrowing Span<UInt8>) throws(DERError) -> KeyAlgorithm {
        var info = DERReader(try SubjectPublicKeyInfo.range(inCertificate: bytes))
        var fields = DERReader(
            contentsOf: try info.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo"))
        var algorithm = DERReader(
            contentsOf: try fields.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo.algorithm"))
        let identifier = try algorithm.next(
            DERTag.objectIdentifier, in: bytes, reading: "subjectPublicKeyInfo.algorithm")
        var isCurve = false
        for known in withCurves where identifier.holds(known, in: bytes) { isCurve = true }
        guard isCurve, algorithm.peekTag(in: bytes) != DERTag.objectIdentifier else { return .decodable }
        return .unnamedCurve(identifier: identifier.contents)
    }
}
