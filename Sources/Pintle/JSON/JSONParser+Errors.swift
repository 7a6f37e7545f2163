extension JSONParser {
    func place(at offset: Int) -> JSONPlace {
        var cursor = JSONPlaceCursor(bytes)
        return cursor.place(at: offset)
    }

    func error(_ code: JSONError.Code, at offset: Int, _ message: String, hint: String? = nil) -> JSONError {
        JSONError(code: code, offset: offset, place: place(at: offset), message: message, hint: hint)
    }

    /// What to say about a byte that no rule accepts here; knows the usual mistakes of writing JSON by hand.
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
        // A character from the file must not rewrite the terminal it is shown on.
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
