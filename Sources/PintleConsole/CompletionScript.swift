/// Scripts that teach a shell to complete this tool's command line.
enum CompletionScript {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish
    }

    static func text(for shell: Shell, commands: [Command]) -> String {
        switch shell {
        case .bash: bash(commands)
        case .zsh: zsh(commands)
        case .fish: fish(commands)
        }
    }

    private static let shells = Shell.allCases.map(\.rawValue).joined(separator: " ")

    // MARK: bash

    private static func bash(_ commands: [Command]) -> String {
        let names = commands.map(\.name).joined(separator: " ")
        let general = "help --help --version --generate-completion-script"
        var lines = [
            "# bash completion for pintle",
            "_pintle_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\"); }",
            "_pintle_files() {",
            "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")",
            "    compopt -o filenames 2>/dev/null",
            "}",
            "_pintle() {",
            "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" word",
            "    COMPREPLY=()",
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
            "        _pintle_words \"\(names) \(general)\"",
            "        return",
            "    fi",
            "    # Bash splits --option=value into three words.",
            "    if [ \"$current\" = \"=\" ]; then",
            "        current=\"\"",
            "    elif [ \"$previous\" = \"=\" ]; then",
            "        previous=\"${COMP_WORDS[COMP_CWORD-2]}\"",
            "    fi",
            "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do",
            "        if [ \"$word\" = \"--\" ]; then _pintle_files; return; fi",
            "    done",
            "    case \"${COMP_WORDS[1]}\" in",
            "    help) _pintle_words \"\(names)\" ;;",
            "    --generate-completion-script) _pintle_words \"\(shells)\" ;;",
        ]
        for command in commands { lines += bash(command) }
        lines += ["    esac", "}", "complete -F _pintle pintle"]
        return lines.joined(separator: "\n")
    }

    private static func bash(_ command: Command) -> [String] {
        var lines = ["    \(command.name))", "        case \"$previous\" in"]
        for option in command.options where option.takesValue {
            let spellings = (option.short.map { "-\($0) | " } ?? "") + "--\(option.name)"
            let action = option.isFile ? "_pintle_files; " : bashWords(option.completions)
            lines.append("        \(spellings)) \(action)return ;;")
        }
        lines.append("        esac")
        // The first argument is one of these words, so no file names are offered for it.
        if let words = command.arguments.first?.words, !words.isEmpty {
            lines.append("        if [ \"$COMP_CWORD\" -eq 2 ]; then \(bashWords(words))return; fi")
        }
        let options = command.options.flatMap { ($0.short.map { ["-\($0)"] } ?? []) + ["--\($0.name)"] }
        lines += [
            "        case \"$current\" in",
            "        -*) _pintle_words \"\(options.joined(separator: " "))\" ;;",
            "        *) _pintle_files ;;",
            "        esac ;;",
        ]
        return lines
    }

    private static func bashWords(_ words: [String]) -> String {
        words.isEmpty ? "" : "_pintle_words \"\(words.joined(separator: " "))\"; "
    }

    // MARK: zsh

    private static func zsh(_ commands: [Command]) -> String {
        var lines = ["#compdef pintle", "_pintle() {", "    local -a commands", "    commands=("]
        lines += commands.map { "        \(quoted("\($0.name):\(zshText($0.summary))"))" }
        lines += [
            "    )",
            "    if (( CURRENT == 2 )); then",
            "        _describe command commands",
            "        _arguments '--version[Print the version]' '(-h --help)'{-h,--help}'[Show help]' \\",
            "            '--generate-completion-script[Print a script for a shell]:SHELL:(\(shells))'",
            "        return",
            "    fi",
            "    local name=$words[2]",
            "    shift words; (( CURRENT-- ))",
            "    case $name in",
            "    help) _describe command commands ;;",
            "    --generate-completion-script) compadd \(shells) ;;",
        ]
        for command in commands {
            lines += ["    \(command.name))", "        _arguments \\"]
            lines += command.options.flatMap(zsh).map { "            \(quoted($0)) \\" }
            if let first = command.arguments.first, !first.words.isEmpty {
                let words = first.words.joined(separator: " ")
                lines.append("            \(quoted("1:\(zshText(first.name)):(\(words))")) \\")
            }
            lines.append("            '*:file:_files' ;;")
        }
        // The shell runs a file of its function path as the function. A script that is read by `source` registers it.
        lines += [
            "    esac", "}", "if [ \"$funcstack[1]\" = _pintle ]; then _pintle \"$@\"; else compdef _pintle pintle; fi",
        ]
        return lines.joined(separator: "\n")
    }

    /// Returns the specifications of an option, one for each spelling.
    private static func zsh(_ option: OptionSpecification) -> [String] {
        var action = ""
        if let placeholder = option.placeholder {
            let words = option.completions.joined(separator: " ")
            action = ":\(zshText(placeholder)):" + (option.isFile ? "_files" : words.isEmpty ? "" : "(\(words))")
        }
        let help = "[\(zshText(MarkedText(option.help).plain))]\(action)"
        let long = "--\(option.name)"
        // `=` also allows the value as the next word.
        let value = option.takesValue ? "=" : ""
        if option.mayRepeat { return (option.short.map { ["*-\($0)\(help)"] } ?? []) + ["*\(long)\(value)\(help)"] }
        guard let short = option.short else { return [long + value + help] }
        let exclusion = "(-\(short) \(long))"
        return ["\(exclusion)-\(short)\(help)", exclusion + long + value + help]
    }

    private static func zshText(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    // MARK: fish

    private static func fish(_ commands: [Command]) -> String {
        let first = "complete -c pintle -f -n __fish_use_subcommand"
        let names = commands.map(\.name).joined(separator: " ")
        var lines = [
            "\(first) -l version -d 'Print the version'", "\(first) -s h -l help -d 'Show help'",
            "\(first) -l generate-completion-script -x -a '\(shells)' -d 'Print a script for a shell'",
            "\(first) -a help -d 'Show help of a command'",
            "complete -c pintle -f -n '__fish_seen_subcommand_from help' -a \(quoted(names))",
        ]
        for command in commands {
            lines.append("\(first) -a \(command.name) -d \(quoted(command.summary))")
            if let words = command.arguments.first?.words, !words.isEmpty {
                let seen = "__fish_seen_subcommand_from \(command.name); and not __fish_seen_subcommand_from "
                lines.append(
                    "complete -c pintle -f -n \(quoted(seen + words.joined(separator: " "))) "
                        + "-a \(quoted(words.joined(separator: " ")))")
            }
            lines += command.options.map { option in
                let short = option.short.map { " -s \($0)" } ?? ""
                let words = option.completions.isEmpty ? "" : " -a \(quoted(option.completions.joined(separator: " ")))"
                let value = option.isFile ? " -r -F" : option.takesValue ? " -x" + words : ""
                return "complete -c pintle -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
                    + "\(short)\(value) -d \(quoted(MarkedText(option.help).plain))"
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }
}
