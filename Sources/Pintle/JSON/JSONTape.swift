/// A parsed document as one flat array in document order.
///
/// A tree of enums would need an allocation for each value, and a policy of half a million hosts has millions of
/// values. On the tape a value takes 16 bytes, strings and numbers stay in `bytes`, and skipping a subtree is one
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
        bytes[rawRange(of: node)]
    }

    /// Returns the range of a string's bytes between the quotes.
    func rawRange(of node: Node) -> Range<Int> {
        Int(node.start) + 1..<Int(node.end) - 1
    }
}
