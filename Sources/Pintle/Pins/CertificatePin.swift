package import PintleCrypto

/// The SHA-256 of a whole certificate, DER: what openssl and browsers call its fingerprint.
///
/// It changes with every renewal. Pin the key instead wherever the certificate is not yours to keep.
public struct CertificatePin: Sendable, Hashable {
    package let digest: SHA256Digest

    package init(digest: SHA256Digest) {
        self.digest = digest
    }

    /// Reads 64 hexadecimal digits in either case, with colons or blanks between bytes or without:
    /// the forms that openssl and browsers show, the `sha256 Fingerprint=` of openssl included.
    public init(_ text: some StringProtocol) throws(PinError) {
        guard text.utf8.count <= 1024 else { throw PinError(.notHexadecimal, in: text) }
        var rest = Substring(text)
        for prefix in ["sha256 Fingerprint=", "SHA256 Fingerprint="] where rest.hasPrefix(prefix) {
            rest = rest.dropFirst(prefix.count)
        }
        while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        guard !rest.isEmpty else { throw PinError(.empty, in: text) }
        guard let bytes = try? Hex.decode(rest, allowingSeparators: true) else {
            throw PinError(.notHexadecimal, in: text)
        }
        guard let digest = SHA256Digest(bytes: bytes) else { throw PinError(.wrongLength(bytes.count), in: text) }
        guard digest != .ofNothing else { throw PinError(.hashOfNothing, in: text) }
        self.digest = digest
    }

    /// Hashes a certificate, DER.
    public init(certificate der: [UInt8]) {
        digest = SHA256Digest(hashing: der)
    }

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] { digest.bytes }

    /// For people to compare by eye: two rows of sixteen bytes, upper case with colons.
    public var rows: (String, String) {
        let bytes = digest.bytes
        return (
            Hex.encode(bytes[..<16], upperCase: true, separator: ":"),
            Hex.encode(bytes[16...], upperCase: true, separator: ":")
        )
    }
}

extension CertificatePin: CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public var description: String { Hex.encode(digest.bytes) }
}
