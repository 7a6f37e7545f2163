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

/// The exit codes of the tool.
enum ExitCode: Int32 {
    /// Trusted, or nothing to complain about.
    case fine = 0
    /// Rejected, or problems were found.
    case rejected = 1
    /// The command line or an input cannot be used.
    case unusable = 2
    /// No TCP or TLS before a certificate arrived.
    case unreachable = 3
}

extension Command {
    /// Every command, in the order of the help.
    static let all: [Command] = [
        .pin, .check, .trust, .lint, .audit, .inspect, .plan, .export, .import, .evaluate, .keygen, .sign, .verify,
        .rehearse, .demo,
    ]
}

/// An option of a command: the one description that parsing, help and completion read.
struct OptionSpecification: Sendable {
    enum Value: Sendable {
        /// A switch.
        case none
        /// Anything; the placeholder stands for it in the help.
        case text(String)
        /// The path of a file.
        case file(String)
        /// One of these words.
        case choice(String, [String])
    }

    /// Without the dashes.
    let name: String
    var short: Character?
    var value = Value.none
    var mayRepeat = false
    var help: String
    var defaultText: String?

    var takesValue: Bool {
        if case .none = value { false } else { true }
    }

    var placeholder: String? {
        switch value {
        case .none: nil
        case .text(let name), .file(let name), .choice(let name, _): name
        }
    }

    var choices: [String]? {
        if case .choice(_, let words) = value { words } else { nil }
    }
}

extension OptionSpecification {
    static let json = OptionSpecification(name: "json", help: "Write JSON to stdout, and nothing else")
    static let noColor = OptionSpecification(name: "no-color", help: "Write without colours, as NO_COLOR does")
    static let verbose = OptionSpecification(
        name: "verbose", short: "v", help: "Show everything: all names, all fields")
    static let help = OptionSpecification(name: "help", short: "h", help: "Show this help")

    static let connectTo = OptionSpecification(
        name: "connect-to", value: .text("HOST:PORT"),
        help: "Connect there instead; SNI and verification still use the host that is asked for")
    static let anchors = OptionSpecification(
        name: "anchors", value: .file("FILE"),
        help: "Certificates, PEM or DER, that replace the roots this machine trusts")
    static let instant = OptionSpecification(
        name: "at", value: .text("TIME"), help: "Decide as if it were this time, such as 2027-11-20T00:00:00Z",
        defaultText: "now")
    static let connectTimeout = OptionSpecification(
        name: "connect-timeout", value: .text("SECONDS"), help: "Wait this long for TCP and a proxy",
        defaultText: "5")
    static let handshakeTimeout = OptionSpecification(
        name: "handshake-timeout", value: .text("SECONDS"), help: "Wait this long for the TLS handshake",
        defaultText: "5")
}
