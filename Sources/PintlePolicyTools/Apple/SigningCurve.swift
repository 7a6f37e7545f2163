internal import CryptoKit

/// The curves of CryptoKit, for keys in files.
enum SigningCurve: CaseIterable {
    case p256, p384, p521

    /// The AlgorithmIdentifier of a key (RFC 5480 section 2.1.1), DER.
    var algorithm: [UInt8] { DERText.sequence([0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + name) }

    /// The object identifier, DER.
    var name: [UInt8] {
        switch self {
        case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        }
    }

    /// The size of a coordinate, and of a private key, in bytes.
    private var fieldSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// Returns the uncompressed point of a private key, big-endian; `nil` if it is 0 or not below the group's order.
    func point(ofPrivateKey number: [UInt8]) -> [UInt8]? {
        let digits = number.drop { $0 == 0 }
        guard digits.count <= fieldSize else { return nil }
        var key = [UInt8](repeating: 0, count: fieldSize - digits.count) + digits
        defer { SecretBytes.wipe(&key) }
        let info =
            switch self {
            case .p256: try? P256.Signing.PrivateKey(rawRepresentation: key).publicKey.derRepresentation
            case .p384: try? P384.Signing.PrivateKey(rawRepresentation: key).publicKey.derRepresentation
            case .p521: try? P521.Signing.PrivateKey(rawRepresentation: key).publicKey.derRepresentation
            }
        return info.map { Array($0.suffix(1 + 2 * fieldSize)) }
    }

    /// Returns whether an ECDSA signature, DER, is valid; `nil` if CryptoKit lacks the algorithm.
    ///
    /// - Parameters:
    ///   - algorithm: the AlgorithmIdentifier of the signature (RFC 5758 section 3.2), DER.
    ///   - point: the public key, uncompressed.
    func isValid(_ signature: [UInt8], of message: [UInt8], algorithm: [UInt8], by point: [UInt8]) -> Bool? {
        switch algorithm {
        case Self.ecdsa(with: 2): isValid(signature, of: SHA256.hash(data: message), by: point)
        case Self.ecdsa(with: 3): isValid(signature, of: SHA384.hash(data: message), by: point)
        case Self.ecdsa(with: 4): isValid(signature, of: SHA512.hash(data: message), by: point)
        default: nil
        }
    }

    private static func ecdsa(with hash: UInt8) -> [UInt8] {
        [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, hash]
    }

    private func isValid<Hash: Digest>(_ signature: [UInt8], of digest: Hash, by point: [UInt8]) -> Bool {
        do {
            switch self {
            case .p256:
                return try P256.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(.init(derRepresentation: signature), for: digest)
            case .p384:
                return try P384.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(.init(derRepresentation: signature), for: digest)
            case .p521:
                return try P521.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(.init(derRepresentation: signature), for: digest)
            }
        } catch {
            return false
        }
    }
}
