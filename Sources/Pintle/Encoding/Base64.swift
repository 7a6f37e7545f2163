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
        var decoder = Base64Decoder(alphabet: alphabet, capacity: text.count / 4 * 3 + 3)
        var offset = 0
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

/// Base64 a character at a time.
struct Base64Decoder {
    private var alphabet: Base64.Alphabet
    private(set) var bytes: [UInt8] = []
    private var buffer: UInt32 = 0
    private var bits: UInt32 = 0
    private var paddingCount = 0
    private var lastDigitOffset = 0

    init(alphabet: Base64.Alphabet, capacity: Int) {
        self.alphabet = alphabet
        bytes.reserveCapacity(capacity)
    }

    mutating func feed(_ character: UInt8, at offset: Int) throws(Base64.DecodingError) {
        if character == UInt8(ascii: "=") {
            paddingCount += 1
            return
        }
        let digit = try value(of: character, at: offset)
        guard paddingCount == 0 else { throw .init(reason: .wrongPadding, offset: offset) }
        lastDigitOffset = offset
        buffer = buffer << 6 | UInt32(digit)
        bits += 6
        if bits >= 8 {
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
        }
    }

    /// Feeds groups of four digits that make three bytes, up to the first that has anything else in it: a mistake, a
    /// blank, padding, a digit of the other alphabet.
    ///
    /// - Returns: the offset of what was not fed.
    mutating func feedGroups(of text: [UInt8], from start: Int) -> Int {
        guard bits == 0, paddingCount == 0, text.count - start >= 4 else { return start }
        let digits = Self.digits
        var allowed: UInt8 =
            switch alphabet {
            case .standard: Self.isStandard
            case .urlSafe: Self.isURLSafe
            case .either: Self.isStandard | Self.isURLSafe
            }
        var offset = start
        while offset + 4 <= text.count {
            let first = digits[Int(text[offset])]
            let second = digits[Int(text[offset + 1])]
            let third = digits[Int(text[offset + 2])]
            let fourth = digits[Int(text[offset + 3])]
            let marks = (first | second | third | fourth) & Self.marks
            if marks != 0 {
                // Both at once are a mistake, or both alphabets.
                guard marks != Self.marks, marks & allowed != 0 else { break }
                if allowed == Self.marks {
                    allowed = marks
                    alphabet = marks == Self.isStandard ? .standard : .urlSafe
                    isSettled = true
                }
            }
            let group =
                UInt32(first & 63) << 18 | UInt32(second & 63) << 12 | UInt32(third & 63) << 6 | UInt32(fourth & 63)
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            offset += 4
        }
        return offset
    }

    private static let isStandard: UInt8 = 0x40
    private static let isURLSafe: UInt8 = 0x80
    private static let marks = isStandard | isURLSafe

    /// What each character is worth, with the mark of the alphabet where only one has it, and both for no digit.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: 0xFF, count: 256)
        let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        for (value, character) in common.enumerated() { digits[Int(character)] = UInt8(value) }
        for (characters, mark) in [("+/", isStandard), ("-_", isURLSafe)] {
            for (value, character) in zip([UInt8(62), 63], characters.utf8) { digits[Int(character)] = value | mark }
        }
        return digits
    }()

    func finish(padding: Base64.Padding, at end: Int) throws(Base64.DecodingError) -> [UInt8] {
        // Six bits left: one character alone. Four: two characters for one byte. Two: three for two bytes.
        guard bits != 6 else { throw .init(reason: .truncated, offset: end) }
        let required = Int(bits / 2)
        let isPadded = paddingCount == required
        guard isPadded || padding == .optional && paddingCount == 0 else {
            throw .init(reason: .wrongPadding, offset: end)
        }
        guard buffer & (1 << bits - 1) == 0 else {
            throw .init(reason: .trailingBits(bytes: bytes), offset: lastDigitOffset)
        }
        return bytes
    }

    private mutating func value(of character: UInt8, at offset: Int) throws(Base64.DecodingError) -> UInt8 {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "/"):
            try settle(on: .standard, character, at: offset)
            return character == UInt8(ascii: "+") ? 62 : 63
        case UInt8(ascii: "-"), UInt8(ascii: "_"):
            try settle(on: .urlSafe, character, at: offset)
            return character == UInt8(ascii: "-") ? 62 : 63
        default:
            throw .init(reason: .invalidCharacter(character), offset: offset)
        }
    }

    private var isSettled = false

    private mutating func settle(
        on wanted: Base64.Alphabet, _ character: UInt8, at offset: Int
    ) throws(Base64.DecodingError) {
        switch alphabet {
        case .either:
            alphabet = wanted
            isSettled = true
        case wanted:
            break
        default:
            throw .init(reason: isSettled ? .mixedAlphabets : .invalidCharacter(character), offset: offset)
        }
    }
}
