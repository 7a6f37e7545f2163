internal import Pintle

/// An option of a command: the one description that parsing, help, completion and the reference read.
///
/// An option with a value is an ``Option``. The others are switches:
/// `OptionSpecification("resume", help: "Go on with the file of `-o`")`. The subclass lets a command name both alike:
/// `.resume` in its list of options, `.policy` there and as `arguments[.policy]`.
// Safe: every property is a constant of a Sendable type, here and in the only subclass.
package class OptionSpecification: @unchecked Sendable {
    package enum Value: Sendable {
        /// A switch.
        case none
        /// Any text; the placeholder stands for it in the help.
        case text(String, suggestions: [String] = [])
        /// The path of a file that is read, or changed.
        case file(String)
        /// The path of a file or folder that is written. `-` means standard output, and never a file of that name.
        case output(String, orStandardOutput: Bool = false)
        /// One of these words, which completion offers.
        case choice(String, [String])
    }

    /// The name without the dashes.
    package let name: String
    let short: Character?
    let value: Value
    let mayRepeat: Bool
    /// One line, without a full stop; words between backticks are code.
    let help: String
    /// The values in words, such as `1 to 500`; `nil` if the help says which they are.
    let range: String?
    let defaultText: String?
    /// The reason why the command needs the option; `nil` if it may be left out.
    let requirement: String?

    init(
        name: String, short: Character?, value: Value, mayRepeat: Bool = false, help: String, range: String? = nil,
        defaultText: String? = nil, requirement: String?
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.mayRepeat = mayRepeat
        self.help = help
        self.range = range
        self.defaultText = defaultText
        self.requirement = requirement
    }

    /// A switch.
    package convenience init(_ name: String, short: Character? = nil, required reason: String? = nil, help: String) {
        self.init(name: name, short: short, value: .none, help: help, requirement: reason)
    }

    /// Reads the texts of the command line, at least one.
    func read(_ texts: [String]) throws(OptionError) -> any Sendable { texts }

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
        case .text(let name, _), .file(let name), .output(let name, _), .choice(let name, _): name
        }
    }

    /// The values that a shell completes; empty if it knows none.
    var completions: [String] {
        switch value {
        case .text(_, let words), .choice(_, let words): words
        case .none, .file, .output: []
        }
    }

    /// The values in words: `values: leaf, ca`, `values: 1 to 500`.
    var valueList: String? { range.map { "values: \($0)" } }

    /// The option as it is written: `--store FILE`.
    var usage: String { "--\(name)" + (placeholder.map { " \($0)" } ?? "") }

    /// The help with the values to choose from and the default.
    var fullHelp: String {
        let facts = [valueList, defaultText.map { "default: \($0)" }, requirement.map { _ in "required" }]
        return ([help] + facts.compactMap(\.self).map { "(\($0))" }).joined(separator: " ")
    }
}

extension OptionSpecification {
    package static let json = OptionSpecification("json", help: "Write JSON to stdout, and nothing else")
    static let noColor = OptionSpecification("no-color", help: "Write without colours, as `NO_COLOR` does")
    package static let verbose = OptionSpecification(
        "verbose", short: "v", help: "Show everything: all names, all fields")
    static let help = OptionSpecification("help", short: "h", help: "Show this help")
    /// The names of the options that change only what is printed, not what is done.
    static let ofOutput = [json, noColor, verbose, help].map(\.name)

    package static let connectTo = Option(
        "connect-to", .text("HOST:PORT"),
        help: "Connect there instead; SNI and verification still use the host that is asked for")
    package static let anchors = Option(
        "anchors", .file("FILE"), help: "Certificates, PEM or DER, that replace the roots this machine trusts")
    package static let identity = Option(
        "identity", .file("FILE"),
        help: "A client certificate with its key, PEM or PKCS#12; shown only if the server asks, after the verdict")
    package static let instant = Option(
        "at", .instant("TIME"), defaultText: "now",
        help: "Decide as if it were this time, such as 2027-11-20 or 2027-11-20T06:00:00Z")
    package static let connectTimeout = Option(
        "connect-timeout", .seconds("SECONDS", atMost: 3_600), defaultText: "5",
        help: "Wait this long for TCP and a proxy")
    package static let handshakeTimeout = Option(
        "handshake-timeout", .seconds("SECONDS", atMost: 3_600), defaultText: "5",
        help: "Wait this long for the TLS handshake")
}
