public import Pintle
internal import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A public Ed25519 key (RFC 8032) that verifies updates.
///
/// Ship the keys inside the app. A key that arrives with an update or from the same server proves nothing.
public struct UpdateKey: Sendable, Hashable {
    /// The raw key, 32 bytes.
    public let rawRepresentation: [UInt8]

    /// The lower-case hexadecimal SHA-256 of the 32 bytes, which names the key in texts and envelopes.
    public var id: String { Hex.encode(SHA256Digest(hashing: rawRepresentation).bytes) }

    /// Creates a key from its raw form.
    ///
    /// - Parameter rawRepresentation: the key, 32 bytes.
    /// - Throws: if there are not 32 bytes, for encodings that RFC 8032 does not allow, and for weak keys, for which
    ///   anyone can make signatures.
    public init(rawRepresentation: [UInt8]) throws(UpdateKeyError) {
        guard rawRepresentation.count == Ed25519.keySize else {
            throw UpdateKeyError("the key has \(rawRepresentation.count) bytes; an Ed25519 key has 32")
        }
        guard Ed25519.isAcceptable(publicKey: rawRepresentation) else {
            throw UpdateKeyError("the key is one that anyone can sign for, or is not canonically encoded")
        }
        self.rawRepresentation = rawRepresentation
    }

    /// Creates a key from a DER SubjectPublicKeyInfo (RFC 8410 section 4).
    public init(subjectPublicKeyInfo der: [UInt8]) throws(UpdateKeyError) {
        // The algorithm has no parameters and the key has a fixed length, so every such key begins with these DER
        // bytes.
        let beginning: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        guard der.starts(with: beginning) else {
            throw UpdateKeyError("not an Ed25519 public key; make one with: pintle keygen --out update.key")
        }
        try self.init(rawRepresentation: Array(der.dropFirst(beginning.count)))
    }

    /// Creates a key from a PEM SubjectPublicKeyInfo, `-----BEGIN PUBLIC KEY-----`, as `pintle keygen` writes it into
    /// `update.key.pub`, and as `openssl pkey -pubout` prints it.
    public init(pem: String) throws(UpdateKeyError) {
        let blocks: [PEMBlock]
        do {
            blocks = try PEMReader.blocks(in: Array(pem.utf8))
        } catch {
            throw UpdateKeyError("not readable as PEM: \(error)")
        }
        guard blocks.count == 1, let block = blocks.first else {
            throw UpdateKeyError("\(blocks.count) PEM blocks where one public key should stand")
        }
        guard block.label == "PUBLIC KEY" else {
            let hint = block.label.hasSuffix("PRIVATE KEY") ? "; keep a private key with the person who signs" : ""
            throw UpdateKeyError("a \(block.label) where a PUBLIC KEY should stand\(hint)")
        }
        try self.init(subjectPublicKeyInfo: block.bytes)
    }
}

/// The reason that bytes are not a usable update key, or that keys cannot be an ``UpdateTrust``.
public struct UpdateKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line, lower case, no full stop.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension UpdateKeyError: LocalizedError, DescribedError {}
