internal import Pintle

/// Escapes foreign text for a terminal.
package enum SafeText {
    /// Escapes line breaks and all scalars that could move the cursor, colour the screen or reorder the line: `\u{1B}`.
    package static func escape(_ text: String) -> String { escape(text, \.isUnsafeToPrint) }

    /// Escapes text of a certificate, which a stranger may have chosen.
    ///
    /// It also escapes letters that run from right to left, because they reorder the digits and marks beside them. In
    /// the user's own paths and notes those letters stay.
    package static func claim(_ text: String) -> String { escape(text) { $0.isUnsafeToPrint || $0.isRightToLeft } }

    private static func escape(_ text: String, _ isUnsafe: (Unicode.Scalar) -> Bool) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                safe += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the scalar is in a block that runs from right to left (Unicode,
    /// DerivedBidiClass).
    fileprivate var isRightToLeft: Bool {
        value >= 0x590 && Self.rightToLeft.contains { $0.contains(value) }
    }

    private static let rightToLeft: [ClosedRange<UInt32>] = [
        0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF,
    ]
}

/// Quotes words of a command line that the user may copy.
package enum ShellWord {
    /// Returns the word as it is if a shell takes each of its bytes literally, else in single quotes.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "-_./:@%+=,".contains($0) }
        guard !isPlain || word.isEmpty else { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
