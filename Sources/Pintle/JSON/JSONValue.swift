/// One value of a `JSONDocument`; it keeps the document alive.
package struct JSONValue: Sendable {
    package enum Kind: UInt8, Sendable {
        case null, boolean, integer, number, string, array, object
    }

    let tape: JSONTape
    let index: Int

    private var node: JSONTape.Node { tape.nodes[index] }

    package var kind: Kind { node.kind }
    /// In bytes from the start of the document: of the opening quote, brace or bracket, or the first character.
    package var offset: Int { Int(node.start) }
    /// One past the value's last byte.
    package var endOffset: Int { Int(node.end) }
    /// Line and column; takes time linear in `offset`. For many values use `JSONDocument.places(at:)`.
    package var place: JSONPlace {
        var cursor = JSONPlaceCursor(tape.bytes)
        return cursor.place(at: offset)
    }
    /// The value exactly as it is written in the document.
    package var source: ArraySlice<UInt8> { tape.bytes[offset..<endOffset] }

    package var isNull: Bool { kind == .null }

    package var boolean: Bool? {
        kind == .boolean ? tape.bytes[offset] == UInt8(ascii: "t") : nil
    }

    /// `nil` unless this is an integer that fits; `-0` is 0.
    package var integer: Int64? {
        kind == .integer ? JSONParser.integer(in: source) : nil
    }

    /// The string, unescaped. Two strings may be equal as Swift compares them and differ as keys: compare keys
    /// with `equals(_:)`.
    package var string: String? {
        stringBytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The string's UTF-8, unescaped.
    package var stringBytes: [UInt8]? {
        guard kind == .string else { return nil }
        let content = tape.rawContent(of: node)
        return node.hasEscapes ? JSONEscapes.decode(content) : Array(content)
    }

    /// Where in the document's bytes the string stands between its quotes; `nil` unless it is a string, and one that is
    /// written without escapes.
    var plainRange: Range<Int>? {
        let node = node
        return node.kind == .string && !node.hasEscapes ? tape.rawRange(of: node) : nil
    }

    /// Whether this is a string of exactly these scalars; no normalisation, and no allocation unless it is written
    /// with escapes.
    package func equals(_ text: StaticString) -> Bool {
        guard kind == .string else { return false }
        return text.withUTF8Buffer { wanted in
            node.hasEscapes
                ? JSONEscapes.decode(tape.rawContent(of: node)).elementsEqual(wanted)
                : tape.rawContent(of: node).elementsEqual(wanted)
        }
    }

    /// The number of elements or members; 0 for anything else.
    package var count: Int { node.count }

    /// The elements in order, or `nil` unless this is an array.
    package var elements: JSONElements? {
        kind == .array ? JSONElements(tape: tape, container: index) : nil
    }

    /// The members in the order they are written, or `nil` unless this is an object.
    package var members: JSONMembers? {
        kind == .object ? JSONMembers(tape: tape, container: index) : nil
    }

    /// The member with that key; takes time linear in the number of members.
    package subscript(key: StaticString) -> JSONValue? {
        members?.first { $0.key.equals(key) }?.value
    }
}

/// A key, which is a value of kind `.string` with a place of its own, and what it names.
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
