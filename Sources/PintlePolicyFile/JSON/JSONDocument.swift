internal import Pintle

/// A strictly parsed JSON document. Where RFC 8259 leaves a choice, the parser takes the one with which no two readers
/// can disagree.
///
/// It requires UTF-8 without a byte-order mark, with only valid and shortest sequences, no lone surrogates in escapes,
/// and only white space after the value. Two members of an object must not have the same key, compared byte by byte
/// after unescaping. Integers must fit in `Int64`. Size and depth are limited. Parsing takes time and memory linear in
/// the size of the input, even for objects with many members.
///
/// The document keeps the bytes that it was parsed from, and decodes strings lazily.
package struct JSONDocument: Sendable {
    package struct Limits: Sendable {
        /// The maximum number of bytes. A larger document is refused without reading it. Values above 512 MiB count as
        /// 512 MiB.
        package var maximumBytes: Int
        /// The maximum nesting of arrays and objects; `[[]]` has depth 2. Values above 128 count as 128, because the
        /// parser is recursive.
        package var maximumDepth: Int
        /// The maximum number of values. A value takes memory beside its bytes, several times as much if it is short.
        package var maximumValues: Int
        /// A Boolean value that indicates whether fractions, exponents and integers beyond `Int64` are allowed. They
        /// become values of kind `.number`. Use it for documents whose unknown members are ignored.
        package var allowsAnyNumber: Bool

        /// Creates limits. The defaults are those of a policy file.
        package init(
            maximumBytes: Int = 64 << 20, maximumDepth: Int = 16, maximumValues: Int = .max,
            allowsAnyNumber: Bool = false
        ) {
            self.maximumBytes = maximumBytes
            self.maximumDepth = maximumDepth
            self.maximumValues = maximumValues
            self.allowsAnyNumber = allowsAnyNumber
        }
    }

    let tape: JSONTape

    init(tape: JSONTape) {
        self.tape = tape
    }

    /// Parses all of `bytes`.
    package init(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) {
        var parser = JSONParser(bytes, limits: limits)
        tape = try parser.parse()
    }

    package var root: JSONValue { JSONValue(tape: tape, index: 0) }

    package var bytes: [UInt8] { tape.bytes }

    /// Returns the lines and columns of many bytes, in the order given, in one pass over the document.
    package func places(at offsets: [Int]) -> [TextPlace] {
        var cursor = TextPlaceCursor(tape.bytes)
        var places = [TextPlace](repeating: TextPlace(line: 1, column: 1), count: offsets.count)
        for index in offsets.indices.sorted(by: { offsets[$0] < offsets[$1] }) {
            places[index] = cursor.place(at: offsets[index])
        }
        return places
    }
}

/// A parsed document as one flat array in document order.
///
/// A tree of enums would need an allocation for each value, so that a hostile document of 64 MiB could take gigabytes.
/// On the tape a value takes 16 bytes, strings and numbers stay in `bytes`, and skipping a subtree is one
/// addition. An object's members are stored as key, value, key, value.
final class JSONTape: Sendable {
    struct Node {
        /// The offset of the first byte: the opening quote, brace or bracket, the minus sign, or the first letter or
        /// digit.
        let start: UInt32
        /// The offset after the last byte.
        var end: UInt32
        /// The index after this value and everything inside it.
        var next: UInt32
        /// The kind in the lowest three bits, `hasEscapes` in the fourth, and the number of elements or members above.
        private var info: UInt32

        init(kind: JSONValue.Kind, start: Int, end: Int, next: Int, hasEscapes: Bool = false) {
            self.start = UInt32(truncatingIfNeeded: start)
            self.end = UInt32(truncatingIfNeeded: end)
            self.next = UInt32(truncatingIfNeeded: next)
            info = UInt32(kind.rawValue) | (hasEscapes ? 8 : 0)
        }

        var kind: JSONValue.Kind { JSONValue.Kind(rawValue: UInt8(info & 7)) ?? .null }
        var hasEscapes: Bool { info & 8 != 0 }

        var count: Int {
            get { Int(info >> 4) }
            set { info = UInt32(truncatingIfNeeded: newValue) << 4 | info & 15 }
        }
    }

    /// The maximum size of a document. Every offset then fits in 32 bits, and every count in 28, because an element
    /// takes at least two bytes.
    static let maximumBytes = 1 << 29

    let bytes: [UInt8]
    let nodes: [Node]

    init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// Returns a string's bytes between the quotes, with escapes still encoded.
    func rawContent(of node: Node) -> ArraySlice<UInt8> {
        bytes[Int(node.start) + 1..<Int(node.end) - 1]
    }
}
