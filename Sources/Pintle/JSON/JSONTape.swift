/// A parsed document as one flat array, in document order.
///
/// A tree of enums costs an allocation a value; a policy of half a million hosts has millions. Here a value is
/// 16 bytes, strings and numbers stay where they are in `bytes`, and skipping a subtree is one
/// addition. An object's members lie as key, value, key, value.
final class JSONTape: Sendable {
    struct Node {
        /// Of the first byte: the opening quote, brace or bracket, the minus sign, the first letter.
        let start: UInt32
        /// One past the last byte.
        var end: UInt32
        /// The index one past this value and everything inside it.
        var next: UInt32
        /// Kind in the low three bits, `hasEscapes` in the fourth, the number of elements or members above.
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

    /// Every offset fits in a node's 32 bits and every count in its 28: an element takes two bytes at least.
    static let maximumBytes = 1 << 29

    let bytes: [UInt8]
    let nodes: [Node]

    init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// A string's bytes as they stand between the quotes, escapes and all.
    func rawContent(of node: Node) -> ArraySlice<UInt8> {
        bytes[rawRange(of: node)]
    }

    /// Where they stand.
    func rawRange(of node: Node) -> Range<Int> {
        Int(node.start) + 1..<Int(node.end) - 1
    }
}
