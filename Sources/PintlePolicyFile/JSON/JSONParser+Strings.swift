internal import Pintle

extension JSONParser {
    /// Parses a string, from the opening to the closing quote, and appends its node.
    mutating func parseString() throws(JSONError) {
        let start = position
        var hasEscapes = false
        position += 1
        scanning: while true {
            while position < bytes.count, isPlain(bytes[position]) { position += 1 }
            guard position < bytes.count else {
                throw error(
                    .unexpectedEnd, at: start, "this string has no closing quote", hint: "add it where the string ends")
            }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                break scanning
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            case 0..<0x20:
                throw controlCharacter(openedAt: start)
            default:
                position = try endOfScalar(at: position)
            }
        }
        position += 1
        nodes.append(
            .init(kind: .string, start: start, end: position, next: nodes.count + 1, hasEscapes: hasEscapes))
    }

    /// Returns whether a byte needs no check: ASCII other than quotes, backslashes and control characters.
    private func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private func controlCharacter(openedAt start: Int) -> JSONError {
        switch bytes[position] {
        case 0x0A, 0x0D:
            error(
                .controlCharacter, at: position, "a line break inside a string",
                hint: "close the string, or write \\n where a line break is meant")
        case 0x09:
            error(.controlCharacter, at: position, "a tab inside a string", hint: "write \\t")
        case let byte:
            error(
                .controlCharacter, at: position,
                "the control character U+00\(Hex.encode([byte], upperCase: true)) inside a string",
                hint: "remove it, or write it as an escape")
        }
    }

    private mutating func skipEscape() throws(JSONError) {
        let start = position
        position += 1
        let letter = current
        guard letter == UInt8(ascii: "u") else {
            guard JSONEscapes.short(letter) != nil else {
                throw error(
                    .invalidEscape, at: start, "an unknown escape in a string",
                    hint: "a back-slash itself is written \\\\")
            }
            position += 1
            return
        }
        var rest = bytes[(position + 1)...]
        guard JSONEscapes.popScalar(from: &rest) != nil else {
            var digits = bytes[(position + 1)...]
            guard JSONEscapes.popUnit(from: &digits) != nil else {
                throw error(.invalidEscape, at: start, "\\u needs four hexadecimal digits")
            }
            throw error(
                .loneSurrogate, at: start, "half of a surrogate pair",
                hint: "write the character itself, or both halves")
        }
        position = rest.startIndex
    }

    /// Returns the offset after the UTF-8 sequence at `start`. Throws unless it is well-formed (RFC 3629 section 4): no
    /// overlong form, no surrogate, nothing above U+10FFFF.
    func endOfScalar(at start: Int) throws(JSONError) -> Int {
        let first = bytes[start]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0..<0x80: return start + 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw invalidUTF8(at: start)
        }
        guard bytes.count - start >= length, second.contains(bytes[start + 1]) else { throw invalidUTF8(at: start) }
        for offset in start + 2..<max(start + length, start + 2) where bytes[offset] & 0xC0 != 0x80 {
            throw invalidUTF8(at: start)
        }
        return start + length
    }

    private func invalidUTF8(at offset: Int) -> JSONError {
        error(
            .invalidUTF8, at: offset, "not UTF-8: a stray byte 0x\(Hex.encode([bytes[offset]], upperCase: true))",
            hint: "save the file as UTF-8")
    }
}
