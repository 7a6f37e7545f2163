/// A codec for hexadecimal digits (RFC 4648 section 8).
package enum Hex {
    package struct DecodingError: Error, Sendable, Equatable {
        package enum Reason: Sendable, Equatable {
            /// The character is neither a digit nor an allowed separator.
            case invalidCharacter
            /// A byte has only one digit.
            case oddDigitCount
        }
        package let reason: Reason
        /// The position of the error in UTF-8 bytes from the start of the text.
        package let offset: Int
    }

    /// Encodes two digits a byte, in lower case by default, with `separator` between the bytes.
    package static func encode(
        _ bytes: some Sequence<UInt8>, upperCase: Bool = false, separator: Character? = nil
    ) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            if let separator, !text.isEmpty { text.append(contentsOf: String(separator).utf8) }
            text.append(digit(byte >> 4, upperCase))
            text.append(digit(byte & 15, upperCase))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes digits of either case. If `allowingSeparators` is true, white space and at most one colon may stand
    /// between two bytes, but not inside a byte: `a2:2A F0` is three bytes, `a:2` is an error.
    package static func decode(
        _ text: some StringProtocol, allowingSeparators: Bool = false
    ) throws(DecodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        var separators = 0
        var hasColon = false
        for (offset, character) in text.utf8.enumerated() {
            if let digit = value(of: character) {
                if let first = high {
                    bytes.append(first << 4 | digit)
                }
                high = high == nil ? digit : nil
                (separators, hasColon) = (0, false)
                continue
            }
            let isColon = character == UInt8(ascii: ":")
            let separates = isColon && !hasColon || character.isBlank
            guard allowingSeparators, separates, high == nil, !bytes.isEmpty else {
                throw DecodingError(reason: .invalidCharacter, offset: offset)
            }
            hasColon = hasColon || isColon
            separators += 1
        }
        guard high == nil else { throw DecodingError(reason: .oddDigitCount, offset: text.utf8.count) }
        guard separators == 0 else {
            throw DecodingError(reason: .invalidCharacter, offset: text.utf8.count - separators)
        }
        return bytes
    }

    /// Returns the value of a digit, or `nil` for any other character.
    package static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func digit(_ value: UInt8, _ upperCase: Bool) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: upperCase ? "A" : "a") + value - 10
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether this is white space that may separate hexadecimal or base64 digits: a
    /// blank, a tab, or part of a line break.
    package var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
