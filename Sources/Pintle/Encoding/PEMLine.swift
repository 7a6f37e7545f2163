/// A line of a PEM file, without its line break.
struct PEMLine: Sendable {
    enum Boundary: Equatable {
        case begin(String)
        case end(String)
    }

    let text: ArraySlice<UInt8>
    /// From 1.
    let number: Int

    /// Without the blanks at its end, which RFC 7468 lets stand after base64 and boundaries.
    var trimmed: ArraySlice<UInt8> {
        var rest = text
        while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
        return rest
    }

    /// Whether whoever wrote this line meant a boundary, well formed or not.
    var meansToBeBoundary: Bool {
        let content = text.drop(while: Self.isBlank)
        return content.starts(with: Self.begin) || content.starts(with: Self.end)
    }

    /// Whether there is a byte that no text has: what DER and UTF-16 are full of.
    var holdsControlByte: Bool {
        text.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0C || $0 == 0x7F }
    }

    var isIndented: Bool { text.first.map(Self.isBlank) ?? false }

    /// `-----END A----------BEGIN B-----`: what two files make that were joined without a line break.
    var holdsTwoBoundaries: Bool {
        var dashes = 0
        var groups = 0
        for byte in text {
            dashes = byte == UInt8(ascii: "-") ? dashes + 1 : 0
            if dashes == Self.dashes.count {
                groups += 1
                dashes = 0
            }
        }
        return groups > 2
    }

    /// The boundary that this line is, or `nil` unless every dash is in its place.
    var boundary: Boundary? {
        let content = trimmed
        let isBegin = content.starts(with: Self.begin)
        guard isBegin || content.starts(with: Self.end), content.suffix(5).elementsEqual(Self.dashes) else {
            return nil
        }
        let prefix = isBegin ? Self.begin.count : Self.end.count
        guard content.count >= prefix + 5, let label = Self.label(content.dropFirst(prefix).dropLast(5)) else {
            return nil
        }
        return isBegin ? .begin(label) : .end(label)
    }

    /// RFC 7468: printable ASCII, with single dashes and blanks inside only.
    private static func label(_ bytes: ArraySlice<UInt8>) -> String? {
        var afterSeparator = true
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: " "):
                if afterSeparator { return nil }
                afterSeparator = true
            case 0x21...0x7E: afterSeparator = false
            default: return nil
            }
        }
        guard !afterSeparator, bytes.count <= 64 else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
