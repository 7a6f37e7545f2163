/// Keys that libraries decode although they are no keys, or only in an unusual form.
extension SubjectPublicKeyInfo {
    /// The form of a point (SEC 1 section 2.3.3, and the hybrid one of X9.62 section 4.3.6).
    package enum PointForm: UInt8, Sendable {
        case compressed = 0x02
        case hybrid = 0x06
    }

    /// Returns a P-256 key whose point is written in another form.
    package static func p256(_ key: PrivateKey, form: PointForm) -> [UInt8] {
        let point = Array(key.spkiDER.suffix(64))
        let mark = form.rawValue | (point[63] & 1)
        return p256(point: [mark] + (form == .compressed ? Array(point.prefix(32)) : point))
    }

    /// Returns a P-256 key with these bytes in place of a point.
    package static func p256(point: [UInt8]) -> [UInt8] {
        encode(
            algorithm: [1, 2, 840, 10_045, 2, 1],
            parameters: DERWriter.encode { $0.oid([1, 2, 840, 10_045, 3, 1, 7]) }, key: point)
    }

    /// Returns an RSA key of these two INTEGERs, each as its content octets.
    package static func rsa(modulusContent modulus: [UInt8], exponentContent exponent: [UInt8]) -> [UInt8] {
        let key = DERWriter.encode { der in
            der.sequence { der in
                der.integer(content: modulus)
                der.integer(content: exponent)
            }
        }
        return encode(algorithm: [1, 2, 840, 113_549, 1, 1, 1], parameters: [0x05, 0x00], key: key)
    }

    package static func ed25519(_ key: [UInt8]) -> [UInt8] { encode(algorithm: [1, 3, 101, 112], key: key) }
    package static func ed448(_ key: [UInt8]) -> [UInt8] { encode(algorithm: [1, 3, 101, 113], key: key) }
}
