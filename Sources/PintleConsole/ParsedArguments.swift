internal import Pintle
package import PintlePolicyFile
package import PintleSystem

/// A command line that fits its command.
package struct ParsedArguments: Sendable {
    let command: Command
    package let positionals: [String]
    private let texts: [String: [String]]
    private var values: [String: any Sendable] = [:]

    package func has(_ option: OptionSpecification) -> Bool { texts[option.name] != nil }

    /// The value of an option of the command: the one on the command line, or the one that stands for its absence.
    package subscript<Value>(_ option: Option<Value>) -> Value {
        if let value = values[option.name], let value = value as? Value { return value }
        if let value = option.absent { return value }
        // The parser has refused a command line without it.
        preconditionFailure("'\(command.name)' has no --\(option.name)")  // lint: the options are those of the sources
    }

    /// Returns the value of an option that this use of the command needs.
    package func require<Value>(_ option: Option<Value?>, because reason: String) throws(ToolError) -> Value {
        if let value = self[option] { return value }
        throw Self.missing(option, reason, of: command)
    }

    /// Returns the paths that the command line names by these options.
    package func files(of options: Option<String?>...) -> [String] { options.compactMap { self[$0] } }

    /// Returns the values of an option as they were typed.
    func texts(of option: OptionSpecification) -> [String] { texts[option.name] ?? [] }

    /// - Parameter arguments: the words behind the command's name.
    init(_ arguments: some Sequence<String>, for command: Command) throws(ToolError) {
        self.command = command
        var positionals: [String] = []
        var texts: [String: [String]] = [:]
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                positionals.append(argument)
                continue
            }
            if argument == "--" {
                positionals += rest
                break
            }
            for (option, attached) in try Self.options(in: argument, of: command) {
                let text = try Self.text(for: option, attached: attached, rest: &rest, of: command)
                guard option.mayRepeat || texts[option.name] == nil || !option.takesValue else {
                    throw .usage("--\(option.name) is given twice", of: command)
                }
                if case .output = option.value, text == "-" { continue }
                texts[option.name, default: []].append(text)
            }
        }
        self.positionals = positionals
        self.texts = texts
        // With `--help` the rest of the command line need not be right.
        if has(.help) { return }
        try Self.checkArguments(positionals, of: command)
        for option in command.options {
            if let texts = texts[option.name] {
                values[option.name] = try Self.value(of: option, texts, of: command)
            } else if let reason = option.requirement {
                throw Self.missing(option, reason, of: command)
            }
        }
        for rule in command.rules { if let error = rule.error(self) { throw error } }
    }

    /// Returns the options in `--name`, `--name=value`, `-v`, or several switches in one: `-vh`.
    private static func options(
        in argument: String, of command: Command
    ) throws(ToolError) -> [(OptionSpecification, attached: String?)] {
        if argument.hasPrefix("--") {
            let body = argument.dropFirst(2)
            let name = body.prefix { $0 != "=" }
            let attached = body.count > name.count ? String(body.dropFirst(name.count + 1)) : nil
            guard let option = command.options.first(where: { $0.name == name }) else {
                throw unknown("--\(name)", of: command)
            }
            return [(option, attached)]
        }
        var found: [(OptionSpecification, attached: String?)] = []
        for letter in argument.dropFirst() {
            guard let option = command.options.first(where: { $0.short == letter }) else {
                throw unknown(argument, of: command)
            }
            found.append((option, nil))
        }
        return found
    }

    private static func text(
        for option: OptionSpecification, attached: String?, rest: inout ArraySlice<String>, of command: Command
    ) throws(ToolError) -> String {
        guard option.takesValue else {
            guard attached == nil else { throw .usage("--\(option.name) takes no value", of: command) }
            return ""
        }
        let text: String
        if let attached {
            text = attached
        } else if let next = rest.first, next == "-" || !next.hasPrefix("-") {
            text = next
            rest.removeFirst()
        } else {
            throw .usage("--\(option.name) needs a value: \(option.usage)", of: command)
        }
        guard !text.isEmpty else {
            throw .usage("the value of --\(option.name) is empty: \(option.usage)", of: command)
        }
        if case .output(_, orStandardOutput: false) = option.value, text == "-" {
            throw .usage("--\(option.name) cannot write to standard output; a file called - is ./-", of: command)
        }
        return text
    }

    private static func value(
        of option: OptionSpecification, _ texts: [String], of command: Command
    ) throws(ToolError) -> any Sendable {
        do throws(OptionError) {
            return try option.read(texts)
        } catch {
            switch error {
            case .notAValue(let text):
                let nearest = Spelling.suggestion(for: text, among: option.completions)
                let list = option.valueList.map { " (\($0))" } ?? ""
                throw .usage("\"\(text)\" is not a value of --\(option.name)\(nearest)\(list)", of: command)
            case .takes(let values): throw .usage("--\(option.name) takes \(values)", of: command)
            case .unusable(var error):
                error.message = "--\(option.name): \(error.message)"
                throw error
            }
        }
    }

    private static func missing(_ option: OptionSpecification, _ reason: String, of command: Command) -> ToolError {
        .usage("\(option.usage) is missing: \(reason)", of: command, code: "missing-option")
    }

    private static func unknown(_ option: String, of command: Command) -> ToolError {
        let known = command.options.map { "--\($0.name)" }
        let nearest = Spelling.suggestion(for: option, among: known)
        return .usage("unknown option \(option) for '\(command.name)'\(nearest)", of: command, code: "unknown-option")
    }

    private static func checkArguments(_ positionals: [String], of command: Command) throws(ToolError) {
        let required = command.arguments.filter { !$0.isOptional }
        if positionals.count < required.count {
            throw .usage("\(required[positionals.count].name) is missing", of: command, code: "missing-argument")
        }
        for (argument, word) in zip(command.arguments, positionals) where !argument.words.isEmpty {
            guard !argument.words.contains(word) else { continue }
            let nearest = Spelling.suggestion(for: word, among: argument.words)
            let list = argument.words.joined(separator: ", ")
            throw .usage("\"\(word)\" is not a value of \(argument.name)\(nearest) (values: \(list))", of: command)
        }
        guard !command.arguments.contains(where: \.mayRepeat) else { return }
        if positionals.count > command.arguments.count {
            throw .usage("\"\(positionals[command.arguments.count])\" is one argument too many", of: command)
        }
    }
}

/// The input of a command.
package struct Invocation {
    package let arguments: ParsedArguments
    package let libraries: any Libraries
    package let environment: [String: String]
    package let input: ByteSource
    package let console: Console
    /// The instant when the tool was started.
    package let now: Date

    init(
        arguments: ParsedArguments, libraries: any Libraries, environment: [String: String], input: ByteSource,
        console: Console, now: Date
    ) {
        self.arguments = arguments
        self.libraries = libraries
        self.environment = environment
        self.input = input
        self.console = console
        self.now = now
    }

    /// The instant of the decision: `--at`, or now.
    package var instant: Date { arguments[.instant] ?? now }
    package var writesJSON: Bool { arguments.has(.json) }
    package var isVerbose: Bool { arguments.has(.verbose) }

    package func print(_ report: Report) { console.print(report, isVerbose: isVerbose) }

    /// Prints a result: the document with `--json`, else the report.
    package func print(_ report: @autoclosure () -> Report, orJSON document: @autoclosure () -> JSONWriter) {
        if writesJSON { console.print(document()) } else { print(report()) }
    }

    package func file(_ path: String, limit: Int = 16 << 20) throws(ToolError) -> InputFile {
        try InputFile(path, limit: limit, standardInput: input)
    }
}
