/// The reason why bytes are not the JSON that Pintle reads, with position and remedy.
///
/// Parsing stops at the first such error, because anything after broken syntax would be a guess.
package struct JSONError: Error, Sendable, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        case tooLarge = "too-large"
        case byteOrderMark = "byte-order-mark"
        case invalidUTF8 = "invalid-utf8"
        case emptyDocument = "empty-document"
        case unexpectedEnd = "unexpected-end"
        case unexpectedCharacter = "unexpected-character"
        case comment = "comment"
        case trailingComma = "trailing-comma"
        case trailingContent = "trailing-content"
        case tooDeep = "too-deep"
        case duplicateKey = "duplicate-key"
        case malformedNumber = "malformed-number"
        case nonIntegerNumber = "non-integer-number"
        case numberOutOfRange = "number-out-of-range"
        case controlCharacter = "control-character"
        case invalidEscape = "invalid-escape"
        case loneSurrogate = "lone-surrogate"
    }

    package let code: Code
    /// The position in bytes from the start of the document.
    package let offset: Int
    package let place: JSONPlace
    /// The reason on one line, in lower case and without a full stop.
    package let message: String
    /// The remedy, if there is one.
    package let hint: String?

    package var line: Int { place.line }
    package var column: Int { place.column }
}

extension JSONError: CustomStringConvertible {
    package var description: String {
        let head = "\(line):\(column): \(message)"
        return hint.map { "\(head); \($0)" } ?? head
    }
}
