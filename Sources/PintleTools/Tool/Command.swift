/// A command of the tool: what help, parsing and completion say about it, and what it does.
struct Command: Sendable {
    /// A line to copy, and what it is for.
    struct Example: Sendable {
        let line: String
        let purpose: String
    }

    /// What stands on the command line beside the options.
    struct Argument: Sendable {
        let name: String
        let help: String
        var isOptional = false
        var mayRepeat = false
        /// The words that it may be; none for anything.
        var words: [String] = []
        /// Whether it is a command line of its own, which begins behind `--`.
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
    /// Without those that every command has.
    let ownOptions: [OptionSpecification]
    var readsJSONOption = true
    /// Environment variables and what they do.
    var environment: [(name: String, help: String)] = []
    /// What the exit codes mean here.
    let exitCodes: [(code: ExitCode, meaning: String)]
    let run: @Sendable (Invocation) throws(ToolError) -> ExitCode

    /// All options, the most used first.
    var options: [OptionSpecification] {
        ownOptions + (readsJSONOption ? [.json] : []) + [.verbose, .noColor, .help]
    }
}

/// What the tool says to whoever started it.
public enum ExitCode: Int32, Sendable {
    /// Trusted, or nothing to complain about.
    case fine = 0
    /// Rejected, or problems were found.
    case rejected = 1
    /// The command line or an input cannot be used.
    case unusable = 2
    /// No TCP or TLS before a certificate arrived.
    case unreachable = 3
}
