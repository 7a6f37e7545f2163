internal import Pintle
internal import PintleSystem

/// A command line that fits its command.
struct ParsedArguments: Sendable {
    let command: Command
    let positionals: [String]
    private let values: [String: [String]]

    func has(_ option: OptionSpecification) -> Bool { values[option.name] != nil }

    func value(of option: OptionSpecification) -> String? { values[option.name]?.last }

    func values(of option: OptionSpecification) -> [String] { values[option.name] ?? [] }

    /// - Parameter arguments: the words behind the command's name.
    init(_ arguments: some Sequence<String>, for command: Command) throws(ToolError) {
        self.command = command
        var positionals: [String] = []
        var values: [String: [String]] = [:]
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
                let value = try Self.value(for: option, attached: attached, rest: &rest, of: command)
                guard option.mayRepeat || values[option.name] == nil || !option.takesValue else {
                    throw .usage("--\(option.name) is given twice", of: command)
                }
                if case .output = option.value, value == "-" { continue }
                values[option.name, default: []].append(value)
            }
        }
        self.positionals = positionals
        self.values = values
        // With `--help` the rest of the command line need not be right.
        if !has(.help) { try Self.checkCount(positionals, of: command) }
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

    private static func value(
        for option: OptionSpecification, attached: String?, rest: inout ArraySlice<String>, of command: Command
    ) throws(ToolError) -> String {
        guard option.takesValue else {
            guard attached == nil else { throw .usage("--\(option.name) takes no value", of: command) }
            return ""
        }
        let placeholder = option.placeholder ?? "VALUE"
        let value: String
        if let attached {
            value = attached
        } else if let next = rest.first, next == "-" || !next.hasPrefix("-") {
            value = next
            rest.removeFirst()
        } else {
            throw .usage("--\(option.name) needs a value: --\(option.name) \(placeholder)", of: command)
        }
        guard !value.isEmpty else {
            throw .usage("the value of --\(option.name) is empty: --\(option.name) \(placeholder)", of: command)
        }
        if case .output(_, orStandardOutput: false) = option.value, value == "-" {
            throw .usage("--\(option.name) cannot write to standard output; a file called - is ./-", of: command)
        }
        if let choices = option.choices, !choices.contains(value) {
            let nearest = Spelling.nearest(to: value, among: choices).map { "; did you mean \($0)?" } ?? ""
            throw .usage(
                "\"\(value)\" is not a value of --\(option.name)\(nearest) (values: \(choices.joined(separator: ", ")))",
                of: command)
        }
        return value
    }

    private static func unknown(_ option: String, of command: Command) -> ToolError {
        let known = command.options.map { "--\($0.name)" }
        let nearest = Spelling.nearest(to: option, among: known).map { "; did you mean \($0)?" } ?? ""
        return .usage("unknown option \(option) for '\(command.name)'\(nearest)", of: command, code: "unknown-option")
    }

    private static func checkCount(_ positionals: [String], of command: Command) throws(ToolError) {
        let required = command.arguments.filter { !$0.isOptional }
        if positionals.count < required.count {
            throw .usage("\(required[positionals.count].name) is missing", of: command, code: "missing-argument")
        }
        guard !command.arguments.contains(where: \.mayRepeat) else { return }
        if positionals.count > command.arguments.count {
            throw .usage("\"\(positionals[command.arguments.count])\" is one argument too many", of: command)
        }
    }
}

/// The input of a command.
struct Invocation {
    let arguments: ParsedArguments
    let environment: [String: String]
    let input: ByteSource
    let console: Console
    /// The instant when the tool was started.
    let now: Date

    var writesJSON: Bool { arguments.has(.json) }
    var isVerbose: Bool { arguments.has(.verbose) }

    func print(_ report: Report) { console.print(report, isVerbose: isVerbose) }

    func file(_ path: String, limit: Int = 16 << 20) throws(ToolError) -> InputFile {
        try InputFile(path, limit: limit, standardInput: input)
    }
}
