/// Base64 (RFC 4648 sections 4 and 5), read canonically: every byte string has one spelling in each alphabet, with
/// and without padding.
package enum Base64 {
    package enum Alphabet: Sendable {
        /// `+` and `/`.
        case standard
        /// `-` and `_`.
        case urlSafe
        /// Whichever comes first; the two are not mixed. For reading only.
        case either
    }

    package enum Padding: Sendable {
        /// The last quantum is filled up with `=`.
        case required
        /// No `=` at all, or as many as `required` asks for.
        case optional
    }

    package struct DecodingError: Error, Sendable, Equatable {
        package enum Reason: Sendable, Equatable {
            case invalidCharacter(UInt8)
            /// One text holds characters of both alphabets.
            case mixedAlphabets
            /// `=` missing where it is required, too many or too few of them, or something after them.
            case wrongPadding
            /// One character is left over, which holds less than a byte: some of the text is missing.
            case truncated
            /// The last character has bits set that belong to no byte. `bytes` is what the rest says, so that the
            /// right spelling can be printed.
            case trailingBits(bytes: [UInt8])
        }
        package let reason: Reason
        /// In bytes from the start of the text.
        package let offset: Int
    }

    /// `alphabet` is `.standard` or `.urlSafe`.
    package static func encode(
        _ bytes: some Sequence<UInt8>, alphabet: Alphabet = .standard, padded: Bool = true
    ) -> String {
        let isURLSafe = if case .urlSafe = alphabet { true } else { false }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount / 3 * 4 + 4)
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(character(UInt8(buffer >> UInt32(bits) & 63), isURLSafe))
            }
        }
        if bits > 0 {
            text.append(character(UInt8(buffer << UInt32(6 - bits) & 63), isURLSafe))
            while padded, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func decode(
        _ text: some StringProtocol, alphabet: Alphabet = .either, padding: Padding = .optional
    ) throws(DecodingError) -> [UInt8] {
        try decode(Array(text.utf8), alphabet: alphabet, padding: padding)
    }

    /// Reads ASCII. White space is refused; with `skippingBlanks` it may stand anywhere.
    package static func decode(
        _ text: [UInt8], alphabet: Alphabet = .either, padding: Padding = .optional, skippingBlanks: Bool = false
    ) throws(DecodingError) -> [UInt8] {
        var (decoder, offset) = Base64Decoder.reading(text, alphabet: alphabet)
        while offset < text.count {
            offset = decoder.feedGroups(of: text, from: offset)
            // The next few one by one: what stopped the groups is among them, or the text ends.
            let end = min(offset + 4, text.count)
            while offset < end {
                if !(skippingBlanks && text[offset].isBlank) { try decoder.feed(text[offset], at: offset) }
                offset += 1
            }
        }
        return try decoder.finish(padding: padding, at: text.count)
    }

    private static func character(_ value: UInt8, _ isURLSafe: Bool) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: isURLSafe ? "-" : "+")
        default: UInt8(ascii: isURLSafe ? "_" : "/")
        }
    }
}
