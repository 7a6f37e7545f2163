/// A key of one of the objects in a policy file. The raw value is its place among the names.
protocol PolicyFileKey: RawRepresentable, CaseIterable, Sendable where RawValue == Int {
    /// How the keys are spelled, in the order of the cases, as bytes: that is how keys are compared. At most 16.
    static var names: [[UInt8]] { get }
}

extension PolicyFileKey {
    static func spelled(_ names: String...) -> [[UInt8]] { names.map { Array($0.utf8) } }

    static var allNames: [String] { names.map { String(decoding: $0, as: UTF8.self) } }

    var name: String {
        Self.names.indices.contains(rawValue) ? String(decoding: Self.names[rawValue], as: UTF8.self) : ""
    }

    /// The key that the document spells there; `nil` for one that the object does not have.
    init?(_ node: JSONTape.Node, in tape: JSONTape) {
        let names = Self.names
        if node.hasEscapes {
            let spelling = JSONEscapes.decode(tape.rawContent(of: node))
            guard let place = names.firstIndex(of: spelling) else { return nil }
            self.init(rawValue: place)
            return
        }
        let bytes = tape.bytes
        let spelling = bytes.elementSpan.bytes.extracting(tape.rawRange(of: node))
        for (place, name) in names.enumerated() where name.count == spelling.byteCount {
            if spelling.hasSameBytes(from: 0, as: name.elementSpan.bytes, from: 0) {
                self.init(rawValue: place)
                return
            }
        }
        return nil
    }
}

/// The members of one object by their keys, in a few registers: a policy of a million rules has a million objects.
struct PolicyMembers<Key: PolicyFileKey> {
    private let tape: JSONTape?
    /// Where each key's value stands on the tape, by the key's place. 0 is the document's root, and no member's value.
    private var places = SIMD16<UInt32>()

    /// - Parameter tape: `nil` for no members at all.
    init(of tape: JSONTape? = nil) {
        self.tape = tape
    }

    subscript(key: Key) -> JSONValue? {
        guard let tape, places[key.rawValue] != 0 else { return nil }
        return JSONValue(tape: tape, index: Int(places[key.rawValue]))
    }

    mutating func set(_ key: Key, at index: Int) {
        places[key.rawValue] = UInt32(truncatingIfNeeded: index)
    }
}
