internal import Pintle
internal import PintlePolicyFile
internal import PintleText

/// The texts of `pintle`, `pintle help` and `pintle help COMMAND`.
enum HelpText {
    /// The help of the whole tool, in at most 24 lines.
    static func overview(of commands: [Command]) -> String {
        var lines = [
            "pintle \(CommandLineTool.version): checks that a TLS server is the one you meant to reach",
            "  pintle pin example.com                                  the pins of a live server",
            "  pintle check https://example.com --policy policy.json   decide, and explain the verdict",
            "",
        ]
        lines += commands.map { "  " + TextLayout.padded($0.name, to: 10) + $0.summary }
        lines += [
            "Exit: 0 fine or trusted, 1 rejected or problems, 2 unusable input, 3 not reached.",
            "'pintle help COMMAND' shows examples and options; --version; --generate-completion-script SHELL.",
        ]
        return lines.joined(separator: "\n")
    }

    static func of(_ command: Command) -> String {
        let beginning = [
            examples(command), section("OVERVIEW", prose(command.overview)), section("USAGE", ["  " + command.usage]),
        ]
        let lists = ReferencePage.inputs(of: command) + ReferencePage.surroundings(of: command)
        return (beginning + lists.map { section($0.title.uppercased(), table($0.rows)) }).joined(separator: "\n\n")
    }

    private static func examples(_ command: Command) -> String {
        let lines = command.examples.flatMap { ["  " + $0.line, "      " + MarkedText($0.purpose).plain] }
        return section("EXAMPLES", lines)
    }

    private static func section(_ title: String, _ lines: [String]) -> String {
        ([title] + lines).joined(separator: "\n")
    }

    private static func prose(_ paragraphs: [String]) -> [String] {
        paragraphs.enumerated().flatMap { index, paragraph in
            (index == 0 ? [] : [""]) + TextLayout.wrapped(MarkedText(paragraph).plain, width: 76).map { "  " + $0 }
        }
    }

    private static func table(_ rows: [(name: String, meaning: String)]) -> [String] {
        let rows = rows.map { (left: MarkedText($0.name).plain, right: MarkedText($0.meaning).plain) }
        let column = min(28, (rows.map(\.left.count).max() ?? 0) + 4)
        let indent = String(repeating: " ", count: column)
        return rows.flatMap { left, right -> [String] in
            var lines = TextLayout.wrapped(right, width: 80 - column).map { indent + $0 }
            let head = "  " + left
            guard head.count + 2 <= column else { return [head] + lines }
            if let first = lines.first { lines[0] = TextLayout.padded(head, to: column) + first.dropFirst(column) }
            return lines
        }
    }
}

/// A search for the word that a misspelt one stands for.
package enum Spelling {
    /// Returns `; did you mean expired?` if one of `words` is near enough to be the word that the user meant, else
    /// nothing.
    package static func suggestion(for text: String, among words: [String]) -> String {
        let limit = max(1, min(3, text.count / 3))
        let typed = Array(text.utf8.prefix(64))
        let candidates = words.map { word in
            (word: word, distance: NearestSpelling.distance(typed, Array(word.utf8)))
        }
        guard let best = candidates.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return "" }
        return "; did you mean \(best.word)?"
    }
}
