/// The kind and size of a certificate's public key, read from its algorithm identifier and key.
package struct PublicKeyDescription: Sendable, Hashable {
    /// The algorithms that Pintle knows by name. A key of any other algorithm can be pinned too.
    package enum Algorithm: Sendable, Hashable {
        case rsa
        /// RSA restricted to PSS signatures (RFC 4055 section 1.2).
        case rsaPSS
        case ellipticCurve(Curve)
        case ed25519
        case ed448
        case dsa
        /// ML-DSA-44, -65 or -87 (FIPS 204).
        case mlDSA(Int)
        /// Any other algorithm, by its object identifier in dotted notation.
        case other(String)
    }

    /// The curve of an EC key (RFC 5480 section 2.1.1).
    package enum Curve: Sendable, Hashable {
        case p256, p384, p521
        /// Any other named curve, by its object identifier in dotted notation.
        case other(String)
        /// Explicit parameters instead of a named curve, which RFC 5480 section 2.1.1 forbids.
        case explicit
    }

    package let algorithm: Algorithm
    /// The size in bits; `nil` for algorithms and curves not named here. It counts the modulus of an RSA key, the field
    /// of P-256, P-384 or P-521, or the prime of a DSA key. An Ed25519 or Ed448 key has OpenSSL's count (256, 456).
    package let bits: Int?
    /// The size of an RSA key's public exponent in bits; `nil` for other keys.
    package private(set) var exponentBits: Int?
    /// A Boolean value that indicates whether this is an EC key whose parameters are not the name of a curve (RFC 5480
    /// section 2.1.1). A library that decodes such a key computes with numbers that the certificate chose.
    package let hasUnnamedCurve: Bool

    /// The type without the size, such as `EC`, `RSA` or `Ed25519`.
    package var type: String {
        switch algorithm {
        case .rsa: "RSA"
        case .rsaPSS: "RSA-PSS"
        case .ellipticCurve: "EC"
        case .ed25519: "Ed25519"
        case .ed448: "Ed448"
        case .dsa: "DSA"
        case .mlDSA(let size): "ML-DSA-\(size)"
        case .other(let identifier): identifier
        }
    }

    /// A Boolean value that indicates whether a path may have the key: an algorithm and size of the baseline
    /// requirements (section 6.1.5), EdDSA or ML-DSA. A path with any other key is refused as `weak-key`.
    package var isAcceptedInPaths: Bool {
        switch algorithm {
        case .rsa, .rsaPSS: bits.map { $0 >= 2048 && $0.isMultiple(of: 8) } ?? false
        case .ellipticCurve(.p256), .ellipticCurve(.p384), .ellipticCurve(.p521): true
        case .ed25519, .ed448, .mlDSA: true
        case .ellipticCurve, .dsa, .other: false
        }
    }

    /// Parses a SubjectPublicKeyInfo in DER, which must be the whole input.
    package init(subjectPublicKeyInfo der: [UInt8]) throws(DERError) {
        var input = DERReader(0..<der.count)
        let info = try input.next(DERTag.sequence, in: der, reading: "subjectPublicKeyInfo")
        try input.finish(reading: "subjectPublicKeyInfo")
        try self.init(info, in: der)
    }

    package init(_ info: DERElement, in bytes: [UInt8]) throws(DERError) {
        var reader = DERReader(contentsOf: info)
        var algorithm = DERReader(
            contentsOf: try reader.next(DERTag.sequence, in: bytes, reading: "subjectPublicKeyInfo.algorithm"))
        let key = try reader.next(in: bytes, reading: "subjectPublicKey")
            .bitString(in: bytes, reading: "subjectPublicKey")
        try reader.finish(reading: "subjectPublicKeyInfo")
        let name = try algorithm.next(in: bytes, reading: "subjectPublicKeyInfo.algorithm")
        try name.checkObjectIdentifier(in: bytes, reading: "subjectPublicKeyInfo.algorithm")
        let identifier = OID(name, in: bytes)
        let parameters =
            algorithm.isAtEnd ? nil : try algorithm.next(in: bytes, reading: "subjectPublicKeyInfo.parameters")
        try algorithm.finish(reading: "subjectPublicKeyInfo.algorithm")
        hasUnnamedCurve =
            KeyAlgorithm.withCurves.contains(identifier) && parameters?.tag != DERTag.objectIdentifier

        switch identifier {
        case .rsaEncryption, .rsassaPSS:
            self.algorithm = identifier == .rsaEncryption ? .rsa : .rsaPSS
            let numbers = try Self.rsaNumbers(key, in: bytes)
            bits = Self.bitWidth(of: numbers.modulus, in: bytes)
            exponentBits = Self.bitWidth(of: numbers.exponent, in: bytes)
        case .ecPublicKey:
            let curve = try Self.curve(parameters, in: bytes)
            self.algorithm = .ellipticCurve(curve)
            bits =
                switch curve {
                case .p256: 256
                case .p384: 384
                case .p521: 521
                case .other, .explicit: nil
                }
        case .ed25519: (self.algorithm, bits) = (.ed25519, 256)
        case .ed448: (self.algorithm, bits) = (.ed448, 456)
        case .dsa: (self.algorithm, bits) = (.dsa, try Self.primeBits(parameters, in: bytes))
        case .mlDSA44: (self.algorithm, bits) = (.mlDSA(44), nil)
        case .mlDSA65: (self.algorithm, bits) = (.mlDSA(65), nil)
        case .mlDSA87: (self.algorithm, bits) = (.mlDSA(87), nil)
        default: (self.algorithm, bits) = (.other(identifier.description), nil)
        }
    }

    /// Parses `RSAPublicKey ::= SEQUENCE { modulus INTEGER, publicExponent INTEGER }` (RFC 8017 appendix A.1.1).
    static func rsaNumbers(
        _ key: Range<Int>, in bytes: [UInt8]
    ) throws(DERError) -> (modulus: DERElement, exponent: DERElement) {
        var reader = DERReader(key)
        let outer = try reader.next(DERTag.sequence, in: bytes, reading: "RSAPublicKey")
        try reader.finish(reading: "RSAPublicKey")
        var numbers = DERReader(contentsOf: outer)
        let modulus = try numbers.next(DERTag.integer, in: bytes, reading: "modulus")
        try modulus.checkInteger(in: bytes, reading: "modulus")
        let exponent = try numbers.next(DERTag.integer, in: bytes, reading: "publicExponent")
        try exponent.checkInteger(in: bytes, reading: "publicExponent")
        try numbers.finish(reading: "RSAPublicKey")
        return (modulus, exponent)
    }

    /// Returns the size of `p` in `Dss-Parms ::= SEQUENCE { p INTEGER, q INTEGER, g INTEGER }` (RFC 3279 section
    /// 2.3.2), or `nil` if the key inherits the parameters from its issuer.
    private static func primeBits(_ parameters: DERElement?, in bytes: [UInt8]) throws(DERError) -> Int? {
        guard let parameters, parameters.tag == DERTag.sequence else { return nil }
        var numbers = DERReader(contentsOf: parameters)
        let prime = try numbers.next(DERTag.integer, in: bytes, reading: "p")
        try prime.checkInteger(in: bytes, reading: "p")
        return bitWidth(of: prime, in: bytes)
    }

    private static func bitWidth(of integer: DERElement, in bytes: [UInt8]) -> Int {
        var first = integer.contentStart
        while first < integer.end, bytes[first] == 0 { first += 1 }
        guard first < integer.end else { return 0 }
        return (integer.end - first) * 8 - bytes[first].leadingZeroBitCount
    }

    private static func curve(_ parameters: DERElement?, in bytes: [UInt8]) throws(DERError) -> Curve {
        guard let parameters else { return .explicit }
        guard parameters.tag == DERTag.objectIdentifier else { return .explicit }
        try parameters.checkObjectIdentifier(in: bytes, reading: "namedCurve")
        let identifier = OID(parameters, in: bytes)
        switch identifier {
        case .p256: return .p256
        case .p384: return .p384
        case .p521: return .p521
        default: return .other(identifier.description)
        }
    }
}

extension PublicKeyDescription: CustomStringConvertible {
    /// The usual notation, such as `EC P-256`, `RSA 2048` or `Ed25519`.
    package var description: String {
        switch algorithm {
        case .ellipticCurve(.p256): "EC P-256"
        case .ellipticCurve(.p384): "EC P-384"
        case .ellipticCurve(.p521): "EC P-521"
        case .ellipticCurve(.other(let identifier)): "EC \(identifier)"
        case .ellipticCurve(.explicit): "EC with explicit parameters"
        case .rsa, .rsaPSS, .dsa: bits.map { "\(type) \($0)" } ?? type
        default: type
        }
    }
}
