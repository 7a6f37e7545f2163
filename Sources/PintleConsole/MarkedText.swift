/// A text of a command, in which words between backticks are code: options, commands, keys, values and file names.
struct MarkedText {
    enum Span: Equatable {
        case words(String)
        case code(String)
    }

    let spans: [Span]

    init(_ text: String) {
        spans = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
            part.isEmpty ? nil : index.isMultiple(of: 2) ? .words(String(part)) : .code(String(part))
        }
    }

    /// The text for a terminal, where code looks like words. Commands get quotation marks, because blanks are in them.
    var plain: String {
        spans.map { span in
            switch span {
            case .words(let text): text
            case .code(let text): text.hasPrefix("pintle ") || text.hasPrefix("openssl ") ? "'\(text)'" : text
            }
        }
        .joined()
    }

    /// Returns `A, B` as two spans of code.
    static func codes(_ names: String) -> String {
        names.split(separator: ",").map { name in "`\(name.drop { $0 == " " })`" }.joined(separator: ", ")
    }

    /// The name of the command that `code` is, such as `pin` for `pintle pin`; `nil` for other code.
    static func command(in code: String, of commands: [Command]) -> String? {
        let words = code.split(separator: " ")
        guard words.count == 2, words.first == "pintle", let name = words.last.map(String.init) else { return nil }
        return commands.contains { $0.name == name } ? name : nil
    }
}
