internal import Pintle

/// Foreign text on its way to a terminal.
enum SafeText {
    /// What could move the cursor, colour the screen or reorder the line is written as `\u{1B}`; a line break
    /// is too.
    static func escape(_ text: String) -> String { escape(text, \.isUnsafeToPrint) }

    /// The same for text that a stranger has put into a certificate: letters that run from right to left are written
    /// out too, since they take the digits and the marks beside them along. In somebody's own paths and notes they stay.
    static func claim(_ text: String) -> String { escape(text) { $0.isUnsafeToPrint || $0.isRightToLeft } }

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
    /// Whether it is in one of the blocks whose letters run from right to left (Unicode, DerivedBidiClass).
    fileprivate var isRightToLeft: Bool {
        value >= 0x590 && Self.rightToLeft.contains { $0.contains(value) }
    }

    private static let rightToLeft: [ClosedRange<UInt32>] = [
        0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF,
    ]
}

/// Words of a command line that somebody is to copy.
enum ShellWord {
    /// As a shell reads it back: as it is where it holds nothing that a shell looks at, else in single quotes.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:@%+=,[]".utf8.contains(byte)
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension Invocation {
    /// What was typed, with more: a line to copy.
    func commandLine(without dropped: [OptionSpecification] = [], adding words: [String]) -> String {
        var line = ["pintle", arguments.command.name] + arguments.positionals
        for option in arguments.command.options where !dropped.contains(where: { $0.name == option.name }) {
            for value in arguments.values(of: option) where option.takesValue { line += ["--\(option.name)", value] }
        }
        return (line + words).map(ShellWord.quoted).map(SafeText.escape).joined(separator: " ")
    }
}
