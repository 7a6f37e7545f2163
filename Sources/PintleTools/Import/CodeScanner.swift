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
    let place: ForeignPlace

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
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var line = 1
    private var column = 1

    static func tokens(of bytes: [UInt8]) throws(ForeignError) -> [CodeToken] {
        guard bytes.count <= ForeignLimits.fileSize else {
            throw ForeignError("too-large", "larger than \(ForeignLimits.fileSize >> 20) MiB", at: nil)
        }
        guard let text = String(validatingUTF8: bytes) else {
            throw ForeignError("invalid-utf8", "the file is not UTF-8", at: nil)
        }
        var scanner = CodeScanner(scalars: Array(text.unicodeScalars))
        var tokens: [CodeToken] = []
        while let token = try scanner.next() {
            tokens.append(token)
            guard tokens.count <= ForeignLimits.items else {
                throw ForeignError("limits-exceeded", "more words than any configuration has", at: token.place)
            }
        }
        return tokens
    }

    private init(scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    private var place: ForeignPlace { ForeignPlace(line: line, column: column) }

    private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        let position = index + distance
        return position < scalars.count ? scalars[position] : nil
    }

    private mutating func advance() {
        guard index < scalars.count else { return }
        if scalars[index] == "\n" {
            line += 1
            column = 1
        } else {
            column += 1
        }
        index += 1
    }

    private mutating func next() throws(ForeignError) -> CodeToken? {
        while let scalar = peek() {
            let start = place
            if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                advance()
            } else if scalar == "/", peek(1) == "/" {
                while let rest = peek(), rest != "\n" { advance() }
            } else if scalar == "/", peek(1) == "*" {
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
                advance()
                return CodeToken(kind: .punctuation(Character(scalar)), place: start)
            }
        }
        return nil
    }

    private mutating func word() -> String {
        var word = String.UnicodeScalarView()
        while let scalar = peek(), scalar.properties.isXIDContinue {
            word.append(scalar)
            advance()
        }
        return String(word)
    }

    private mutating func skipComment() throws(ForeignError) {
        let start = place
        advance()
        advance()
        while let scalar = peek() {
            if scalar == "*", peek(1) == "/" {
                advance()
                advance()
                return
            }
            // Java ends such a comment earlier than Kotlin and Swift.
            if scalar == "/", peek(1) == "*" {
                throw ForeignError("nested-comment", "a comment in a comment", at: place, hint: "take it out")
            }
            advance()
        }
        throw ForeignError("unexpected-end", "the comment does not end", at: start)
    }

    /// Skips a character in single quotes, because it may be a double quote.
    private mutating func skipCharacter() throws(ForeignError) {
        let start = place
        advance()
        while let scalar = peek(), scalar != "\n" {
            if scalar == "\\" { advance() }
            advance()
            if scalar == "'" { return }
        }
        throw ForeignError("unexpected-end", "the character literal does not end", at: start)
    }

    private mutating func string() throws(ForeignError) -> CodeToken.Kind {
        let start = place
        if peek(1) == "\"", peek(2) == "\"" { return try multiLineString() }
        advance()
        var text = String.UnicodeScalarView()
        var isPlain = true
        while let scalar = peek(), scalar != "\n" {
            advance()
            switch scalar {
            case "\"": return isPlain ? .string(String(text)) : .otherString
            case "$": isPlain = false
            case "\\":
                guard let escaped = peek(), escaped != "\n" else { break }
                advance()
                switch escaped {
                case "\\", "\"", "'": text.append(escaped)
                // No host or hash contains the character.
                default: isPlain = false
                }
            default: text.append(scalar)
            }
        }
        throw ForeignError("unexpected-end", "the string does not end on its line", at: start)
    }

    private mutating func multiLineString() throws(ForeignError) -> CodeToken.Kind {
        let start = place
        for _ in 0..<3 { advance() }
        while let scalar = peek() {
            if scalar == "\"", peek(1) == "\"", peek(2) == "\"" {
                for _ in 0..<3 { advance() }
                return .otherString
            }
            advance()
        }
        throw ForeignError("unexpected-end", "the string does not end", at: start)
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
