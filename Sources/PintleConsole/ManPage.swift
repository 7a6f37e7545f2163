/// Writes a page of the reference as a manual page of section 1, in the macros of man(7).
struct ManPage {
    let page: ReferencePage
    /// The day in the foot of the page: `2027-11-20`.
    let date: String

    /// The name of the page, which is that of its file without `.1`.
    var name: String { Self.name(of: page.command?.name) }

    private static func name(of command: String?) -> String { "pintle" + (command.map { "-\($0)" } ?? "") }

    var text: String {
        let version = Self.escaped(CommandLineTool.version)
        var lines = [
            ".\\\" Written by 'pintle --generate-reference man'.",
            ".TH \(Self.escaped(name.uppercased())) 1 \"\(date)\" \"pintle \(version)\" \"Pintle\"", ".SH NAME",
            "\(Self.escaped(name)) \\- \(inline(page.summary))", ".SH SYNOPSIS",
        ]
        for (index, usage) in page.usage.enumerated() { lines += (index > 0 ? [".br"] : []) + [Self.line(bold(usage))] }
        for section in page.sections {
            lines.append(".SH " + Self.escaped(Self.title(section.title)))
            lines += section.blocks.enumerated().flatMap { block($1, isFirst: $0 == 0) }
        }
        lines += [".SH SEE ALSO", Self.line(others)]
        if !page.articles.isEmpty {
            lines += [".PP", "Articles of the documentation:"]
            for article in page.articles { lines += [".br", Self.line("\\fI\(Self.escaped(article.title))\\fR")] }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The titles that readers of manual pages expect.
    private static func title(_ title: String) -> String {
        switch title {
        case "Overview": "DESCRIPTION"
        case "Exit codes": "EXIT STATUS"
        default: title.uppercased()
        }
    }

    /// The pages beside this one.
    private var others: String {
        guard let command = page.command else {
            return page.commands.map { Self.reference(to: $0.name) }.joined(separator: ", ")
        }
        var names: [String] = []
        let texts = command.overview + command.sections.flatMap(\.blocks).flatMap(\.texts)
        for case .code(let code) in texts.flatMap({ MarkedText($0).spans }) {
            guard let name = MarkedText.command(in: code, of: page.commands), name != command.name,
                !names.contains(name)
            else { continue }
            names.append(name)
        }
        return ([nil] + names.sorted()).map(Self.reference).joined(separator: ", ")
    }

    private static func reference(to command: String?) -> String {
        "\\fB\(escaped(name(of: command)))\\fR(1)"
    }

    private func block(_ block: ReferenceSection.Block, isFirst: Bool) -> [String] {
        switch block {
        case .paragraph(let text): return (isFirst ? [] : [".PP"]) + [Self.line(inline(text))]
        case .list(let items): return items.flatMap { [".IP \\(bu 3", Self.line(inline($0))] }
        case .verbatim(let text):
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
                Self.line(Self.escaped(String($0)))
            }
            return (isFirst ? [] : [".PP"]) + [".RS 4", ".nf"] + lines + [".fi", ".RE"]
        case .table(_, _, let rows), .definitions(let rows):
            return rows.flatMap { [".TP", Self.line(inline($0.name, isTerm: true)), Self.line(inline($0.meaning))] }
        case .commands(let commands):
            return commands.flatMap { [".TP", Self.reference(to: $0.name), Self.line(inline($0.summary))] }
        }
    }

    private func inline(_ text: String, isTerm: Bool = false) -> String {
        MarkedText(text).spans.map { span in
            switch span {
            case .words(let words): Self.escaped(words)
            case .code(let code):
                if !isTerm, let command = MarkedText.command(in: code, of: page.commands), command != page.command?.name
                {
                    Self.reference(to: command)
                } else {
                    bold(code)
                }
            }
        }
        .joined()
    }

    private func bold(_ text: String) -> String { "\\fB\(Self.escaped(text))\\fR" }

    /// A line of text that begins with a dot or an apostrophe would be read as a macro.
    static func line(_ text: String) -> String { text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text }

    /// Writes characters that groff would replace by their escapes: a hyphen that is copied has to be a minus sign.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            case "-": "\\-"
            case "'": "\\(aq"
            case "`": "\\(ga"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "\"": "\\(dq"
            default: scalar.isASCII ? String(scalar) : "\\[u\(hex(scalar))]"
            }
        }
        .joined()
    }

    /// At least four digits, as groff wants.
    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension ReferenceSection.Block {
    /// The texts with marked code.
    var texts: [String] {
        switch self {
        case .paragraph(let text): [text]
        case .list(let items): items
        case .verbatim, .commands: []
        case .table(_, _, let rows), .definitions(let rows): rows.flatMap { [$0.name, $0.meaning] }
        }
    }
}
