/// An option of a command: the one description that parsing, help, completion and the reference read.
struct OptionSpecification: Sendable {
    enum Value: Sendable {
        /// A switch.
        case none
        /// Any text; the placeholder stands for it in the help.
        case text(String)
        /// The path of a file that is read, or changed.
        case file(String)
        /// The path of a file or folder that is written. `-` means standard output, and never a file of that name.
        case output(String, orStandardOutput: Bool = false)
        /// One of these words.
        case choice(String, [String])
    }

    /// The name without the dashes.
    let name: String
    var short: Character?
    var value = Value.none
    var mayRepeat = false
    /// The words that completion offers. Unlike those of a choice, the parser does not check them.
    var suggestions: [String] = []
    /// One line, without a full stop; words between backticks are code.
    var help: String
    var defaultText: String?

    var takesValue: Bool {
        if case .none = value { false } else { true }
    }

    /// A Boolean value that indicates whether the value is the path of a file.
    var isFile: Bool {
        switch value {
        case .file, .output: true
        case .none, .text, .choice: false
        }
    }

    var placeholder: String? {
        switch value {
        case .none: nil
        case .text(let name), .file(let name), .output(let name, _), .choice(let name, _): name
        }
    }

    var choices: [String]? {
        if case .choice(_, let words) = value { words } else { nil }
    }

    /// The values that a shell completes; empty if it knows none.
    var completions: [String] { choices ?? suggestions }

    /// The help with the values to choose from and the default.
    var fullHelp: String {
        var text = help
        if let choices { text += " (values: \(choices.joined(separator: ", ")))" }
        if let defaultText { text += " (default: \(defaultText))" }
        return text
    }
}

extension OptionSpecification {
    static let json = OptionSpecification(name: "json", help: "Write JSON to stdout, and nothing else")
    static let noColor = OptionSpecification(name: "no-color", help: "Write without colours, as `NO_COLOR` does")
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
