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

    private static let general = ["help", "--help", "--version", "--generate-completion-script"]

    // MARK: bash

    private static func bash(_ commands: [Command]) -> String {
        let names = (commands.map(\.name) + general).joined(separator: " ")
        var lines = [
            "#!/bin/bash",
            "_pintle() {",
            "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"",
            "    COMPREPLY=()",
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
            "        COMPREPLY=($(compgen -W \"\(names)\" -- \"$current\"))",
            "        return",
            "    fi",
            "    case \"${COMP_WORDS[1]}\" in",
            "    help) COMPREPLY=($(compgen -W \"\(commands.map(\.name).joined(separator: " "))\" -- \"$current\")) ;;",
        ]
        for command in commands {
            lines.append("    \(command.name))")
            lines.append("        case \"$previous\" in")
            for option in command.options where option.takesValue {
                switch option.value {
                case .none, .text: lines.append("        --\(option.name)) return ;;")
                case .file:
                    lines.append("        --\(option.name)) COMPREPLY=($(compgen -f -- \"$current\")); return ;;")
                case .choice(_, let words):
                    let list = words.joined(separator: " ")
                    lines.append(
                        "        --\(option.name)) COMPREPLY=($(compgen -W \"\(list)\" -- \"$current\")); return ;;")
                }
            }
            let options = command.options.map { "--\($0.name)" }.joined(separator: " ")
            lines += [
                "        esac"
            ]
            // The first argument is one of these words, so no file names are offered for it.
            if let words = command.arguments.first?.words, !words.isEmpty {
                lines += [
                    "        if [ \"$COMP_CWORD\" -eq 2 ]; then",
                    "            COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"))",
                    "            return",
                    "        fi",
                ]
            }
            lines += [
                "        case \"$current\" in",
                "        -*) COMPREPLY=($(compgen -W \"\(options)\" -- \"$current\")) ;;",
                "        *) COMPREPLY=($(compgen -f -- \"$current\")) ;;",
                "        esac ;;",
            ]
        }
        lines += ["    esac", "}", "complete -o filenames -F _pintle pintle"]
        return lines.joined(separator: "\n")
    }

    // MARK: zsh

    private static func zsh(_ commands: [Command]) -> String {
        var lines = ["#compdef pintle", "_pintle() {", "    local -a commands", "    commands=("]
        lines += commands.map { "        \(quoted("\($0.name):\(zshText($0.summary))"))" }
        lines += [
            "    )",
            "    if (( CURRENT == 2 )); then",
            "        _describe command commands",
            "        _arguments '--version[Print the version]' '--help[Show help]'",
            "        return",
            "    fi",
            "    local name=$words[2]",
            "    shift words; (( CURRENT-- ))",
            "    case $name in",
            "    help) _describe command commands ;;",
        ]
        for command in commands {
            lines.append("    \(command.name))")
            lines.append("        _arguments \\")
            for option in command.options {
                let help = zshText(MarkedText(option.help).plain)
                let action =
                    switch option.value {
                    case .none: ""
                    case .text(let name): ":\(name):"
                    case .file(let name): ":\(name):_files"
                    case .choice(let name, let words): ":\(name):(\(words.joined(separator: " ")))"
                    }
                let repeats = option.mayRepeat ? "*" : ""
                if let short = option.short { lines.append("            \(quoted("-\(short)[\(help)]")) \\") }
                lines.append("            \(quoted("\(repeats)--\(option.name)[\(help)]\(action)")) \\")
            }
            if let first = command.arguments.first, !first.words.isEmpty {
                let words = first.words.joined(separator: " ")
                lines.append("            \(quoted("1:\(zshText(first.name)):(\(words))")) \\")
            }
            lines.append("            '*:file:_files' ;;")
        }
        lines += ["    esac", "}", "_pintle \"$@\""]
        return lines.joined(separator: "\n")
    }

    private static func zshText(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    // MARK: fish

    private static func fish(_ commands: [Command]) -> String {
        var lines = [
            "complete -c pintle -f -n __fish_use_subcommand -l version -d 'Print the version'",
            "complete -c pintle -f -n __fish_use_subcommand -a help -d 'Show help of a command'",
        ]
        for command in commands {
            lines.append(
                "complete -c pintle -f -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
            if let words = command.arguments.first?.words, !words.isEmpty {
                let seen = "__fish_seen_subcommand_from \(command.name); and not __fish_seen_subcommand_from "
                lines.append(
                    "complete -c pintle -f -n \(quoted(seen + words.joined(separator: " "))) "
                        + "-a \(quoted(words.joined(separator: " ")))")
            }
            for option in command.options {
                let short = option.short.map { " -s \($0)" } ?? ""
                let value =
                    switch option.value {
                    case .none: ""
                    case .text: " -x"
                    case .file: " -r -F"
                    case .choice(_, let words): " -x -a \(quoted(words.joined(separator: " ")))"
                    }
                lines.append(
                    "complete -c pintle -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
                        + "\(short)\(value) -d \(quoted(MarkedText(option.help).plain))")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }
}
