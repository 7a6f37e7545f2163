/// EC keys that spell out their curve, which RFC 5480 section 2.1.1 forbids in certificates.
extension SubjectPublicKeyInfo {
    /// Returns a P-256 key with explicit parameters, at the point of a key with a named curve. OpenSSL decodes it at
    /// once.
    package static func explicitP256(_ named: PrivateKey) -> [UInt8] {
        let top: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12)
        let b: [UInt8] = [
            0x5A, 0xC6, 0x35, 0xD8, 0xAA, 0x3A, 0x93, 0xE7, 0xB3, 0xEB, 0xBD, 0x55, 0x76, 0x98, 0x86, 0xBC,
            0x65, 0x1D, 0x06, 0xB0, 0xCC, 0x53, 0xB0, 0xF6, 0x3B, 0xCE, 0x3C, 0x3E, 0x27, 0xD2, 0x60, 0x4B,
        ]
        let base: [UInt8] = [
            0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
            0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
        ]
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        return explicitEC(
            prime: top + [UInt8](repeating: 0xFF, count: 12),
            a: top + [UInt8](repeating: 0xFF, count: 11) + [0xFC], b: b, base: [3] + base, order: order,
            point: Array(named.spkiDER.suffix(65)))
    }

    /// Returns a key with the `ECParameters` of SEC 1 appendix C.2.
    package static func explicitEC(
        algorithm: DERWriter.OID = [1, 2, 840, 10_045, 2, 1], prime: [UInt8], a: [UInt8], b: [UInt8], base: [UInt8],
        order: [UInt8],
        point: [UInt8]
    ) -> [UInt8] {
        let parameters = DERWriter.encode { der in
            der.sequence { der in
                der.integer(1)
                der.sequence { der in
                    der.oid([1, 2, 840, 10_045, 1, 1])
                    der.integer(magnitude: prime)
                }
                der.sequence { der in
                    der.octetString(a)
                    der.octetString(b)
                }
                der.octetString(base)
                der.integer(magnitude: order)
            }
        }
        return encode(algorithm: algorithm, parameters: parameters, key: point)
    }
}
