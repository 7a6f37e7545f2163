/// The reason why a text is not a pin. The description names the likely mistake, and the hint the remedy.
public struct PinError: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case empty
        /// The text is not base64, so it is not a public-key pin.
        case notEncoded
        /// The text is not hexadecimal, so it is not a certificate pin.
        case notHexadecimal
        /// The text is a certificate's fingerprint, but a public-key pin is required.
        case fingerprint
        /// The hash is not 32 bytes long. The associated value is its length.
        case wrongLength(Int)
        /// The last base64 character has bits that belong to no byte. The associated value is the pin without them.
        case notCanonical(PublicKeyPin)
        /// The text is the SHA-256 of no bytes, the usual result of a failed pipe.
        case hashOfNothing
        /// The prefix names an unsupported hash, such as `sha1/`.
        case unsupportedHash(String)
        /// A type of the app says what is wrong.
        case other(message: String, hint: String)
    }

    package let reason: Reason
    /// The text, cut after 100 characters.
    public let text: String

    init(_ reason: Reason, in text: some StringProtocol) {
        self.reason = reason
        // Cut by Unicode scalars: the text may be hostile, and a single `Character` can have any length.
        let shown = text.unicodeScalars.prefix(100)
        self.text = String(String.UnicodeScalarView(shown)) + (shown.endIndex < text.endIndex ? "…" : "")
    }

    /// Creates the error of a type of your own that conforms to ``PinConvertible``. Its code is `invalid-pin`.
    ///
    /// - Parameters:
    ///   - text: the text that is not a pin.
    ///   - message: the reason; lower case, no full stop.
    ///   - hint: the remedy; lower case, no full stop.
    public init(_ text: some StringProtocol, message: String, hint: String) {
        self.init(.other(message: message, hint: hint), in: text)
    }

    /// A stable code for machines. It is also the id of the problem in a ``PolicyError``.
    public var code: String {
        switch reason {
        case .empty, .notEncoded, .notHexadecimal, .fingerprint, .other: "invalid-pin"
        case .wrongLength: "wrong-pin-length"
        case .notCanonical: "non-canonical-pin"
        case .hashOfNothing: "empty-input-pin"
        case .unsupportedHash: "unsupported-hash"
        }
    }

    /// The remedy, in lower case and without a full stop.
    public var hint: String {
        switch reason {
        case .empty, .notEncoded: "a public-key pin is sha256/ and 44 characters of base64: pintle pin HOST"
        case .notHexadecimal: "a certificate pin is 64 hexadecimal digits: pintle pin HOST"
        case .fingerprint:
            "to pin the certificate write {\"certificate\": \"...\"}; the pin of its key comes from: pintle pin HOST"
        case .wrongLength(20): "20 bytes are a SHA-1 hash; take SHA-256: pintle pin HOST"
        case .wrongLength: "some of it is missing, or it is not a hash: pintle pin HOST"
        case .notCanonical(let pin) where pin.isPlaceholder: "put the pin of your key in its place: pintle pin HOST"
        case .notCanonical(let pin): "write \(pin)"
        case .hashOfNothing: "an openssl pipe failed before the hash; use: pintle pin HOST"
        case .unsupportedHash: "take SHA-256: pintle pin HOST"
        case .other(_, let hint): hint
        }
    }
}

extension PinError: CustomStringConvertible {
    /// The reason for people, in lower case and without a full stop.
    public var description: String {
        switch reason {
        case .empty: "the pin is empty"
        case .notEncoded: "\"\(text)\" is not a pin"
        case .notHexadecimal: "\"\(text)\" is not a fingerprint"
        case .fingerprint: "\"\(text)\" is the fingerprint of a certificate, not the pin of a key"
        case .wrongLength(1): "\"\(text)\" holds 1 byte; a SHA-256 hash has 32"
        case .wrongLength(let count): "\"\(text)\" holds \(count) bytes; a SHA-256 hash has 32"
        case .notCanonical(let pin) where pin.isPlaceholder:
            "\"\(text)\" is a placeholder that examples carry, not the hash of a key"
        case .notCanonical: "\"\(text)\" is not the canonical spelling of its bytes"
        case .hashOfNothing: "\"\(text)\" is the hash of nothing, not of a key"
        case .unsupportedHash(let name): "\"\(text)\" uses \(name), which is not supported"
        case .other(let message, _): message
        }
    }
}
