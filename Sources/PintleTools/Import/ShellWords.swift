internal import Pintle

/// The words of a shell's command lines, if the shell would not expand them.
struct ShellWords {
    struct Word: Sendable {
        var text: String
        let place: TextPlace
    }

    /// Returns the commands, one a line; a line that ends in a backslash goes on in the next.
    static func lines(_ bytes: [UInt8]) throws(ToolError) -> [[Word]] {
        var words = ShellWords(input: PlacedText(String(decoding: bytes, as: UTF8.self)))
        return try words.read()
    }

    private var input: PlacedText

    private mutating func read() throws(ToolError) -> [[Word]] {
        var lines: [[Word]] = []
        var line: [Word] = []
        var word: Word?
        func end(_ line: inout [Word], _ word: inout Word?) {
            if let finished = word { line.append(finished) }
            word = nil
        }
        var before = input.place
        while let scalar = input.pop() {
            defer { before = input.place }
            switch scalar {
            case " ", "\t", "\r": end(&line, &word)
            case "\n", ";":
                end(&line, &word)
                if !line.isEmpty { lines.append(line) }
                line = []
            case "#" where word == nil:
                while let rest = input.peek(), rest != "\n" { input.pop() }
            case "\\":
                guard let escaped = input.pop() else { break }
                if escaped == "\n" {
                    end(&line, &word)
                } else {
                    word = word ?? Word(text: "", place: before)
                    word?.text.unicodeScalars.append(escaped)
                }
            case "'", "\"":
                word = word ?? Word(text: "", place: before)
                word?.text += try quoted(scalar, from: before)
            case "$", "`", "|", "&", "<", ">", "(", ")", "*", "?", "{", "}", "~":
                throw .unusable(
                    "not-a-literal", "the shell expands \(scalar)", at: before,
                    hint: "put it in single quotes, or write the value itself")
            default:
                word = word ?? Word(text: "", place: before)
                word?.text.unicodeScalars.append(scalar)
            }
        }
        end(&line, &word)
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private mutating func quoted(_ quote: Unicode.Scalar, from start: TextPlace) throws(ToolError) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = input.pop() {
            if scalar == quote { return String(text) }
            if quote == "\"" {
                if scalar == "$" || scalar == "`" {
                    throw .unusable("not-a-literal", "the shell expands \(scalar)", at: start)
                }
                if scalar == "\\", let next = input.peek(), next == "\"" || next == "\\" {
                    input.pop()
                    text.append(next)
                    continue
                }
            }
            text.append(scalar)
        }
        throw .unusable("unexpected-end", "the quotation does not end", at: start)
    }
}
