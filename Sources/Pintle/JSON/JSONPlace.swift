/// A position in a JSON document as editors show it: line and column, both counted from 1.
///
/// A line feed ends a line, so CRLF ends one line. The column counts Unicode scalars; a tab or carriage return counts
/// as one. In invalid UTF-8, stray continuation bytes are not counted.
package struct JSONPlace: Sendable, Hashable, Comparable {
    package let line: Int
    package let column: Int

    package static func < (left: JSONPlace, right: JSONPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A converter from byte offsets to positions that needs one pass over the bytes if the offsets do not decrease.
struct JSONPlaceCursor {
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var column = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the position of the byte at `target`. A smaller offset than the last one restarts from the first byte.
    mutating func place(at target: Int) -> JSONPlace {
        if target < offset {
            self = JSONPlaceCursor(bytes)
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
        return JSONPlace(line: line, column: column)
    }
}
