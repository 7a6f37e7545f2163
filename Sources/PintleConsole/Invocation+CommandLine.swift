internal import PintleText

extension Invocation {
    /// Returns the command line that was typed, without some options and with more words, for the user to copy.
    package func commandLine(without dropped: [OptionSpecification] = [], adding words: [String]) -> String {
        var line = ["pintle", arguments.command.name] + arguments.positionals
        for option in arguments.command.options where !dropped.contains(where: { $0.name == option.name }) {
            for value in arguments.texts(of: option) where option.takesValue { line += ["--\(option.name)", value] }
        }
        return (line + words).map(ShellWord.quoted).map(SafeText.escape).joined(separator: " ")
    }
}
