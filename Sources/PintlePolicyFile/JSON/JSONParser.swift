internal import Pintle

/// A recursive-descent parser of the grammar of RFC 8259 that writes a flat tape.
struct JSONParser {
    let bytes: [UInt8]
    let limits: JSONDocument.Limits
    var position = 0
    var nodes: [JSONTape.Node] = []
    private var valueCount = 0

    init(_ bytes: [UInt8], limits: JSONDocument.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func parse() throws(JSONError) -> JSONTape {
        let maximum = min(limits.maximumBytes, JSONTape.maximumBytes)
        guard bytes.count <= maximum else {
            throw error(
                .tooLarge, at: 0, "the document has \(bytes.count) bytes; at most \(maximum) are read",
                hint: "split it")
        }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw error(
                .byteOrderMark, at: 0, "the document starts with a byte-order mark",
                hint: "save it as UTF-8 without BOM")
        }
        guard !bytes.starts(with: [0xFE, 0xFF]), !bytes.starts(with: [0xFF, 0xFE]) else {
            throw error(
                .byteOrderMark, at: 0, "the document starts with the byte-order mark of UTF-16",
                hint: "save it as UTF-8 without BOM")
        }
        skipBlanks()
        guard position < bytes.count else {
            throw error(.emptyDocument, at: position, "the document is empty")
        }
        // A policy takes about twenty bytes a value. Reserving avoids copying the tape each time that it grows.
        nodes.reserveCapacity(min(bytes.count / 24, limits.maximumValues))
        try parseValue(depth: 0)
        skipBlanks()
        guard position == bytes.count else {
            throw try unexpected("the end of the document", code: .trailingContent)
        }
        return JSONTape(bytes: bytes, nodes: nodes)
    }

    /// The byte at `position`, or NUL at the end. No rule of the grammar accepts NUL.
    var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    mutating func skipBlanks() {
        while position < bytes.count, bytes[position].isBlank { position += 1 }
    }

    private mutating func parseValue(depth: Int) throws(JSONError) {
        valueCount += 1
        guard valueCount <= limits.maximumValues else {
            throw error(.tooLarge, at: position, "the document has more than \(limits.maximumValues) values")
        }
        switch current {
        case UInt8(ascii: "{"): try parseObject(depth: depth + 1)
        case UInt8(ascii: "["): try parseArray(depth: depth + 1)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        case UInt8(ascii: "t"): try parseWord("true", .boolean)
        case UInt8(ascii: "f"): try parseWord("false", .boolean)
        case UInt8(ascii: "n"): try parseWord("null", .null)
        default: throw try unexpected("a value")
        }
    }

    private mutating func parseWord(_ word: StaticString, _ kind: JSONValue.Kind) throws(JSONError) {
        let end = position + word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { word in bytes[position...].starts(with: word) }
        guard matches, end == bytes.count || !isLetter(bytes[end]) else {
            throw error(
                .unexpectedCharacter, at: position, "expected \(word)",
                hint: "JSON has the words true, false and null; anything else goes in double quotes")
        }
        nodes.append(.init(kind: kind, start: position, end: end, next: nodes.count + 1))
        position = end
    }

    private mutating func open(_ kind: JSONValue.Kind, depth: Int) throws(JSONError) -> Int {
        guard depth <= min(limits.maximumDepth, 128) else {
            throw error(
                .tooDeep, at: position,
                "more than \(limits.maximumDepth) arrays and objects stand in one another")
        }
        nodes.append(.init(kind: kind, start: position, end: position, next: nodes.count + 1))
        position += 1
        skipBlanks()
        return nodes.count - 1
    }

    /// Skips the closing bracket and completes the container's node.
    private mutating func close(_ container: Int, count: Int) {
        position += 1
        nodes[container].end = UInt32(truncatingIfNeeded: position)
        nodes[container].next = UInt32(truncatingIfNeeded: nodes.count)
        nodes[container].count = count
    }

    private mutating func parseArray(depth: Int) throws(JSONError) {
        let container = try open(.array, depth: depth)
        var count = 0
        if current != UInt8(ascii: "]") {
            repeat {
                try parseValue(depth: depth)
                count += 1
            } while try parseSeparator(orEnd: UInt8(ascii: "]"), of: container)
        }
        close(container, count: count)
    }

    private mutating func parseObject(depth: Int) throws(JSONError) {
        let container = try open(.object, depth: depth)
        var count = 0
        if current != UInt8(ascii: "}") {
            repeat {
                guard current == UInt8(ascii: "\"") else {
                    throw try unexpected("a key in double quotes")
                }
                try parseString()
                skipBlanks()
                guard current == UInt8(ascii: ":") else { throw try unexpected("\":\" after the key") }
                position += 1
                skipBlanks()
                try parseValue(depth: depth)
                count += 1
            } while try parseSeparator(orEnd: UInt8(ascii: "}"), of: container)
        }
        close(container, count: count)
        try refuseDuplicateKeys(in: container)
    }

