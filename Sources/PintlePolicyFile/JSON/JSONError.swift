internal import Pintle

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
    package let place: TextPlace
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

/// A position in a text file as editors show it: line and column, both counted from 1.
///
/// A line feed ends a line, so CRLF ends one line. The column counts Unicode scalars; a tab or carriage return counts
/// as one. In invalid UTF-8, stray continuation bytes are not counted.
package struct TextPlace: Sendable, Hashable, Comparable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: TextPlace, right: TextPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

extension TextPlace {
    /// Finds the line and column of a byte. It takes time linear in `offset`.
    init(ofByteAt offset: Int, in bytes: [UInt8]) {
        var cursor = TextPlaceCursor(bytes)
        self = cursor.place(at: offset)
    }
}

/// A converter from byte offsets to positions that needs one pass over the bytes if the offsets do not decrease.
struct TextPlaceCursor {
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var column = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the position of the byte at `target`. A smaller offset than the last one restarts from the first byte.
    mutating func place(at target: Int) -> TextPlace {
        if target < offset {
            self = TextPlaceCursor(bytes)
        }
        let end = min(target, bytes.count)
        while offset < end {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                column += 1
            }
            offset += 1
        }
        return TextPlace(line: line, column: column)
    }
}
