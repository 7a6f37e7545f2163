internal import Pintle

/// Foreign text on its way to a terminal.
enum SafeText {
    /// What could move the cursor, colour the screen or reorder the line is written as `\u{1B}`; a line break
    /// is too, and so are letters that run from right to left: they take the digits and the marks beside them along.
    static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafeOnTerminal) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnsafeOnTerminal {
                safe += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}

extension Unicode.Scalar {
    fileprivate var isUnsafeOnTerminal: Bool {
        value >= 0x80 && Self.rightToLeft.contains { $0.contains(value) } || isUnsafeToPrint
    }

    /// The blocks whose letters are right-to-left by default (Unicode, DerivedBidiClass).
    private static let rightToLeft: [ClosedRange<UInt32>] = [
        0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF,
    ]
}
