internal import COpenSSL
public import Foundation

public enum P256: NISTCurve {
    public typealias Signing = NISTSigning<P256>
    public static let name = "prime256v1"
}

public enum P384: NISTCurve {
    public typealias Signing = NISTSigning<P384>
    public static let name = "secp384r1"
}

public enum P521: NISTCurve {
    public typealias Signing = NISTSigning<P521>
    public static let name = "secp521r1"
}

/// A NIST curve. Apple's module has no such protocol: it declares the same members for each of the three curves.
public protocol NISTCurve: Sendable {
    /// The name of the curve in OpenSSL.
    static var name: String { get }
}

public enum NISTSigning<Curve: NISTCurve> {
    public struct ECDSASignature: Sendable {
        /// The signature as ECDSA-Sig-Value (RFC 3279 section 2.2.3).
        public let derRepresentation: Data

        fileprivate init(signed derRepresentation: Data) {
            self.derRepresentation = derRepresentation
        }

        /// Apple's also refuses bytes that are no ECDSA-Sig-Value.
        public init<Bytes: DataProtocol>(derRepresentation: Bytes) throws {
            self.init(signed: Data(derRepresentation))
        }
    }

    public struct PublicKey: Sendable {
        /// The key as SubjectPublicKeyInfo with a named curve and an uncompressed point.
        public let derRepresentation: Data

        fileprivate init(derRepresentation: Data) {
            self.derRepresentation = derRepresentation
        }

        /// - Parameter x963Representation: The point, uncompressed.
        public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {
            let point = x963Representation.withUnsafeBytes { Array($0) }
            guard point.first == 0x04, let spki = EllipticCurveKey.spki(ofPoint: point, on: Curve.name) else {
                throw CryptoKitError.incorrectKeySize
            }
            derRepresentation = Data(spki)
        }

        public func isValidSignature<Hash: Digest>(_ signature: ECDSASignature, for digest: Hash) -> Bool {
            EllipticCurveKey.isValid(
                Array(signature.derRepresentation), of: Array(digest), spki: Array(derRepresentation))
        }
    }

    public struct PrivateKey: Sendable {
        /// The key as PKCS#8, with the public key inside.
        public let derRepresentation: Data
        public let publicKey: PublicKey

        public init(compactRepresentable: Bool = true) {
            guard let key = EllipticCurveKey.generate(on: Curve.name), let own = PrivateKey(key) else {
                fatalError("OpenSSL has no \(Curve.name)")
            }
            self = own
        }

        /// - Parameter derRepresentation: The key as PKCS#8, or as ECPrivateKey of RFC 5915.
        public init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {
            guard let key = EllipticCurveKey(der: Array(derRepresentation)), let own = PrivateKey(key) else {
                throw CryptoKitError.incorrectKeySize
            }
            self = own
        }

        /// - Parameter rawRepresentation: The number, big-endian, as long as a coordinate.
        public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
            let number = rawRepresentation.withUnsafeBytes { Array($0) }
            guard let key = EllipticCurveKey(number: number, on: Curve.name), let own = PrivateKey(key) else {
                throw CryptoKitError.incorrectKeySize
            }
            self = own
        }

        /// Returns `nil` for a key of another kind or curve.
        private init?(_ key: EllipticCurveKey) {
            guard key.curve == Curve.name else { return nil }
            derRepresentation = Data(key.pkcs8)
            publicKey = PublicKey(derRepresentation: Data(key.spki))
        }

        public func signature<Hash: Digest>(for digest: Hash) throws -> ECDSASignature {
            guard let key = EllipticCurveKey(der: Array(derRepresentation)), let der = key.signature(of: Array(digest))
            else { throw CryptoKitError.underlyingCoreCryptoError(error: -1) }
            return ECDSASignature(signed: Data(der))
        }
    }
}

extension NISTSigning<P256>.PrivateKey {
    public func signature<Message: DataProtocol>(for data: Message) throws -> NISTSigning<P256>.ECDSASignature {
        try signature(for: SHA256.hash(data: data))
    }
}

extension NISTSigning<P384>.PrivateKey {
    public func signature<Message: DataProtocol>(for data: Message) throws -> NISTSigning<P384>.ECDSASignature {
        try signature(for: SHA384.hash(data: data))
    }
}

extension NISTSigning<P521>.PrivateKey {
    public func signature<Message: DataProtocol>(for data: Message) throws -> NISTSigning<P521>.ECDSASignature {
        try signature(for: SHA512.hash(data: data))
    }
}
