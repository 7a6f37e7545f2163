internal import Pintle

/// One value of a `JSONDocument`. It keeps the document's memory alive.
package struct JSONValue: Sendable {
    package enum Kind: UInt8, Sendable {
        case null, boolean, integer, number, string, array, object
    }

    let tape: JSONTape
    let index: Int

    private var node: JSONTape.Node { tape.nodes[index] }

    package var kind: Kind { node.kind }
    /// The offset of the value's first byte from the start of the document: the opening quote, brace or bracket, or the
    /// first character.
    package var offset: Int { Int(node.start) }
    /// The offset after the value's last byte.
    package var endOffset: Int { Int(node.end) }
    /// The line and column of the value. It takes time linear in `offset`; for many values use
    /// `JSONDocument.places(at:)`.
    package var place: TextPlace { TextPlace(ofByteAt: offset, in: tape.bytes) }
    /// The bytes of the value exactly as the document has them.
    package var source: ArraySlice<UInt8> { tape.bytes[offset..<endOffset] }

    package var isNull: Bool { kind == .null }

    package var boolean: Bool? {
        kind == .boolean ? tape.bytes[offset] == UInt8(ascii: "t") : nil
    }

    /// The integer, or `nil` for other kinds. `-0` is 0.
    package var integer: Int64? {
        kind == .integer ? JSONParser.integer(in: source) : nil
    }

    /// The string, unescaped. Swift may consider two strings equal that are different keys, so compare keys with
    /// `equals(_:)`.
    package var string: String? {
        stringBytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The UTF-8 of the string, unescaped.
    package var stringBytes: [UInt8]? { stringSlice.map { Array($0) } }

    /// The UTF-8 of the string, unescaped. Without escapes it is a slice of the document, so that a long string is not
    /// copied.
    package var stringSlice: ArraySlice<UInt8>? {
        guard kind == .string else { return nil }
        let content = tape.rawContent(of: node)
        return node.hasEscapes ? JSONEscapes.decode(content)[...] : content
    }

    /// Returns whether this is a string of exactly these scalars, without Unicode normalization. It allocates memory
    /// only if the string has escapes.
    package func equals(_ text: StaticString) -> Bool {
        guard kind == .string else { return false }
        return text.withUTF8Buffer { wanted in
            node.hasEscapes
                ? JSONEscapes.decode(tape.rawContent(of: node)).elementsEqual(wanted)
                : tape.rawContent(of: node).elementsEqual(wanted)
        }
    }

    /// The number of elements or members; 0 for other kinds.
    package var count: Int { node.count }

    /// The elements in order, or `nil` unless this is an array.
    package var elements: JSONElements? {
        kind == .array ? JSONElements(tape: tape, container: index) : nil
    }

    /// The members in document order, or `nil` unless this is an object.
    package var members: JSONMembers? {
        kind == .object ? JSONMembers(tape: tape, container: index) : nil
    }

    /// Returns the member with that key. It takes time linear in the number of members.
    package subscript(key: StaticString) -> JSONValue? {
        members?.first { $0.key.equals(key) }?.value
    }
}

/// A key and its value. The key is itself a value of kind `.string` with a position.
package struct JSONMember: Sendable {
    package let key: JSONValue
    package let value: JSONValue
}

package struct JSONElements: Sequence, Sendable {
    let tape: JSONTape
    let container: Int

    package var underestimatedCount: Int { tape.nodes[container].count }

    package func makeIterator() -> Iterator {
        Iterator(tape: tape, index: container + 1, end: Int(tape.nodes[container].next))
    }

    package struct Iterator: IteratorProtocol {
        let tape: JSONTape
        var index: Int
        let end: Int

        package mutating func next() -> JSONValue? {
            guard index < end else { return nil }
            defer { index = Int(tape.nodes[index].next) }
            return JSONValue(tape: tape, index: index)
        }
    }
}

package struct JSONMembers: Sequence, Sendable {
    let tape: JSONTape
    let container: Int

    package var underestimatedCount: Int { tape.nodes[container].count }

    package func makeIterator() -> Iterator {
        Iterator(values: JSONElements(tape: tape, container: container).makeIterator())
    }

    package struct Iterator: IteratorProtocol {
        var values: JSONElements.Iterator

        package mutating func next() -> JSONMember? {
            guard let key = values.next(), let value = values.next() else { return nil }
            return JSONMember(key: key, value: value)
        }
    }
}
