internal import PintleText

extension Invocation {
    /// Returns the command line that was typed, without some options and with more words, for the user to copy.
    package func commandLine(without dropped: [OptionSpecification] = [], adding words: [String]) -> String {
        let options = arguments.command.options.filter { option in
            option.takesValue && !dropped.contains { $0.name == option.name }
        }
        let line = ["pintle", arguments.command.name] + arguments.positionals
        return Self.line(line + options.flatMap(self.words) + words)
    }

    /// Returns another command for the user to copy.
    ///
    /// - Parameters:
    ///   - words: the command and its arguments.
    ///   - options: the options that it has as they were typed.
    package func commandLine(of words: [String], keeping options: [OptionSpecification]) -> String {
        Self.line(["pintle"] + words + options.flatMap(self.words))
    }

    private func words(of option: OptionSpecification) -> [String] {
        arguments.texts(of: option).flatMap { ["--\(option.name)", $0] }
    }

    private static func line(_ words: [String]) -> String {
        words.map(ShellWord.quoted).map(SafeText.escape).joined(separator: " ")
    }
}
