internal import COpenSSL
public import Foundation

public enum CryptoKitError: Error {
    case incorrectKeySize
    case underlyingCoreCryptoError(error: Int32)
}

public enum Curve25519 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public let rawRepresentation: Data

            public init<Bytes: ContiguousBytes>(rawRepresentation data: Bytes) throws {
                rawRepresentation = data.withUnsafeBytes { Data($0) }
                guard rawRepresentation.count == 32 else { throw CryptoKitError.incorrectKeySize }
            }

            public func isValidSignature<Signature: DataProtocol, Message: DataProtocol>(
                _ signature: Signature, for data: Message
            ) -> Bool {
                let (key, signature, message) = (Array(rawRepresentation), Array(signature), Array(data))
                guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, key, key.count),
                    let context = EVP_MD_CTX_new()
                else { return false }
                defer {
                    EVP_MD_CTX_free(context)
                    EVP_PKEY_free(key)
                    ERR_clear_error()
                }
                return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
                    && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
            }
        }

        public struct PrivateKey: Sendable {
            private let seed: [UInt8]
            public let publicKey: PublicKey
            public var rawRepresentation: Data { Data(seed) }

            public init() {
                var generator = SystemRandomNumberGenerator()
                let seed = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
                // Any 32 bytes are a valid seed, so this can fail only without Ed25519.
                guard let key = try? PrivateKey(rawRepresentation: seed) else { fatalError("OpenSSL has no Ed25519") }
                self = key
            }

            public init<Bytes: ContiguousBytes>(rawRepresentation data: Bytes) throws {
                seed = data.withUnsafeBytes { Array($0) }
                guard seed.count == 32,
                    let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
                else { throw CryptoKitError.incorrectKeySize }
                defer { EVP_PKEY_free(key) }
                var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
                EVP_PKEY_get_raw_public_key(key, &bytes, &count)
                publicKey = try PublicKey(rawRepresentation: bytes)
            }

            public func signature<Message: DataProtocol>(for data: Message) throws -> Data {
                let message = Array(data)
                guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count),
                    let context = EVP_MD_CTX_new()
                else { throw CryptoKitError.underlyingCoreCryptoError(error: -1) }
                defer {
                    EVP_MD_CTX_free(context)
                    EVP_PKEY_free(key)
                    ERR_clear_error()
                }
                var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
                guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
                    EVP_DigestSign(context, &bytes, &count, message, message.count) == 1
                else { throw CryptoKitError.underlyingCoreCryptoError(error: -1) }
                return Data(bytes)
            }
        }
    }
}
