extension PEMLine {
    /// Which boundary a person sees in a line that is none: quoted in a mail (`> -----BEGIN CERTIFICATE-----`), in lower
    /// case, with a dash too few, or with the dashes of a word processor.
    ///
    /// Text that speaks of certificates is no boundary: `BEGIN` or `END`, what it is of, and dashes have to be there.
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

    /// How the base64 of a certificate or a key begins, which somebody has left without its boundaries: a SEQUENCE of
    /// more than 127 bytes.
    var isStrayBase64: Bool {
        let content = trimmed.drop(while: Self.isBlank)
        return content.count >= 48 && content.starts(with: "MI".utf8)
            && content.allSatisfy { Self.isLetter($0) || (0x2F...0x39).contains($0) || $0 == 0x2B || $0 == 0x3D }
    }

    /// `CERTIFICATE`, and no letter behind it, which would make another word of it.
    private static func isLabel(_ text: ArraySlice<UInt8>) -> Bool {
        labels.contains { label in
            text.starts(with: label) && !(text.dropFirst(label.count).first.map(isLetter) ?? false)
        }
    }

    /// A dash right before the word, or one that no keyboard has, with blanks between.
    private static func endsInDash(_ text: ArraySlice<UInt8>) -> Bool {
        if text.last == dash { return true }
        var rest = text
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return longDashes.contains { rest.suffix(3).elementsEqual($0) }
    }

    private static let dash = UInt8(ascii: "-")
    private static let beginWord = Array("BEGIN".utf8)
    private static let endWord = Array("END".utf8)
    /// Those that are read anywhere, by how they begin.
    private static let labels = [
        "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "NEW CERTIFICATE", "PKCS7", "PUBLIC KEY",
        "RSA PUBLIC KEY", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
    ].map { Array($0.utf8) }
    /// From the hyphen U+2010 to the horizontal bar U+2015, the minus sign U+2212, and the wide hyphen U+FF0D, in UTF-8.
    private static let longDashes =
        (0x90...0x95).map { [0xE2, 0x80, $0] as [UInt8] } + [[0xE2, 0x88, 0x92], [0xEF, 0xBC, 0x8D]]

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
