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
