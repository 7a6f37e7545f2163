/// A command of the tool: the one description that parsing, help, completion and the reference read.
///
/// In its texts, words between backticks are code: see ``MarkedText``.
package struct Command: Sendable {
    /// A line to copy, and its purpose.
    package struct Example: Sendable {
        let line: String
        let purpose: String

        package init(line: String, purpose: String) {
            self.line = line
            self.purpose = purpose
        }
    }

    /// A word on the command line that is not an option.
    package struct Argument: Sendable {
        let name: String
        let help: String
        let isOptional: Bool
        let mayRepeat: Bool
        /// The words that it may be; empty if it may be any.
        let words: [String]
        /// A Boolean value that indicates whether the argument begins a command line of its own, behind `--`.
        let followsOptions: Bool

        package init(
            name: String, help: String, isOptional: Bool = false, mayRepeat: Bool = false, words: [String] = [],
            followsOptions: Bool = false
        ) {
            self.name = name
            self.help = help
            self.isOptional = isOptional
            self.mayRepeat = mayRepeat
            self.words = words
            self.followsOptions = followsOptions
        }

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
    let rules: [OptionRule]
    /// Environment variables and their effects.
    let environment: [(name: String, help: String)]
    /// The exit codes and their meanings for this command.
    let exitCodes: [(code: ExitCode, meaning: String)]
    /// Parts of the reference that the help leaves out.
    let sections: [ReferenceSection]
    /// Articles that say more.
    let articles: [Article]
    let run: @Sendable (Invocation) throws(ToolError) -> ExitCode

    package init(
        name: String, summary: String, examples: [Example], overview: [String], arguments: [Argument],
        ownOptions: [OptionSpecification], rules: [OptionRule] = [],
        environment: [(name: String, help: String)] = [], exitCodes: [(code: ExitCode, meaning: String)],
        sections: [ReferenceSection] = [], articles: [Article] = [],
        run: @escaping @Sendable (Invocation) throws(ToolError) -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        self.overview = overview
        self.arguments = arguments
        self.ownOptions = ownOptions
        self.rules = rules
        self.environment = environment
        self.exitCodes = exitCodes
        self.sections = sections
        self.articles = articles
        self.run = run
    }

    /// All options, the most used first.
    var options: [OptionSpecification] { ownOptions + [.json, .noColor, .help] }

    /// The command line in short.
    var usage: String {
        if let last = arguments.last, last.followsOptions { return "pintle \(name) [OPTIONS] -- \(last.name) ..." }
        return "pintle \(name)\(arguments.map { " " + $0.usage }.joined()) [OPTIONS]"
    }
}

extension Command {
    /// The names of the commands that a build without OpenSSL does not have.
    static let needingServers: Set = ["check", "audit", "report", "renew", "evaluate", "rehearse", "demo"]
}

/// The exit codes of the tool.
package enum ExitCode: Int32 {
    /// Trusted, or no problem was found.
    case fine = 0
    /// Rejected, or problems were found.
    case rejected = 1
    /// The command line or an input cannot be used.
    case unusable = 2
    /// TCP or TLS failed before a certificate arrived.
    case unreachable = 3
}
