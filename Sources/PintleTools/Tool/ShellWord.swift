/// Quotes words of a command line that the user may copy.
enum ShellWord {
    /// Returns the word as it is if a shell takes each of its bytes literally, else in single quotes.
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
    /// Returns the command line that was typed, without some options and with more words, for the user to copy.
    func commandLine(without dropped: [OptionSpecification] = [], adding words: [String]) -> String {
        var line = ["pintle", arguments.command.name] + arguments.positionals
        for option in arguments.command.options where !dropped.contains(where: { $0.name == option.name }) {
            for value in arguments.values(of: option) where option.takesValue { line += ["--\(option.name)", value] }
        }
        return (line + words).map(ShellWord.quoted).map(SafeText.escape).joined(separator: " ")
    }
}