    /// Returns `true` after a comma that another element follows, and `false` before the closing bracket.
    private mutating func parseSeparator(orEnd end: UInt8, of container: Int) throws(JSONError) -> Bool {
        skipBlanks()
        if current == end { return false }
        // Built lazily: only error messages need the character.
        var bracket: Character { Character(Unicode.Scalar(end)) }
        guard current == UInt8(ascii: ",") else {
            guard position == bytes.count else { throw try unexpected("\",\" or \"\(bracket)\"") }
            let opening = TextPlace(ofByteAt: Int(nodes[container].start), in: bytes)
            throw error(
                .unexpectedEnd, at: position, "the document ends before \"\(bracket)\"",
                hint: "what it closes opens at \(opening.line):\(opening.column)")
        }
        let comma = position
        position += 1
        skipBlanks()
        if current == end {
            throw error(.trailingComma, at: comma, "a comma before \"\(bracket)\"", hint: "remove it")
        }
        return true
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

extension JSONParser {
    /// Throws if the object at `container` has the same key twice. Readers disagree on which of the two values counts,
    /// so an attacker who writes the file could show two readers two different policies.
    ///
    /// It takes linear time: Swift seeds the hashes of a set at random, so an attacker cannot make keys collide.
    private func refuseDuplicateKeys(in container: Int) throws(JSONError) {
        var seen: Set<ArraySlice<UInt8>> = []
        seen.reserveCapacity(nodes[container].count)
        var index = container + 1
        while index < Int(nodes[container].next) {
            guard seen.insert(key(at: index)).inserted else { throw duplicate(index, in: container) }
            index = self.index(after: index)
        }
    }

    /// Returns the index of the next key, or that of the end of the object. The `next` of a key is the index of its
    /// value, and the `next` of the value is the next key.
    private func index(after index: Int) -> Int { Int(nodes[Int(nodes[index].next)].next) }

    private func key(at index: Int) -> ArraySlice<UInt8> {
        let node = nodes[index]
        let raw = bytes[Int(node.start) + 1..<Int(node.end) - 1]
        return node.hasEscapes ? JSONEscapes.decode(raw)[...] : raw
    }

    private func duplicate(_ later: Int, in container: Int) -> JSONError {
        let name = key(at: later)
        var earlier = container + 1
        while key(at: earlier) != name { earlier = index(after: earlier) }
        let first = TextPlace(ofByteAt: Int(nodes[earlier].start), in: bytes)
        let text = String(decoding: name.prefix(64), as: UTF8.self)
        return error(
            .duplicateKey, at: Int(nodes[later].start), "the key \(JSONWriter.quoted(text)) stands here again",
            hint: "it is at \(first.line):\(first.column) already; keep one of them")
    }
}

extension JSONParser {
    func error(_ code: JSONError.Code, at offset: Int, _ message: String, hint: String? = nil) -> JSONError {
        JSONError(
            code: code, offset: offset, place: TextPlace(ofByteAt: offset, in: bytes), message: message, hint: hint)
    }

    /// Returns the error for a byte that the grammar does not allow here. It recognizes common mistakes of hand-written
    /// JSON.
    func unexpected(
        _ expected: String, code: JSONError.Code = .unexpectedCharacter
    ) throws(JSONError) -> JSONError {
        guard position < bytes.count else {
            return error(.unexpectedEnd, at: position, "the document ends where \(expected) should stand")
        }
        let byte = bytes[position]
        if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") {
            return error(.comment, at: position, "JSON has no comments", hint: "remove it")
        }
        guard byte < 0x80 else {
            let end = try endOfScalar(at: position)
            let text = String(decoding: bytes[position..<end], as: UTF8.self)
            return error(code, at: position, "expected \(expected), found \(quoted(text))", hint: hint(for: text))
        }
        if byte < 0x20 || byte == 0x7F {
            let name = "the control character U+00" + Hex.encode([byte], upperCase: true)
            return error(code, at: position, "expected \(expected), found \(name)")
        }
        let text = String(Unicode.Scalar(byte))
        return error(code, at: position, "expected \(expected), found \(quoted(text))", hint: hint(for: text))
    }

    private func quoted(_ text: String) -> String {
        // A character from the file must not control the terminal that shows the message.
        guard let scalar = text.unicodeScalars.first, !JSONWriter.isUnsafeToShow(scalar) else {
            return "an invisible character"
        }
        return text == "\"" ? "a double quote" : "\"\(text)\""
    }

    private func hint(for text: String) -> String? {
        switch text {
        case "'", "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}": "JSON writes strings in \"straight double quotes\""
        case "+": "write the number without its plus sign"
        case ".": "numbers are integers"
        case "=": "a key and its value are joined by \":\""
        default: nil
        }
    }
}
