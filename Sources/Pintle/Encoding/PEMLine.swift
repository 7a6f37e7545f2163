/// A line of a PEM file, without its line break.
struct PEMLine: Sendable {
    enum Boundary: Equatable {
        case begin(String)
        case end(String)
    }

    let text: ArraySlice<UInt8>
    /// The line number, counted from 1.
    let number: Int

    /// The text without trailing blanks, which RFC 7468 allows after base64 and boundaries.
    var trimmed: ArraySlice<UInt8> {
        var rest = text
        while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
        return rest
    }

    /// A Boolean value that indicates whether the line begins like a boundary, well formed or not.
    var meansToBeBoundary: Bool {
        let content = text.drop(while: Self.isBlank)
        return content.starts(with: Self.begin) || content.starts(with: Self.end)
    }

    /// A Boolean value that indicates whether the line holds a control byte that text does not have. DER and UTF-16
    /// have many.
    var holdsControlByte: Bool {
        text.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0C || $0 == 0x7F }
    }

    var isIndented: Bool { text.first.map(Self.isBlank) ?? false }

    /// A Boolean value that indicates whether the line holds two boundaries, `-----END A----------BEGIN B-----`. This
    /// happens when two files are joined without a line break.
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

    /// The boundary on this line, or `nil` unless it is well formed.
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

    /// Returns the label of a boundary, or `nil` if it is invalid. RFC 7468 allows printable ASCII, with single dashes
    /// and blanks only inside.
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
