/// A page of the reference: the tool's own, or that of a command. ``DocCPage`` and ``ManPage`` write it.
struct ReferencePage {
    /// The command; `nil` for the page of the whole tool.
    let command: Command?
    let summary: String
    /// The command lines in short.
    let usage: [String]
    /// The sections between the usage and the articles.
    let sections: [ReferenceSection]
    let articles: [Article]
    /// All commands of the tool, for links between the pages.
    let commands: [Command]

    /// All pages, that of the whole tool first.
    static func all(_ commands: [Command]) -> [ReferencePage] {
        [.tool(commands)] + commands.map { ReferencePage($0, among: commands) }
    }
}

extension ReferencePage {
    init(_ command: Command, among commands: [Command]) {
        var sections = [
            ReferenceSection("Overview", blocks: command.overview.map { .paragraph($0) }),
            ReferenceSection("Examples", .verbatim(Self.examples(of: command))),
        ]
        func add(_ lists: [List]) { sections += lists.map { ReferenceSection($0.title, .definitions($0.rows)) } }
        add(Self.inputs(of: command))
        sections += command.sections
        add(Self.surroundings(of: command))
        self.init(
            command: command, summary: command.summary, usage: [command.usage], sections: sections,
            articles: command.articles, commands: commands)
    }

    /// The lines to copy, each below its purpose as a comment of the shell.
    private static func examples(of command: Command) -> String {
        command.examples.map { "# \(MarkedText($0.purpose).plain)\n\($0.line)" }.joined(separator: "\n\n")
    }

    /// Names with their meanings.
    typealias List = (title: String, rows: [(name: String, meaning: String)])

    /// The arguments and options of a command.
    static func inputs(of command: Command) -> [List] {
        let arguments = command.arguments.map { argument in
            let words = argument.words.isEmpty ? "" : " (values: \(argument.words.joined(separator: ", ")))"
            return (name: "`\(argument.usage)`", meaning: argument.help + words)
        }
        let options = command.options.map { (name: label($0), meaning: $0.fullHelp) }
        return [("Arguments", arguments), ("Options", options)].filter { !$0.rows.isEmpty }
    }

    /// The variables that a command reads, and its exit codes.
    static func surroundings(of command: Command) -> [List] {
        let variables = command.environment.map { (name: MarkedText.codes($0.name), meaning: $0.help) }
        let codes = command.exitCodes.map { (name: "\($0.code.rawValue)", meaning: $0.meaning) }
        return [("Environment", variables), ("Exit codes", codes)].filter { !$0.rows.isEmpty }
    }

    private static func label(_ option: OptionSpecification) -> String {
        let short = option.short.map { "`-\($0)`, " } ?? ""
        return short + "`--\(option.name)" + (option.placeholder.map { " \($0)" } ?? "") + "`"
    }
}

extension ReferencePage {
    /// The page of the whole tool.
    static func tool(_ commands: [Command]) -> ReferencePage {
        ReferencePage(
            command: nil, summary: "Find pins, check servers by a policy, and sign updates on the command line",
            usage: ["pintle COMMAND [ARGUMENTS] [OPTIONS]", "pintle help COMMAND"],
            sections: [
                ReferenceSection(
                    "Overview",
                    .paragraph(
                        "Each command has a page of its own. `pintle help COMMAND` shows its examples and options."),
                    .commands(commands),
                    .paragraph(
                        "`pintle --version` prints the version, and `pintle --generate-completion-script SHELL` a "
                            + "script that teaches bash, zsh or fish to complete command lines.")),
                ReferenceSection(
                    "Output",
                    .paragraph(
                        "Results go to standard output; errors, warnings and hints go to standard error. The first "
                            + "line of a verdict has the decision, its reason and the server; the last line says what "
                            + "to do next."),
                    .paragraph(
                        "Only a terminal gets colours; `NO_COLOR`, `TERM=dumb` and `--no-color` switch them off. Text "
                            + "from certificates is escaped before it is printed."),
                    .paragraph(
                        "A file that exists is replaced as a whole, one for another platform only if the tool wrote "
                            + "it. Except for `pintle sign --append`, no command writes to a file that it reads.")),
                ReferenceSection(
                    "JSON",
                    .paragraph(
                        "With `--json`, standard output is one JSON document and nothing else; `pintle evaluate` and "
                            + "`pintle audit` write one line of JSON for each server or case. Keys are stable, and "
                            + "later versions may add some. A key that does not apply is absent. Dates are RFC 3339 "
                            + "in UTC."),
                    .paragraph(
                        "With exit code 2 or 3 the document is an error; `file`, `line` and `column` are there if the "
                            + "error has a place:"),
                    .verbatim(
                        """
                        {
                          "error": {
                            "code": "connection-refused",
                            "message": "cannot reach 127.0.0.1:1: connection refused (tried 1 address)",
                            "hint": "nothing listens there: check the port; behind a proxy? set HTTPS_PROXY, or \
                        point at a server with --connect-to"
                          }
                        }
                        """)),
                ReferenceSection(
                    "Environment",
                    .definitions(
                        (EnvironmentVariables.ofServers + [EnvironmentVariables.passphrase]).map {
                            (MarkedText.codes($0.name), $0.help)
                        } + [
                            ("`NO_COLOR`, `TERM`", "No colours if the first is set, or if the second is `dumb`"),
                            ("`COLUMNS`", "The width of the output: texts use at most 100 columns, tables 160"),
                        ]),
                    .paragraph(
                        "Names in lower case go before names in upper case. `NO_PROXY` is compared with the host, and "
                            + "with the machine that `--connect-to` names; unreadable entries are skipped with a "
                            + "warning. A proxy with an `https://` address is an error.")),
                ReferenceSection(
                    "Exit codes",
                    .definitions(
                        [
                            ("0", "Trusted, or no problem was found"), ("1", "Rejected, or problems were found"),
                            ("2", "The command line or an input cannot be used"),
                            ("3", "TCP or TLS failed before a certificate arrived"),
                        ])),
            ],
            articles: [.choosingPins, .continuousIntegration, .decisions, .policyFile], commands: commands)
    }
}
