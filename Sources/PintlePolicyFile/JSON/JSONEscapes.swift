internal import Pintle

/// A decoder for the escapes of RFC 8259 section 7.
enum JSONEscapes {
    /// Decodes the escapes of a string that the parser has accepted.
    static func decode(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(content.count)
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
                decoded.append(byte)
                continue
            }
            if letter == UInt8(ascii: "u") {
                let scalar = popScalar(from: &rest) ?? "\u{FFFD}"
                decoded.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            } else {
                decoded.append(short(letter) ?? letter)
            }
        }
        return decoded
    }

    /// Returns the character of a one-letter escape, or `nil` for an unknown one.
    static func short(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Removes the digits after `\u` and returns their character: one unit, or a surrogate pair with a second `\u`
    /// between the halves. Returns `nil` for invalid digits and for half a pair.
    static func popScalar(from rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = popUnit(from: &rest) else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first & 0xFC00 == 0xD800, rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return nil }
        rest.removeFirst(2)
        guard let second = popUnit(from: &rest), second & 0xFC00 == 0xDC00 else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF)))
    }

    /// Removes and returns four hexadecimal digits of either case, or returns `nil`.
    static func popUnit(from rest: inout ArraySlice<UInt8>) -> UInt16? {
        guard rest.count >= 4 else { return nil }
        var unit: UInt16 = 0
        for byte in rest.prefix(4) {
            guard let digit = Hex.value(of: byte) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        rest.removeFirst(4)
        return unit
    }
}
