/// Where something stands in a JSON document, as an editor counts: both numbers start at 1.
///
/// A line ends at a line feed, so CRLF ends one line. The column counts Unicode scalars from the start of
/// the line; a tab counts one, a carriage return counts one, and in broken UTF-8 stray continuation
/// bytes count nothing.
package struct JSONPlace: Sendable, Hashable, Comparable {
    package let line: Int
    package let column: Int

    package static func < (left: JSONPlace, right: JSONPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// Turns byte offsets into places in one pass over the bytes, as long as the offsets do not decrease.
struct JSONPlaceCursor {
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var column = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The place of the byte at `target`. Going backwards starts again from the first byte.
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
