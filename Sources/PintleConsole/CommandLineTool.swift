internal import PintleProcess
package import PintleSystem

/// The `pintle` tool, which turns arguments and streams into an exit code.
package struct CommandLineTool {
    /// The version that `--version` prints.
    package static let version = "0.1.0"

    /// The commands of this build, in the order of the help.
    let commands: [Command]
    let libraries: any Libraries
    /// The names and values of the variables.
    let environment: [String: String]
    let input: ByteSource
    /// The stream for results.
    let output: ByteSink
    let errors: ByteSink
    /// The instant of every decision, and the one that relative dates are counted from.
    let now: Date

    package init(
        commands: [Command], libraries: any Libraries, environment: [String: String], input: ByteSource,
        output: ByteSink, errors: ByteSink, now: Date = Date()
    ) {
        self.commands = commands
        self.libraries = libraries
        self.environment = environment
        self.input = input
        self.output = output
        self.errors = errors
        self.now = now
    }

    /// Runs the tool on this process's own arguments and streams. Call it once, on the main thread.
    ///
    /// - Parameters:
    ///   - commands: the commands of this build, in the order of the help.
    ///   - libraries: the libraries of this build.
    /// - Returns: the exit code of the process: 0 for success, 1 for a refusal or a problem, 2 if the command line or
    ///   an input cannot be used, 3 if no server answered.
    package static func main(_ commands: [Command], _ libraries: any Libraries) -> Int32 {
        RunningProgram.openMissingStreams()
        let tool = CommandLineTool(
            commands: commands, libraries: libraries, environment: processEnvironment(),
            input: ByteSource(descriptor: 0), output: ByteSink(descriptor: 1), errors: ByteSink(descriptor: 2))
        guard let arguments = RunningProgram.arguments else {
            let console = Console(
                output: tool.output, errors: tool.errors, environment: tool.environment, color: true, json: false)
            // The word itself, with a replacement for each byte that is not UTF-8.
            let word = CommandLine.arguments.dropFirst().first { $0.unicodeScalars.contains("\u{FFFD}") } ?? ""
            console.report(
                .unusable(
                    "invalid-utf8", "a word of the command line is not UTF-8: \(word)",
                    hint: "rename the file, or use a link"))
            return ExitCode.unusable.rawValue
        }
        return tool.run(arguments)
    }

    /// - Parameter arguments: the arguments without the name of the program.
    /// - Returns: the exit code: see ``ExitCode``.
    func run(_ arguments: [String]) -> Int32 {
        // Read before anything is parsed, because a command line that cannot be parsed is reported in JSON too.
        let options = arguments.prefix { $0 != "--" }
        let console = Console(
            output: output, errors: errors, environment: environment, color: !options.contains("--no-color"),
            json: options.contains("--json"))
        let code: ExitCode
        do throws(ToolError) {
            code = try dispatch(arguments, console)
        } catch {
            if !Interrupts.includeLostReader { console.report(error) }
            code = error.exitCode
        }
        // What a shell reports of a program that ended by this signal.
        if Interrupts.includeLostReader { return 128 + SIGPIPE }
        guard !console.outputFailed else {
            console.report(.unusable("output-lost", "standard output cannot be written", hint: "is the disk full?"))
            return ExitCode.unusable.rawValue
        }
        return code.rawValue
    }

    private func dispatch(_ arguments: [String], _ console: Console) throws(ToolError) -> ExitCode {
        let first = arguments.first ?? "--help"
        switch first {
        case "--version":
            console.print(Self.version)
            return .fine
        case "-h", "--help":
            return try help([], console)
        case "help":
            return try help(arguments.dropFirst(), console)
        case "--generate-completion-script":
            return try completions(arguments.dropFirst(), console)
        case "--generate-reference":
            return try reference(Array(arguments.dropFirst()))
        default: break
        }
        if first.hasPrefix("--generate-completion-script=") {
            return try completions([String(first.dropFirst("--generate-completion-script=".count))], console)
        }
        let command = try command(named: first)
        let parsed = try ParsedArguments(arguments.dropFirst(), for: command)
        if parsed.has(.help) {
            console.print(HelpText.of(command))
            return .fine
        }
        return try command.run(
            Invocation(
                arguments: parsed, libraries: libraries, environment: environment, input: input, console: console,
                now: now))
    }

    private func help(_ arguments: ArraySlice<String>, _ console: Console) throws(ToolError) -> ExitCode {
        guard let name = arguments.first, !name.hasPrefix("-"), name != "help" else {
            console.print(HelpText.overview(of: commands))
            return .fine
        }
        console.print(HelpText.of(try command(named: name)))
        return .fine
    }

    private func completions(_ arguments: ArraySlice<String>, _ console: Console) throws(ToolError) -> ExitCode {
        let names = CompletionScript.Shell.allCases.map(\.rawValue)
        guard let shell = arguments.first.flatMap(CompletionScript.Shell.init) else {
            throw .usage("--generate-completion-script needs a shell: \(names.joined(separator: ", "))", of: nil)
        }
        console.print(CompletionScript.text(for: shell, commands: commands))
        return .fine
    }

    /// Only the build and packages of the tool use this, so the help does not show it.
    private func reference(_ arguments: [String]) throws(ToolError) -> ExitCode {
        guard arguments.count == 2, let format = CommandReference.Format(rawValue: arguments[0]) else {
            let names = CommandReference.Format.allCases.map(\.rawValue).joined(separator: " or ")
            throw .usage("--generate-reference needs a format and a folder: \(names), then FOLDER", of: nil)
        }
        // Packages that are built twice from one commit have the same bytes.
        let instant = environment["SOURCE_DATE_EPOCH"].flatMap { Int($0) }.map {
            Date(timeIntervalSince1970: Double($0))
        }
        try CommandReference.write(format, of: commands, to: arguments[1], at: instant ?? now)
        return .fine
    }

    private func command(named name: String) throws(ToolError) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        if Command.needingServers.contains(name) { throw .needsOpenSSL("'pintle \(name)'") }
        let isOption = name.hasPrefix("-")
        let known =
            isOption ? ["--help", "--version", "--generate-completion-script"] : commands.map(\.name) + ["help"]
        let kind = isOption ? "option" : "command"
        throw .usage(
            "unknown \(kind) \(name)\(Spelling.suggestion(for: name, among: known))", of: nil, code: "unknown-\(kind)")
    }

    private static func processEnvironment() -> [String: String] {
        var variables: [String: String] = [:]
        for text in RunningProgram.environment {
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
        }
        return variables
    }
}
