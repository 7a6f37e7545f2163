/// Fits text into columns. Pins, hashes, hosts, paths and commands are never broken or shortened: they stand
/// outside of what is given here.
enum TextLayout {
    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Cuts the middle out.
    static func shortened(_ text: String, to width: Int, ellipsis: String) -> String {
        guard text.count > width else { return text }
        let room = max(2, width - ellipsis.count)
        return text.prefix(room - room / 2) + ellipsis + text.suffix(room / 2)
    }

    /// Prose in lines of at most `width` columns; words are kept whole.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        if !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }

    /// As many items as fit on one line, and how many there are beside them.
    static func list(_ items: [String], width: Int) -> String {
        var line = ""
        for (index, item) in items.enumerated() {
            let rest = items.count - index
            let piece = index == 0 ? item : ", " + item
            let more = rest > 1 ? ", + \(rest - 1) more".count : 0
            if index > 0, line.count + piece.count + more > width { return line + ", + \(rest) more" }
            line += piece
        }
        return line
    }
}
