package import Pintle
package import PintleConsole
internal import PintleCrypto

/// The libraries of a build without OpenSSL: keys by their DER and CryptoKit, and no list of public suffixes.
package struct CryptoKitLibraries: Libraries {
    package init() {}

    package func publicHalf(
        of privateKey: [UInt8]
    ) throws(ToolError) -> (subjectPublicKeyInfo: [UInt8], isMatching: Bool) {
        guard let key = try? PlainPrivateKey(der: privateKey) else { throw .unreadablePrivateKey }
        if case .other = key.kind { throw .needsOpenSSL("reading a private key of this kind") }
        guard let half = key.publicHalf else { throw .unreadablePrivateKey }
        return (DERText.sequence(half.algorithm + DERText.bitString(half.key)), key.hasMatchingHalves(half.key))
    }

    package func subjectPublicKeyInfo(ofRSAPublicKey der: [UInt8]) throws(ToolError) -> [UInt8] {
        let info = DERText.sequence(PlainPrivateKey.rsaEncryption + DERText.bitString(der))
        guard (try? PublicKeyDescription(subjectPublicKeyInfo: info)) != nil else { throw .unreadableRSAKey }
        return info
    }

    /// Signatures and parameters are two integers as well, but the second one is not a small odd number.
    package func isRSAPublicKey(_ der: [UInt8]) -> Bool {
        guard let info = try? subjectPublicKeyInfo(ofRSAPublicKey: der),
            let key = try? PublicKeyDescription(subjectPublicKeyInfo: info), let last = der.last
        else { return false }
        return last & 1 == 1 && (2...64).contains(key.exponentBits ?? 0)
    }

    package func isSigned(_ request: [UInt8], by key: PublicKeyDescription) -> Bool? {
        guard let parts = try? SignedRequest(der: request) else { return false }
        switch key.algorithm {
        case .ed25519:
            return parts.algorithm == PlainPrivateKey.ed25519
                && Ed25519.isValid(signature: parts.signature, of: parts.info, publicKey: parts.key)
        case .ellipticCurve(.p256): return parts.isSigned(on: .p256)
        case .ellipticCurve(.p384): return parts.isSigned(on: .p384)
        case .ellipticCurve(.p521): return parts.isSigned(on: .p521)
        default: return nil
        }
    }

    package func signingSeed(of key: [UInt8], passphrase: [UInt8]?, in file: String) throws(ToolError) -> [UInt8] {
        guard passphrase == nil else { throw .needsOpenSSL("reading an encrypted key").placed(in: file) }
        guard let key = try? PlainPrivateKey(der: key) else { throw SigningKey.unreadable(in: file) }
        guard case .ed25519(let seed) = key.kind else { throw SigningKey.otherKind(in: file) }
        guard let half = key.publicHalf else { throw SigningKey.unreadable(in: file) }
        guard key.hasMatchingHalves(half.key) else { throw SigningKey.foreignHalf(in: file) }
        return seed
    }
}

/// The parts of a certificate request (RFC 2986 section 4.2) that its signature needs.
private struct SignedRequest {
    /// The signed bytes.
    let info: [UInt8]
    /// The AlgorithmIdentifier of the signature, DER.
    let algorithm: [UInt8]
    let signature: [UInt8]
    /// The subjectPublicKey, without the header of the BIT STRING.
    let key: [UInt8]

    init(der: [UInt8]) throws(DERError) {
        var input = DERReader(0..<der.count)
        var outer = DERReader(contentsOf: try input.next(DERTag.sequence, in: der, reading: "request"))
        let whole = try outer.next(DERTag.sequence, in: der, reading: "certificationRequestInfo")
        algorithm = Array(der[try outer.next(DERTag.sequence, in: der, reading: "signatureAlgorithm").range])
        signature = Array(der[try outer.next(in: der, reading: "signature").bitString(in: der, reading: "signature")])
        info = Array(der[whole.range])
        var fields = DERReader(contentsOf: whole)
        _ = try fields.next(DERTag.integer, in: der, reading: "version")
        _ = try fields.next(DERTag.sequence, in: der, reading: "subject")
        var owner = DERReader(contentsOf: try fields.next(DERTag.sequence, in: der, reading: "subjectPKInfo"))
        _ = try owner.next(DERTag.sequence, in: der, reading: "algorithm")
        key = Array(
            der[try owner.next(in: der, reading: "subjectPublicKey").bitString(in: der, reading: "subjectPublicKey")])
    }

    /// Returns `nil` for another hash than SHA-2, and for a compressed point, which CryptoKit reads since macOS 13.
    func isSigned(on curve: SigningCurve) -> Bool? {
        guard key.first == 0x04 else { return nil }
        return curve.isValid(signature, of: info, algorithm: algorithm, by: key)
    }
}
