internal import PintleText

/// Writes a page of the reference in the Markdown of DocC.
struct DocCPage {
    let page: ReferencePage

    /// The name of the file, without `.md`; links use it.
    var name: String { Self.name(of: page.command?.name) }

    private static func name(of command: String?) -> String {
        "Command" + (command.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? "Line")
    }

    var text: String {
        var parts = [
            "# " + (page.command.map { "pintle \($0.name)" } ?? "The command line"), inline(page.summary) + ".",
        ]
        parts += ["## Usage", verbatim(page.usage.joined(separator: "\n"))]
        for section in page.sections { parts += ["## " + section.title] + section.blocks.map(block) }
        if !page.articles.isEmpty {
            parts += ["## Articles", page.articles.map { "- <doc:/\($0.module)/\($0.name)>" }.joined(separator: "\n")]
        }
        if page.command == nil {
            let links = page.commands.map { "- <doc:\(Self.name(of: $0.name))>" }
            parts += ["## Topics", "### Commands", links.joined(separator: "\n")]
        }
        parts.append(
            "<!-- Written by `make reference` from the values of the commands in Sources. Change them there. -->")
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func block(_ block: ReferenceSection.Block) -> String {
        switch block {
        case .paragraph(let text): return wrapped(text, indent: "")
        case .list(let items): return items.map { "- " + wrapped($0, indent: "  ") }.joined(separator: "\n")
        case .verbatim(let text): return verbatim(text)
        case .definitions(let rows):
            return rows.map { "- " + wrapped("\($0.name): \($0.meaning)", indent: "  ") }.joined(separator: "\n")
        case .table(let first, let second, let rows):
            let lines = rows.map { "| \(cell($0.name)) | \(cell($0.meaning)) |" }
            return (["| \(first) | \(second) |", "|---|---|"] + lines).joined(separator: "\n")
        case .commands(let commands):
            let names = commands.map { "pintle \($0.name)" }
            let width = (names.map(\.count).max() ?? 0) + 3
            return verbatim(
                zip(names, commands).map { TextLayout.padded($0, to: width) + $1.summary }.joined(separator: "\n"))
        }
    }

    /// In a table a bar ends the cell, in code too.
    private func cell(_ text: String) -> String {
        inline(text).replacing("\\|", with: "|").replacing("|", with: "\\|")
    }

    private func wrapped(_ text: String, indent: String) -> String {
        TextLayout.wrapped(inline(text), width: 120 - indent.count).joined(separator: "\n" + indent)
    }

    private func verbatim(_ text: String) -> String { "```text\n\(text)\n```" }

    private func inline(_ text: String) -> String {
        MarkedText(text).spans.map { span in
            switch span {
            case .words(let words): Self.escaped(words)
            case .code(let code): link(code) ?? "`\(code)`"
            }
        }
        .joined()
    }

    /// A link for the name of another command.
    private func link(_ code: String) -> String? {
        guard let command = MarkedText.command(in: code, of: page.commands), command != page.command?.name else {
            return nil
        }
        return "<doc:\(Self.name(of: command))>"
    }

    private static func escaped(_ words: String) -> String {
        words.map { "\\*_[]<>|#".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
