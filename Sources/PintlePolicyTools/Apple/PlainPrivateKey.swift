internal import Pintle
internal import PintleCrypto

/// An unencrypted private key, DER: PKCS#8 (RFC 5208, RFC 5958), PKCS#1 (RFC 8017 appendix A.1.2) or SEC1 (RFC 5915).
struct PlainPrivateKey {
    enum Kind {
        /// `algorithm` is the AlgorithmIdentifier: that of PKCS#1, or of RSA-PSS.
        case rsa(RSANumbers, algorithm: [UInt8])
        case ellipticCurve(SigningCurve, number: [UInt8], statedPoint: [UInt8]?)
        case ed25519(seed: [UInt8])
        /// The structure of a private key, of a kind that needs OpenSSL.
        case other
    }

    let kind: Kind
    /// The public key beside the private one in PKCS#8 (RFC 5958 section 2).
    private let statedHalf: [UInt8]?

    // RFC 8017 appendix A.1, RFC 8410 section 3.
    static let rsaEncryption: [UInt8] = [0x30, 0x0D] + rsaName(1) + [0x05, 0x00]
    static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]

    private static func rsaName(_ last: UInt8) -> [UInt8] {
        [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, last]
    }

    /// - Throws: an error if the bytes do not have the structure of a private key.
    init(der: [UInt8]) throws(DERError) {
        var input = DERReader(0..<der.count)
        let outer = try input.next(DERTag.sequence, in: der, reading: "privateKey")
        try input.finish(reading: "privateKey")
        var fields = DERReader(contentsOf: outer)
        let version = try fields.next(DERTag.integer, in: der, reading: "version")
        guard der[version.contents].elementsEqual([0]) || der[version.contents].elementsEqual([1]) else {
            throw DERError(.invalidValue, at: version.start, reading: "version")
        }
        if let algorithm = try fields.nextIfPresent(DERTag.sequence, in: der, reading: "privateKeyAlgorithm") {
            let key = try fields.next(DERTag.octetString, in: der, reading: "privateKey")
            _ = try fields.nextIfPresent(DERTag.constructed(0), in: der, reading: "attributes")
            let stated = try fields.nextIfPresent(DERTag.primitive(1), in: der, reading: "publicKey")
            try fields.finish(reading: "privateKey")
            statedHalf = stated.map { Array(der[$0.contents].dropFirst()) }
            kind = try Self.kind(algorithm, Array(der[key.contents]), in: der)
        } else {
            statedHalf = nil
            kind = try Self.kind(ofFields: &fields, in: der)
        }
    }

    /// Reads the rest of PKCS#1, SEC1, or of OpenSSL's form of DSA keys.
    private static func kind(ofFields fields: inout DERReader, in der: [UInt8]) throws(DERError) -> Kind {
        if let number = try fields.nextIfPresent(DERTag.octetString, in: der, reading: "privateKey") {
            return try curveKey(number, &fields, on: nil, in: der)
        }
        var numbers: [DERElement] = []
        while let number = try fields.nextIfPresent(DERTag.integer, in: der, reading: "privateKey") {
            numbers.append(number)
        }
        // Of an RSA key with more than two factors.
        let others = try fields.nextIfPresent(DERTag.sequence, in: der, reading: "otherPrimeInfos")
        try fields.finish(reading: "privateKey")
        if numbers.count == 8, others == nil { return .rsa(RSANumbers(numbers, in: der), algorithm: rsaEncryption) }
        guard numbers.count == 8 || numbers.count == 5 else {
            throw DERError(.truncated, at: der.count, reading: "privateKey")
        }
        return .other
    }

    /// Reads the key inside of PKCS#8.
    private static func kind(
        _ algorithm: DERElement, _ key: [UInt8], in der: [UInt8]
    ) throws(DERError) -> Kind {
        let identifier = Array(der[algorithm.range])
        if identifier == ed25519 {
            guard key.count == 2 + Ed25519.keySize, key.starts(with: [DERTag.octetString, 0x20]) else {
                throw DERError(.invalidValue, at: algorithm.start, reading: "privateKey")
            }
            return .ed25519(seed: Array(key.dropFirst(2)))
        }
        let curve = SigningCurve.allCases.first { $0.algorithm == identifier }
        let isPSS = der[algorithm.contents].starts(with: rsaName(10))
        guard curve != nil || isPSS || der[algorithm.contents].starts(with: rsaName(1)) else { return .other }
        var input = DERReader(0..<key.count)
        var fields = DERReader(contentsOf: try input.next(DERTag.sequence, in: key, reading: "privateKey"))
        try input.finish(reading: "privateKey")
        _ = try fields.next(DERTag.integer, in: key, reading: "version")
        if let curve {
            let number = try fields.next(DERTag.octetString, in: key, reading: "privateKey")
            return try curveKey(number, &fields, on: curve, in: key)
        }
        let inner = try kind(ofFields: &fields, in: key)
        guard case .rsa(let numbers, _) = inner else { return inner }
        return .rsa(numbers, algorithm: isPSS ? identifier : rsaEncryption)
    }

    /// Reads the rest of an ECPrivateKey (RFC 5915 section 3).
    private static func curveKey(
        _ number: DERElement, _ fields: inout DERReader, on known: SigningCurve?, in der: [UInt8]
    ) throws(DERError) -> Kind {
        let parameters = try fields.nextIfPresent(DERTag.constructed(0), in: der, reading: "parameters")
        let stated = try fields.nextIfPresent(DERTag.constructed(1), in: der, reading: "publicKey")
        try fields.finish(reading: "privateKey")
        var point: [UInt8]?
        if let stated {
            var reader = DERReader(contentsOf: stated)
            point = Array(
                der[try reader.next(in: der, reading: "publicKey").bitString(in: der, reading: "publicKey")])
        }
        guard parameters != nil || known != nil else {
            throw DERError(.truncated, at: number.start, reading: "parameters")
        }
        let named = parameters.map { element in
            SigningCurve.allCases.first { $0.name.elementsEqual(der[element.contents]) }
        }
        guard let curve = known ?? named ?? nil, named.map({ $0 == curve }) ?? true else { return .other }
        return .ellipticCurve(curve, number: Array(der[number.contents]), statedPoint: point)
    }

    // MARK: The public half

    /// The AlgorithmIdentifier and the content of the subjectPublicKey; `nil` if the private half is no key.
    var publicHalf: (algorithm: [UInt8], key: [UInt8])? {
        switch kind {
        case .rsa(let numbers, let algorithm): (algorithm, numbers.publicKey)
        case .ellipticCurve(let curve, let number, let statedPoint):
            curve.point(ofPrivateKey: number).map { (curve.algorithm, statedPoint ?? $0) }
        case .ed25519(let seed): Ed25519.publicKey(ofSeed: seed).map { (Self.ed25519, $0) }
        case .other: nil
        }
    }

    /// Returns whether each public half in the structure belongs to the private one.
    ///
    /// - Parameter key: the key of ``publicHalf``.
    func hasMatchingHalves(_ key: [UInt8]) -> Bool {
        switch kind {
        case .rsa(let numbers, _): return numbers.areMatching && (statedHalf == nil || statedHalf == key)
        case .ellipticCurve(let curve, let number, _):
            guard let point = curve.point(ofPrivateKey: number) else { return false }
            return [key, statedHalf ?? key].allSatisfy { $0 == point || $0 == Self.compressed(point) }
        case .ed25519: return statedHalf == nil || statedHalf == key
        case .other: return false
        }
    }

    /// Returns the compressed form (SEC 1 section 2.3.3) of an uncompressed point.
    private static func compressed(_ point: [UInt8]) -> [UInt8] {
        [0x02 | (point.last ?? 0) & 1] + point[1...(point.count / 2)]
    }
}
