package import PintleCrypto

/// The SHA-256 of a whole certificate in DER. OpenSSL and browsers call it the fingerprint.
///
/// It changes with every renewal. If you do not control the renewal, pin the key instead.
public struct CertificatePin: Sendable, Hashable {
    package let digest: SHA256Digest

    package init(digest: SHA256Digest) {
        self.digest = digest
    }

    /// Parses 64 hexadecimal digits in upper or lower case. Colons, blanks or line breaks may separate the bytes, and
    /// the name of the hash may come first: `sha256 Fingerprint=AA:BB…` (openssl), `SHA256: AA:BB…` (keytool),
    /// `SHA-256: AA:BB…` (Android's signing report), `sha256:aabb…` (certtool), and the notations of browsers.
    public init(_ text: some StringProtocol) throws(PinError) {
        guard text.utf8.count <= 1024 else { throw PinError(.notHexadecimal, in: text) }
        let digits = Self.withoutLabel(text)
        guard !digits.isEmpty else { throw PinError(.empty, in: text) }
        guard let bytes = try? Hex.decode(digits, allowingSeparators: true) else {
            throw PinError(.notHexadecimal, in: text)
        }
        guard let digest = SHA256Digest(bytes: bytes) else { throw PinError(.wrongLength(bytes.count), in: text) }
        guard digest != .ofNothing else { throw PinError(.hashOfNothing, in: text) }
        self.digest = digest
    }

    /// Returns the text without the name of the hash, the word "fingerprint" and surrounding blanks. Text copied from a
    /// certificate dialog can begin with a left-to-right mark, which is dropped like a blank.
    private static func withoutLabel(_ text: some StringProtocol) -> Substring {
        // Not characters: a blank and the combining mark behind it are one character.
        typealias Scalars = Substring.UnicodeScalarView
        func trimmed(_ text: Scalars) -> Scalars {
            text.drop { $0.properties.isWhitespace || $0 == "\u{200E}" }
        }
        func dropping(_ words: [String], from text: Scalars) -> Scalars? {
            for word in words where Substring(text.prefix(word.count)).lowercased() == word {
                return text.dropFirst(word.count)
            }
            return nil
        }
        var rest = trimmed(Substring(text).unicodeScalars)
        if let named = dropping(["sha256", "sha-256"], from: rest) {
            let label = trimmed(named)
            let value = trimmed(dropping(["fingerprint"], from: label) ?? label)
            // Drop the name only before `:`, `=`, a blank or the end: otherwise it may be the start of another hash's
            // name.
            if let sign = value.first, sign == ":" || sign == "=" {
                rest = trimmed(value.dropFirst())
            } else if label.startIndex != named.startIndex || value.isEmpty {
                rest = value
            }
        }
        while rest.last?.properties.isWhitespace == true { rest = rest.dropLast() }
        return Substring(rest)
    }

    /// Hashes a certificate in DER.
    public init(certificate der: [UInt8]) {
        digest = SHA256Digest(hashing: der)
    }

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] { digest.bytes }

    /// `AA:BB:…`, upper case with colons, as browsers and openssl print it.
    public var colons: String { Hex.encode(digest.bytes, upperCase: true, separator: ":") }

    /// Two rows of sixteen bytes in upper case with colons, for people to compare by eye.
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
