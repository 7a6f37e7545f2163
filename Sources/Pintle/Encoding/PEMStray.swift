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
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
