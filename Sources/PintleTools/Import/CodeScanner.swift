internal import Pintle

/// A word of Kotlin, Java or Swift.
struct CodeToken: Sendable {
    enum Kind: Sendable, Equatable {
        case identifier(String)
        /// The value of a string literal.
        case string(String)
        /// A string literal whose value is not its characters: a template, a raw or a multi-line string.
        case otherString
        case number(String)
        case punctuation(Character)
    }

    let kind: Kind
    let place: TextPlace

    func isPunctuation(_ character: Character) -> Bool { kind == .punctuation(character) }
    func isIdentifier(_ name: String) -> Bool { kind == .identifier(name) }

    /// The text in messages.
    var text: String {
        switch kind {
        case .identifier(let name), .number(let name): name
        case .string(let text): "\"\(text.prefix(40))\""
        case .otherString: "a string with an interpolation or an escape that cannot be read"
        case .punctuation(let character): "\(character)"
        }
    }
}

/// A scanner that splits source code into words, without comments. It reads the syntax that the three languages have in
/// common, and throws if they would read the same characters differently.
struct CodeScanner {
    private var text: PlacedText

    static func tokens(of bytes: [UInt8]) throws(ToolError) -> [CodeToken] {
        guard let text = String(validatingUTF8: bytes) else {
            throw .unusable("invalid-utf8", "the file is not UTF-8", at: nil)
        }
        var scanner = CodeScanner(text: PlacedText(text))
        var tokens: [CodeToken] = []
        while let token = try scanner.next() {
            tokens.append(token)
            guard tokens.count <= ForeignLimits.items else {
                throw .unusable("limits-exceeded", "more words than any configuration has", at: token.place)
            }
        }
        return tokens
    }

    private mutating func next() throws(ToolError) -> CodeToken? {
        while let scalar = text.peek() {
            let start = text.place
            if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                text.pop()
            } else if scalar == "/", text.peek(1) == "/" {
                while let rest = text.peek(), rest != "\n" { text.pop() }
            } else if scalar == "/", text.peek(1) == "*" {
                try skipComment()
            } else if scalar == "\"" {
                return CodeToken(kind: try string(), place: start)
            } else if scalar == "'" {
                try skipCharacter()
            } else if scalar.properties.isXIDStart || scalar == "_" {
                return CodeToken(kind: .identifier(word()), place: start)
            } else if (0x30...0x39).contains(scalar.value) {
                return CodeToken(kind: .number(word()), place: start)
            } else {
                text.pop()
                return CodeToken(kind: .punctuation(Character(scalar)), place: start)
            }
        }
        return nil
    }

    private mutating func word() -> String {
        var word = String.UnicodeScalarView()
        while let scalar = text.peek(), scalar.properties.isXIDContinue {
            word.append(scalar)
            text.pop()
        }
        return String(word)
    }

    private mutating func skipComment() throws(ToolError) {
        let start = text.place
        text.pop()
        text.pop()
        while let scalar = text.peek() {
            if scalar == "*", text.peek(1) == "/" {
                text.pop()
                text.pop()
                return
            }
            // Java ends such a comment earlier than Kotlin and Swift.
            if scalar == "/", text.peek(1) == "*" {
                throw .unusable("nested-comment", "a comment in a comment", at: text.place, hint: "take it out")
            }
            text.pop()
        }
        throw .unusable("unexpected-end", "the comment does not end", at: start)
    }

    /// Skips a character in single quotes, because it may be a double quote.
    private mutating func skipCharacter() throws(ToolError) {
        let start = text.place
        text.pop()
        while let scalar = text.peek(), scalar != "\n" {
            if scalar == "\\" { text.pop() }
            text.pop()
            if scalar == "'" { return }
        }
        throw .unusable("unexpected-end", "the character literal does not end", at: start)
    }

    private mutating func string() throws(ToolError) -> CodeToken.Kind {
        let start = text.place
        if text.peek(1) == "\"", text.peek(2) == "\"" { return try multiLineString() }
        text.pop()
        var value = String.UnicodeScalarView()
        var isPlain = true
        while let scalar = text.peek(), scalar != "\n" {
            text.pop()
            switch scalar {
            case "\"": return isPlain ? .string(String(value)) : .otherString
            case "$": isPlain = false
            case "\\":
                guard let escaped = text.peek(), escaped != "\n" else { break }
                text.pop()
                switch escaped {
                case "\\", "\"", "'": value.append(escaped)
                // No host or hash contains the character.
                default: isPlain = false
                }
            default: value.append(scalar)
            }
        }
        throw .unusable("unexpected-end", "the string does not end on its line", at: start)
    }

    private mutating func multiLineString() throws(ToolError) -> CodeToken.Kind {
        let start = text.place
        for _ in 0..<3 { text.pop() }
        while let scalar = text.peek() {
            if scalar == "\"", text.peek(1) == "\"", text.peek(2) == "\"" {
                for _ in 0..<3 { text.pop() }
                return .otherString
            }
            text.pop()
        }
        throw .unusable("unexpected-end", "the string does not end", at: start)
    }
}

extension String {
    /// Returns `nil` unless the bytes are UTF-8.
    fileprivate init?(validatingUTF8 bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
