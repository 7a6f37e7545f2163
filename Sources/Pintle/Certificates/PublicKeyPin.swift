package import PintleCrypto

/// The SHA-256 of a certificate's SubjectPublicKeyInfo in DER (RFC 7469 section 2.4).
///
/// It stays the same when a certificate is renewed for the same key, even by another authority. It equals the output
/// of:
///
///     openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform DER |
///         openssl dgst -sha256 -binary | base64
///
/// The pin is the hash of the bytes in the certificate, while openssl encodes the key again. So the two differ for the
/// few certificates whose key was encoded otherwise: RSA without NULL as its parameters, and RSA-PSS with parameters
/// that openssl would write in another way.
public struct PublicKeyPin: Sendable, Hashable {
    package let digest: SHA256Digest

    package init(digest: SHA256Digest) {
        self.digest = digest
    }

    /// Parses a pin in any common notation: `sha256/BASE64`, `sha256//BASE64` (curl), `pin-sha256="BASE64"` (RFC 7469),
    /// or only the base64. The alphabet may be the standard or the URL-safe one, with or without padding.
    public init(_ text: some StringProtocol) throws(PinError) {
        let encoded = Array(try Self.withoutPrefix(text))
        // 64 hexadecimal digits are also valid base64, of 48 meaningless bytes. Report them as a fingerprint.
        if encoded.count >= 64,
            let bytes = try? Hex.decode(String(decoding: encoded, as: UTF8.self), allowingSeparators: true),
            bytes.count == 32
        {
            throw PinError(SHA256Digest(bytes: bytes) == .ofNothing ? .hashOfNothing : .fingerprint, in: text)
        }
        let bytes: [UInt8]
        do {
            bytes = try Base64.decode(encoded)
        } catch {
            if case .trailingBits(let bytes) = error.reason, let digest = SHA256Digest(bytes: bytes) {
                throw PinError(.notCanonical(PublicKeyPin(digest: digest)), in: text)
            }
            throw PinError(.notEncoded, in: text)
        }
        guard let digest = SHA256Digest(bytes: bytes) else { throw PinError(.wrongLength(bytes.count), in: text) }
        guard digest != .ofNothing else { throw PinError(.hashOfNothing, in: text) }
        self.digest = digest
    }

    /// Hashes a SubjectPublicKeyInfo.
    ///
    /// - Parameter der: the whole structure, as `openssl pkey -pubout -outform DER` writes it. Raw key bytes are
    ///   refused.
    public init(subjectPublicKeyInfo der: [UInt8]) throws(DERError) {
        try SubjectPublicKeyInfo.check(der)
        digest = SHA256Digest(hashing: der)
    }

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] { digest.bytes }

    /// A Boolean value that indicates whether this is a placeholder as used in examples: one base64 letter repeated,
    /// such as `AAAA…=` or `BBBB…=`.
    package var isPlaceholder: Bool {
        let bytes = digest.bytes
        guard let letter = bytes.first.map({ $0 >> 2 }) else { return false }
        // Four letters of six bits make three bytes.
        let period = [letter << 2 | letter >> 4, letter << 4 | letter >> 2, letter << 6 | letter]
        return zip(bytes, 0...).allSatisfy { $0 == period[$1 % 3] }
    }

    /// Returns the bytes of the text without its prefix.
    private static func withoutPrefix(_ text: some StringProtocol) throws(PinError) -> ArraySlice<UInt8> {
        guard text.utf8.count <= 1024 else { throw PinError(.notEncoded, in: text) }
        var rest = Array(text.utf8)[...]
        guard !rest.isEmpty else { throw PinError(.empty, in: text) }
        if rest.starts(with: "pin-sha256=".utf8) {
            rest = rest.dropFirst(11)
            let quote = UInt8(ascii: "\"")
            if rest.count >= 2, rest.first == quote, rest.last == quote { rest = rest.dropFirst().dropLast() }
        } else if rest.starts(with: "sha256/".utf8) {
            rest = rest.dropFirst(7)
            // Drop curl's second slash, but not a slash that begins the base64: one hash in 64 begins with one.
            let isWholeHash = rest.count == 43 || (rest.count == 44 && rest.last == UInt8(ascii: "="))
            if rest.first == UInt8(ascii: "/"), !isWholeHash { rest = rest.dropFirst() }
        } else if let name = ["sha1", "sha384", "sha512", "md5"].first(where: { rest.starts(with: ($0 + "/").utf8) }) {
            throw PinError(.unsupportedHash(name), in: text)
        }
        guard !rest.isEmpty else { throw PinError(.empty, in: text) }
        return rest
    }
}

extension PublicKeyPin: CustomStringConvertible {
    /// The notation that Pintle always prints: `sha256/` and padded standard base64.
    public var description: String { "sha256/" + Base64.encode(digest.bytes) }
}
