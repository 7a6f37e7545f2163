/// A canonical base64 codec (RFC 4648 sections 4 and 5): for each alphabet and padding, the decoder accepts exactly one
/// spelling of a byte string.
package enum Base64 {
    package enum Alphabet: Sendable {
        /// The alphabet with `+` and `/`.
        case standard
        /// The alphabet with `-` and `_`.
        case urlSafe
        /// For decoding: the alphabet of the first character that only one of them has. Mixing the two is an error.
        case either
    }

    package enum Padding: Sendable {
        /// The last group of four must be filled with `=`.
        case required
        /// Either no `=` at all, or all that `required` demands.
        case optional
    }

    package struct DecodingError: Error, Sendable, Equatable {
        package enum Reason: Sendable, Equatable {
            case invalidCharacter(UInt8)
            /// The text holds characters of both alphabets.
            case mixedAlphabets
            /// Required padding is missing, the number of `=` is wrong, or characters follow it.
            case wrongPadding
            /// One character is left over. It holds less than a byte, so part of the text is missing.
            case truncated
            /// The last character has bits set that belong to no byte. `bytes` is the result without them, so that a
            /// message can print the correct spelling.
            case trailingBits(bytes: [UInt8])
        }
        package let reason: Reason
        /// The position of the error in bytes from the start of the text.
        package let offset: Int
    }

    /// Encodes bytes. `alphabet` must be `.standard` or `.urlSafe`.
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

    /// Decodes ASCII. White space is an error unless `skippingBlanks` is true.
    package static func decode(
        _ text: [UInt8], alphabet: Alphabet = .either, padding: Padding = .optional, skippingBlanks: Bool = false
    ) throws(DecodingError) -> [UInt8] {
        try decode(text[...], alphabet: alphabet, padding: padding, skippingBlanks: skippingBlanks)
    }

    /// Decodes ASCII. The offset in an error counts from the first character of the slice.
    package static func decode(
        _ text: ArraySlice<UInt8>, alphabet: Alphabet = .either, padding: Padding = .optional,
        skippingBlanks: Bool = false
    ) throws(DecodingError) -> [UInt8] {
        var decoder = Base64Decoder(alphabet: alphabet, capacity: text.count * 6 / 8)
        for index in text.indices where !(skippingBlanks && text[index].isBlank) {
            try decoder.feed(text[index], at: index - text.startIndex)
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
