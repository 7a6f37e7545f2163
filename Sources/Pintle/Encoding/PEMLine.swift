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
    var resemblesBoundary: Bool {
        let content = text.drop(while: Self.isBlank)
        return content.starts(with: Self.begin) || content.starts(with: Self.end)
    }

    /// A Boolean value that indicates whether the line holds a control byte, which text rarely does. DER and UTF-16
    /// have many.
    var holdsControlByte: Bool {
        text.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0C || $0 == 0x7F }
    }

    /// A Boolean value that indicates whether the line holds four dashes in UTF-16 or UTF-32, as boundaries do.
    var holdsWideDashes: Bool {
        var (dashes, zeros) = (0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"):
                dashes = zeros == 1 || zeros == 3 ? dashes + 1 : 1
                zeros = 0
                if dashes == 4 { return true }
            case 0: zeros += 1
            default: (dashes, zeros) = (0, 0)
            }
        }
        return false
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

extension PEMLine {
    /// The kind of a line that a person would take for a boundary although it is not well formed. Such a line is quoted
    /// in a mail (`> -----BEGIN CERTIFICATE-----`), in lower case, a dash short, or has the dashes of a word processor.
    ///
    /// Prose about certificates does not count: the line must have `BEGIN` or `END`, a known label, and dashes.
    enum Stray: Sendable {
        case begin, end
    }

    var stray: Stray? {
        guard text.contains(where: { $0 == UInt8(ascii: "-") || $0 >= 0xE2 }) else { return nil }
        let line = text.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }
        let holdsTwoDashes = zip(line, line.dropFirst()).contains { ($0, $1) == (Self.dash, Self.dash) }
        for start in line.indices {
            let rest = line[start...]
            let isBegin = rest.starts(with: Self.beginWord)
            guard isBegin || rest.starts(with: Self.endWord), start == 0 || !Self.isLetter(line[start - 1]) else {
                continue
            }
            let label = rest.dropFirst(isBegin ? Self.beginWord.count : Self.endWord.count).drop(while: Self.isBlank)
            guard Self.isLabel(label), holdsTwoDashes || Self.endsInDash(line[..<start]) else { continue }
            return isBegin ? .begin : .end
        }
        return nil
    }

    /// A Boolean value that indicates whether the line resembles the base64 of a certificate or key whose boundaries
    /// are missing. `MI` is how a SEQUENCE of more than 127 bytes begins.
    var isStrayBase64: Bool {
        let content = trimmed.drop(while: Self.isBlank)
        return content.count >= 48 && content.starts(with: "MI".utf8)
            && content.allSatisfy { Self.isLetter($0) || (0x2F...0x39).contains($0) || $0 == 0x2B || $0 == 0x3D }
    }

    /// Returns whether the text begins with a known label such as `CERTIFICATE` that no letter follows, because a
    /// letter would make it another word.
    private static func isLabel(_ text: ArraySlice<UInt8>) -> Bool {
        labels.contains { label in
            text.starts(with: label) && !(text.dropFirst(label.count).first.map(isLetter) ?? false)
        }
    }

    /// Returns whether the text ends in an ASCII dash, or in a typographic dash and optional blanks.
    private static func endsInDash(_ text: ArraySlice<UInt8>) -> Bool {
        if text.last == dash { return true }
        var rest = text
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return longDashes.contains { rest.suffix(3).elementsEqual($0) }
    }

    private static let dash = UInt8(ascii: "-")
    private static let beginWord = Array("BEGIN".utf8)
    private static let endWord = Array("END".utf8)
    /// The common labels. A longer label counts if it begins with one of these.
    private static let labels = [
        "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "NEW CERTIFICATE", "PKCS7", "PUBLIC KEY",
        "RSA PUBLIC KEY", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
    ].map { Array($0.utf8) }
    /// The UTF-8 of the typographic dashes: U+2010 (hyphen) to U+2015 (horizontal bar), U+2212 (minus sign) and U+FF0D
    /// (full-width hyphen).
    private static let longDashes =
        (0x90...0x95).map { [0xE2, 0x80, $0] as [UInt8] } + [[0xE2, 0x88, 0x92], [0xEF, 0xBC, 0x8D]]

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
}
