internal import PintleCrypto

/// The check of a public key's value. The kind and size of a key are the matter of ``PublicKeyDescription``.
///
/// OpenSSL verifies signatures also with values that are no key, and then anyone can make the signatures: with RSA's
/// exponent 1, with the point at infinity of a curve, and with points of small order.
package enum PublicKeyFlaw {
    /// Returns why a SubjectPublicKeyInfo is not a key, as a noun phrase such as `an RSA key whose exponent is 1`.
    /// Returns `nil` if it is one. RSA, EC with a curve of NIST, Ed25519 and Ed448 are checked, no
    /// other kinds.
    ///
    /// The check computes with numbers of a fixed length only: it compares an RSA key's two numbers, and decodes the
    /// point of another key.
    ///
    /// - Parameter der: the whole structure. If it cannot be parsed, the result is `nil`.
    package static func text(ofSubjectPublicKeyInfo der: [UInt8]) -> String? { text(in: 0..<der.count, of: der) }

    private static func text(in range: Range<Int>, of der: [UInt8]) -> String? {
        var input = DERReader(range)
        guard let info = try? input.next(DERTag.sequence, in: der, reading: "subjectPublicKeyInfo") else { return nil }
        return text(of: info, in: der)
    }

    /// Returns why the key of a certificate, DER, is not a key; `nil` if it is one, or cannot be parsed.
    package static func text(ofCertificate der: [UInt8]) -> String? {
        guard let range = try? SubjectPublicKeyInfo.range(inCertificate: der) else { return nil }
        return text(in: range, of: der)
    }

    static func text(of info: DERElement, in bytes: [UInt8]) -> String? {
        (try? parts(of: info, in: bytes)).flatMap { identifier, parameters, key in
            switch identifier {
            case .rsaEncryption, .rsassaPSS: (try? rsaFlaw(key, in: bytes)) ?? nil
            case .ecPublicKey: pointFlaw(Array(bytes[key]), on: parameters)
            case .ed25519 where !Ed25519.isKey(Array(bytes[key])): edwards("Ed25519")
            case .ed448 where !Ed448.isKey(Array(bytes[key])): edwards("Ed448")
            default: nil
            }
        }
    }

    /// Returns the algorithm, the object identifier in its parameters if there is one, and the range of the key.
    private static func parts(
        of info: DERElement, in bytes: [UInt8]
    ) throws(DERError) -> (OID, OID?, Range<Int>) {
        var reader = DERReader(contentsOf: info)
        var algorithm = DERReader(
            contentsOf: try reader.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo.algorithm"))
        let key = try reader.next(in: bytes, reading: "subjectPublicKey")
            .bitString(in: bytes, reading: "subjectPublicKey")
        let identifier = try algorithm.next(
            DERTag.objectIdentifier, in: bytes, reading: "subjectPublicKeyInfo.algorithm")
        let curve = try algorithm.nextIfPresent(
            DERTag.objectIdentifier, in: bytes, reading: "subjectPublicKeyInfo.parameters")
        return (OID(identifier, in: bytes), curve.map { OID($0, in: bytes) }, key)
    }

    // MARK: RSA

    /// Returns the breach of RFC 8017 section 3.1, which asks for an odd modulus n, and an odd exponent e with
    /// 3 <= e < n.
    private static func rsaFlaw(_ key: Range<Int>, in bytes: [UInt8]) throws(DERError) -> String? {
        let numbers = try PublicKeyDescription.rsaNumbers(key, in: bytes)
        let (modulus, exponent) = (bytes[numbers.modulus.contents], bytes[numbers.exponent.contents])
        if let flaw = numberFlaw(modulus) { return "an RSA key whose modulus is \(flaw)" }
        if let flaw = numberFlaw(exponent) { return "an RSA key whose exponent is \(flaw)" }
        if exponent.elementsEqual([1]) { return "an RSA key whose exponent is 1" }
        return isBelow(exponent, modulus) ? nil : "an RSA key whose exponent is not below its modulus"
    }

    /// Returns the reason why an INTEGER is not an odd positive number.
    private static func numberFlaw(_ octets: ArraySlice<UInt8>) -> String? {
        guard let first = octets.first, let last = octets.last, first < 0x80 else { return "negative" }
        if octets.allSatisfy({ $0 == 0 }) { return "0" }
        return last & 1 == 0 ? "even" : nil
    }

    private static func isBelow(_ number: ArraySlice<UInt8>, _ bound: ArraySlice<UInt8>) -> Bool {
        let (number, bound) = (number.drop { $0 == 0 }, bound.drop { $0 == 0 })
        return number.count == bound.count ? number.lexicographicallyPrecedes(bound) : number.count < bound.count
    }

    // MARK: Points

    private static func pointFlaw(_ point: [UInt8], on identifier: OID?) -> String? {
        switch point.first {
        case 0x00 where point.count == 1: return "an EC key that is the point at infinity"
        case 0x06, 0x07: return "an EC key in the hybrid form"
        default: break
        }
        guard let identifier else { return nil }
        let curve: NISTCurve
        switch identifier {
        case .p256: curve = .p256
        case .p384: curve = .p384
        case .p521: curve = .p521
        default: return nil
        }
        return curve.hasPoint(point) ? nil : "an EC key that is not a point of its curve"
    }

    private static func edwards(_ name: String) -> String {
        "an \(name) key that anyone can sign for, or that is not a point of its curve"
    }
}

extension Certificate {
    /// The reason why the public key is not a key (``PublicKeyFlaw``); `nil` if it is one.
    package var keyFlaw: String? { PublicKeyFlaw.text(of: layout.subjectPublicKeyInfo, in: der) }
}
