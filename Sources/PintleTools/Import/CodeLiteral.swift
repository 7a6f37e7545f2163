/// Dictionary and array literals of Swift.
struct CodeLiteral {
    private let tokens: [CodeToken]
    private var index: Int

    /// Finds the dictionary that has a key, which is a string or a constant named after it with a `k` before it. If no
    /// bracket is open before the key, the dictionary has only that member.
    ///
    /// - Throws: an error if the key is not there, or there more than once.
    static func dictionary(with key: String, in tokens: [CodeToken]) throws(ToolError) -> Setting {
        var found: Int?
        for (index, token) in tokens.enumerated() where token.isKey(key) {
            guard index + 1 < tokens.count, tokens[index + 1].isPunctuation(":") else { continue }
            guard found == nil else {
                throw .unusable(
                    "ambiguous", "\(key) is there twice", at: token.place, hint: "give only one of them")
            }
            found = index
        }
        guard let found else {
            throw .unusable(
                "nothing-pinned", "no dictionary with \(key)", at: nil, hint: "give the file that has it")
        }
        let place = tokens[found].place
        guard let start = bracket(before: found, in: tokens) else {
            var literal = CodeLiteral(tokens: tokens, index: found + 2)
            let member = Setting.Member(key: key, place: place, value: try literal.value(depth: 0))
            return Setting(value: .dictionary([member]), place: place)
        }
        var literal = CodeLiteral(tokens: tokens, index: start + 1)
        return Setting(value: try literal.container(depth: 0), place: tokens[start].place)
    }

    /// Returns the bracket that is open at a token.
    private static func bracket(before index: Int, in tokens: [CodeToken]) -> Int? {
        var closed = 0
        for place in (0..<index).reversed() {
            if tokens[place].isPunctuation("]") { closed += 1 }
            guard tokens[place].isPunctuation("[") else { continue }
            if closed == 0 { return place }
            closed -= 1
        }
        return nil
    }

    private mutating func next() throws(ToolError) -> CodeToken {
        guard index < tokens.count else {
            throw .unusable("unexpected-end", "the file ends inside the literal", at: tokens.last?.place)
        }
        defer { index += 1 }
        return tokens[index]
    }

    private var following: CodeToken? { index < tokens.count ? tokens[index] : nil }

    private mutating func skip(_ character: Character) -> Bool {
        guard following?.isPunctuation(character) == true else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(ToolError) -> Setting {
        let token = try next()
        guard depth < ForeignLimits.depth else {
            throw .unusable("limits-exceeded", "literals too deep in one another", at: token.place)
        }
        let value: Setting.Value
        switch token.kind {
        case .string(let text): value = .string(text)
        case .identifier("true"): value = .boolean(true)
        case .identifier("false"): value = .boolean(false)
        case .number(let text): value = .other(text)
        case .identifier("NSNumber"): value = try number()
        case .punctuation("["): value = try container(depth: depth)
        default:
            throw .unusable(
                "not-a-literal", "\(token.text) is not a literal, and its value is not known", at: token.place,
                hint: "write the value itself")
        }
        try skipCast()
        return Setting(value: value, place: token.place)
    }

    /// `NSNumber(value: true)`
    private mutating func number() throws(ToolError) -> Setting.Value {
        guard skip("("), following?.isIdentifier("value") == true else { throw unexpected() }
        index += 1
        guard skip(":") else { throw unexpected() }
        let token = try next()
        let isTrue = token.isIdentifier("true")
        guard isTrue || token.isIdentifier("false"), skip(")") else { throw unexpected() }
        return .boolean(isTrue)
    }

    private func unexpected() -> ToolError {
        .unusable(
            "not-a-literal", "\(following?.text ?? "the end") does not belong here",
            at: following?.place ?? tokens.last?.place)
    }

    /// Reads the literal behind `[`.
    private mutating func container(depth: Int) throws(ToolError) -> Setting.Value {
        if skip("]") { return .array([]) }
        if skip(":") {
            guard skip("]") else { throw unexpected() }
            return .dictionary([])
        }
        var items: [Setting] = []
        var members: [Setting.Member] = []
        repeat {
            if following?.isPunctuation("]") == true { break }
            let start = index
            let token = try next()
            if following?.isPunctuation(":") == true, let key = token.key {
                guard items.isEmpty else { throw unexpected() }
                index += 1
                members.append(Setting.Member(key: key, place: token.place, value: try value(depth: depth + 1)))
            } else {
                guard members.isEmpty else {
                    throw .unusable(
                        "not-a-literal", "\(token.text) is not a key that can be read", at: token.place,
                        hint: "write the host itself, in quotes")
                }
                index = start
                items.append(try value(depth: depth + 1))
            }
        } while skip(",")
        guard skip("]") else { throw unexpected() }
        try Setting.refuseDuplicates(members)
        return members.isEmpty ? .array(items) : .dictionary(members)
    }

    /// Skips `as [String: Any]`, which changes no value.
    private mutating func skipCast() throws(ToolError) {
        while following?.isIdentifier("as") == true {
            index += 1
            var depth = 0
            repeat {
                let token = try next()
                switch token.kind {
                case .punctuation("["): depth += 1
                case .punctuation("]"): depth -= 1
                case .identifier: break
                case .punctuation(":"), .punctuation("."): guard depth > 0 else { throw unexpected() }
                default: throw unexpected()
                }
                guard depth >= 0 else { throw unexpected() }
            } while depth > 0
        }
    }
}

extension CodeToken {
    /// The key: a string, or a constant such as `kTSKPinnedDomains`, without its `k`.
    fileprivate var key: String? {
        switch kind {
        case .string(let text): text
        case .identifier(let name) where name.hasPrefix("kTSK"): String(name.dropFirst())
        default: nil
        }
    }

    fileprivate func isKey(_ name: String) -> Bool { key == name }
}
