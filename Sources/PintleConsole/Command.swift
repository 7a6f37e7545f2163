/// A command of the tool: the one description that parsing, help, completion and the reference read.
///
/// In its texts, words between backticks are code: see ``MarkedText``.
struct Command: Sendable {
    /// A line to copy, and its purpose.
    struct Example: Sendable {
        let line: String
        let purpose: String
    }

    /// A word on the command line that is not an option.
    struct Argument: Sendable {
        let name: String
        let help: String
        var isOptional = false
        var mayRepeat = false
        /// The words that it may be; empty if it may be any.
        var words: [String] = []
        /// A Boolean value that indicates whether the argument begins a command line of its own, behind `--`.
        var followsOptions = false

        /// `SOURCE ...`, `[FILE]`
        var usage: String {
            let repeated = mayRepeat ? "\(name) ..." : name
            return isOptional ? "[\(repeated)]" : repeated
        }
    }

    let name: String
    /// One line, without a full stop.
    let summary: String
    let examples: [Example]
    /// Paragraphs.
    let overview: [String]
    let arguments: [Argument]
    /// The options of this command, without those that every command has.
    let ownOptions: [OptionSpecification]
    /// The rules about options that go together.
    var rules: [OptionRule] = []
    var readsJSONOption = true
    /// Environment variables and their effects.
    var environment: [(name: String, help: String)] = []
    /// The exit codes and their meanings for this command.
    let exitCodes: [(code: ExitCode, meaning: String)]
    /// Parts of the reference that the help leaves out.
    var sections: [ReferenceSection] = []
    /// Articles that say more.
    var articles: [Article] = []
    let run: @Sendable (Invocation) throws(ToolError) -> ExitCode

    /// All options, the most used first.
    var options: [OptionSpecification] {
        ownOptions + (readsJSONOption ? [.json] : []) + [.verbose, .noColor, .help]
    }

    /// The command line in short.
    var usage: String {
        if let last = arguments.last, last.followsOptions { return "pintle \(name) [OPTIONS] -- \(last.name) ..." }
        return "pintle \(name)\(arguments.map { " " + $0.usage }.joined()) [OPTIONS]"
    }
}

/// The exit codes of the tool.
enum ExitCode: Int32 {
    /// Trusted, or no problem was found.
    case fine = 0
    /// Rejected, or problems were found.
    case rejected = 1
    /// The command line or an input cannot be used.
    case unusable = 2
    /// TCP or TLS failed before a certificate arrived.
    case unreachable = 3
}

extension Command {
    /// Every command, in the order of the help.
    static let all: [Command] = [
        .pin, .check, .trust, .lint, .audit, .report, .inspect, .plan, .renew, .export, .import, .evaluate,
        .keygen, .sign,
        .verify, .rehearse, .demo,
    ]
}
