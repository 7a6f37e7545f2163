internal import PintleText

extension Invocation {
    /// Returns the command line that was typed, without some options and with more words, for the user to copy. Options
    /// that only say how the output looks are left out.
    package func commandLine(without dropped: [OptionSpecification] = [], adding words: [String]) -> String {
        var line = ["pintle", arguments.command.name] + arguments.positionals
        for option in arguments.command.options where !dropped.contains(where: { $0.name == option.name }) {
            let name = "--\(option.name)"
            if option.takesValue {
                for value in arguments.texts(of: option) { line += [name, value] }
            } else if arguments.has(option), !OptionSpecification.ofOutput.contains(option.name), !words.contains(name)
            {
                line.append(name)
            }
        }
        return Self.line(line + words)
    }

    /// The options that lead to the server and say which roots count. A hint that names another command repeats them,
    /// because that command would ask another server without them.
    package var serverOptions: [String] {
        [OptionSpecification.connectTo, .anchors].flatMap { option in
            arguments.texts(of: option).flatMap { ["--\(option.name)", $0] }
        }
    }

    /// Returns a command line to copy.
    package static func line(_ words: [String]) -> String {
        words.map(ShellWord.quoted).map(SafeText.escape).joined(separator: " ")
    }

    /// The sentence about a file of roots that the environment names and that does not exist; `nil` if there is none.
    package var missingRoots: String? {
        guard !arguments.has(.anchors), let path = environment["SSL_CERT_FILE"], !InputFile.exists(path) else {
            return nil
        }
        guard !path.isEmpty else { return "SSL_CERT_FILE is empty, which names no file: unset it" }
        return "SSL_CERT_FILE names \(path), which does not exist: correct or unset it"
    }
}
