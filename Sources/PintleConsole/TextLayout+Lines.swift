package import PintleText

extension TextLayout {
    /// Breaks prose into lines of at most `width` columns. A longer word stays whole on a line of its own.
    package static func wrapped(_ text: String, width: Int) -> [String] {
        wrapped(text.split(separator: " ").map { Line(stringLiteral: String($0)) }, width: width).map(\.text)
    }

    /// Puts as many words on each line as fit. A longer word stays whole on a line of its own.
    static func wrapped(_ words: [Line], width: Int) -> [Line] {
        var lines: [Line] = []
        var used = 0
        for word in words {
            let columns = word.columns
            if let last = lines.last, used + 1 + columns <= width {
                lines[lines.count - 1] = last.spaced(from: word)
                used += 1 + columns
            } else {
                lines.append(word)
                used = columns
            }
        }
        return lines.isEmpty ? [""] : lines
    }
}
