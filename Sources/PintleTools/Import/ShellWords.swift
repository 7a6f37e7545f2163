internal import Pintle

/// The words of a shell's command lines, if the shell would not expand them.
struct ShellWords {
    struct Word: Sendable {
        var text: String
        let place: ForeignPlace
    }

    /// Returns the commands, one a line; a line that ends in a backslash goes on in the next.
    static func lines(_ bytes: [UInt8]) throws(ForeignError) -> [[Word]] {
        guard bytes.count <= ForeignLimits.fileSize else {
            throw ForeignError("too-large", "larger than \(ForeignLimits.fileSize >> 20) MiB", at: nil)
        }
        var words = ShellWords(Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
        return try words.read()
    }

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var line = 1
    private var column = 1

    private init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    private var place: ForeignPlace { ForeignPlace(line: line, column: column) }

    private mutating func pop() -> Unicode.Scalar? {
        guard index < scalars.count else { return nil }
        defer { index += 1 }
        if scalars[index] == "\n" {
            line += 1
            column = 1
        } else {
            column += 1
        }
        return scalars[index]
    }

    private mutating func read() throws(ForeignError) -> [[Word]] {
        var lines: [[Word]] = []
        var line: [Word] = []
        var word: Word?
        func end(_ line: inout [Word], _ word: inout Word?) {
            if let finished = word { line.append(finished) }
            word = nil
        }
        var before = place
        while let scalar = pop() {
            defer { before = place }
            switch scalar {
            case " ", "\t", "\r": end(&line, &word)
            case "\n", ";":
                end(&line, &word)
                if !line.isEmpty { lines.append(line) }
                line = []
            case "#" where word == nil:
                while let rest = peek, rest != "\n" { _ = pop() }
            case "\\":
                guard let escaped = pop() else { break }
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
                throw ForeignError(
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

    private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func quoted(_ quote: Unicode.Scalar, from start: ForeignPlace) throws(ForeignError) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = pop() {
            if scalar == quote { return String(text) }
            if quote == "\"" {
                if scalar == "$" || scalar == "`" {
                    throw ForeignError("not-a-literal", "the shell expands \(scalar)", at: start)
                }
                if scalar == "\\", let next = peek, next == "\"" || next == "\\" {
                    _ = pop()
                    text.append(next)
                    continue
                }
            }
            text.append(scalar)
        }
        throw ForeignError("unexpected-end", "the quotation does not end", at: start)
    }
}
