/// A JSON document read strictly: RFC 8259, and where that leaves a choice, the choice that lets no two
/// readers disagree.
///
/// UTF-8 without a byte-order mark, every sequence valid and shortest; no lone surrogates in escapes; no two members
/// of an object with the same key, compared after unescaping and byte by byte; integers that fit in `Int64`;
/// bounded size and depth; nothing but white space after the value. Takes time and memory linear in the input, for
/// objects with many members too.
///
/// The document keeps the bytes it was read from; strings are decoded when asked for.
package struct JSONDocument: Sendable {
    package struct Limits: Sendable {
        /// A document of more bytes than this is refused unread. At most 512 MiB, whatever it says.
        package var maximumBytes: Int
        /// How many arrays and objects may stand in one another; `[[]]` has depth 2. At most 128,
        /// whatever it says: the parser recurses.
        package var maximumDepth: Int
        /// Lets fractions, exponents and integers beyond `Int64` stand as values of kind `.number`, for documents
        /// whose unknown members are to be ignored.
        package var allowsAnyNumber: Bool

        /// The defaults are those of a policy file.
        package init(maximumBytes: Int = 64 << 20, maximumDepth: Int = 16, allowsAnyNumber: Bool = false) {
            self.maximumBytes = maximumBytes
            self.maximumDepth = maximumDepth
            self.allowsAnyNumber = allowsAnyNumber
        }
    }

    let tape: JSONTape

    init(tape: JSONTape) {
        self.tape = tape
    }

    /// Reads the whole of `bytes`.
    package init(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) {
        var parser = JSONParser(bytes, limits: limits)
        tape = try parser.parse()
    }

    package var root: JSONValue { JSONValue(tape: tape, index: 0) }

    package var bytes: [UInt8] { tape.bytes }

    /// The place of the byte at `offset`; takes time linear in `offset`.
    package func place(at offset: Int) -> JSONPlace {
        var cursor = JSONPlaceCursor(tape.bytes)
        return cursor.place(at: offset)
    }

    /// The places of many bytes, in the order given, in one pass over the document.
    package func places(at offsets: [Int]) -> [JSONPlace] {
        var cursor = JSONPlaceCursor(tape.bytes)
        var places = [JSONPlace](repeating: JSONPlace(line: 1, column: 1), count: offsets.count)
        for index in offsets.indices.sorted(by: { offsets[$0] < offsets[$1] }) {
            places[index] = cursor.place(at: offsets[index])
        }
        return places
    }
}
