/// The safety check of a certificate's key algorithm: whether a library may decode the key.
///
/// Libraries decode the key when they parse a certificate. If an EC key carries explicit curve parameters instead of a
/// curve's name, OpenSSL computes square roots modulo a number from the certificate. An attacker can make that take
/// half a second. RFC 5480 section 2.1.1 forbids explicit parameters, so refusing to decode such keys loses nothing.
package enum KeyAlgorithm {
    case decodable
    /// An EC key without a named curve. `identifier` is the range of the contents of the algorithm's object identifier.
    case unnamedCurve(identifier: Range<Int>)
    /// The certificate is not valid DER up to the key's algorithm.
    case unreadable

    /// The algorithms whose parameters are ECParameters: those of RFC 5480 section 2.1, and SM2.
    static let withCurves: [OID] = [.ecPublicKey, .ecDH, .ecMQV, .sm2]

    package static let unnamedCurveText = "an EC key whose curve is not named"

    /// Reads the key's algorithm and only the headers before it: about a hundred bytes, whatever the size of the
    /// certificate.
    package init(ofCertificate der: [UInt8]) {
        do {
            self = try Self.read(der)
        } catch {
            self = .unreadable
        }
    }

    private static func read(_ bytes: [UInt8]) throws(DERError) -> KeyAlgorithm {
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
