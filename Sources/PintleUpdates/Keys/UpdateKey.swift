public import Pintle
internal import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A public Ed25519 key (RFC 8032) that updates may be signed with.
///
/// Ship keys inside the app. One that arrives with an update, or from the same server, proves nothing.
public struct UpdateKey: Sendable, Hashable {
    /// 32 bytes.
    public let rawRepresentation: [UInt8]

    /// Lower-case hexadecimal SHA-256 of the 32 bytes: how people and envelopes name the key.
    public var id: String { Hex.encode(SHA256Digest(hashing: rawRepresentation).bytes) }

    /// A key in its raw form.
    ///
    /// - Throws: for anything but 32 bytes, and for encodings that RFC 8032 does not have or that anyone can sign for.
    public init(rawRepresentation: [UInt8]) throws(UpdateKeyError) {
        guard rawRepresentation.count == Ed25519.keySize else {
            throw UpdateKeyError("the key has \(rawRepresentation.count) bytes; an Ed25519 key has 32")
        }
        guard Ed25519.isAcceptable(publicKey: rawRepresentation) else {
            throw UpdateKeyError("the key is one that anyone can sign for, or is not canonically encoded")
        }
        self.rawRepresentation = rawRepresentation
    }

    /// A SubjectPublicKeyInfo, DER (RFC 8410 section 4).
    public init(subjectPublicKeyInfo der: [UInt8]) throws(UpdateKeyError) {
        // The algorithm has no parameters and the key one length: DER spells every such key with this beginning.
        let beginning: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        guard der.starts(with: beginning) else {
            throw UpdateKeyError("not an Ed25519 public key; make one with: pintle keygen --out update.key")
        }
        try self.init(rawRepresentation: Array(der.dropFirst(beginning.count)))
    }

    /// A SubjectPublicKeyInfo in PEM, `-----BEGIN PUBLIC KEY-----`: what `pintle keygen` writes into `update.key.pub`,
    /// and `openssl pkey -pubout` prints.
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

/// Why bytes are no key that updates may be trusted by.
public struct UpdateKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line, lower case, no full stop.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension UpdateKeyError: LocalizedError, DescribedError {}
