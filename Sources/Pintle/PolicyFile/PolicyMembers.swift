/// A key of an object in a policy file. The raw value is its index in `names`.
protocol PolicyFileKey: RawRepresentable, CaseIterable, Sendable where RawValue == Int {
    /// The spellings of the keys in the order of the cases, at most 16.
    static var names: [KeySpelling] { get }
}

/// The UTF-8 of a key, at most 24 bytes. Keys are compared byte by byte, here in three words, because a policy of a
/// million rules has millions of keys.
struct KeySpelling: Sendable, Equatable {
    private let count: Int
    private let words: (UInt64, UInt64, UInt64)

    /// Creates the spelling of these bytes; `nil` if they are more than 24.
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount <= 24 else { return nil }
        self.init(known: bytes)
    }

    /// Creates the spelling of a key that a test compares with its case. A key of more than 24 bytes would match
    /// nothing.
    fileprivate init(known bytes: RawSpan) {
        count = bytes.byteCount
        words = (
            Self.word(of: bytes, upTo: count), Self.word(of: bytes, upTo: count - 8),
            Self.word(of: bytes, upTo: count - 16)
        )
    }

    /// Returns the last eight of the bytes before `end`, or all of them if there are fewer.
    @inline(__always)
    private static func word(of bytes: RawSpan, upTo end: Int) -> UInt64 {
        end >= 8 ? bytes.word(at: end - 8) : end > 0 ? bytes.word(before: end) : 0
    }

    static func == (left: KeySpelling, right: KeySpelling) -> Bool {
        left.words == right.words && left.count == right.count
    }

    /// The bytes of the key as text.
    var text: String {
        var bytes: [UInt8] = []
        for (word, end) in [(words.2, count - 16), (words.1, count - 8), (words.0, count)] where end > 0 {
            for place in max(0, 8 - end)..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * place))) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PolicyFileKey {
    static func spelled(_ names: String...) -> [KeySpelling] {
        names.map { name in
            let bytes = Array(name.utf8)
            return KeySpelling(known: bytes.elementSpan.bytes)
        }
    }

    static var allNames: [String] { names.map(\.text) }

    var name: String { Self.names.indices.contains(rawValue) ? Self.names[rawValue].text : "" }

    /// Creates the key that this node of the document spells; `nil` if the object has no such key.
    init?(_ node: JSONTape.Node, in tape: JSONTape) {
        guard !node.hasEscapes else {
            self.init(unescaping: node, in: tape)
            return
        }
        let bytes = tape.bytes
        self.init(KeySpelling(bytes.elementSpan.bytes.extracting(tape.rawRange(of: node))))
    }

    @inline(never)
    private init?(unescaping node: JSONTape.Node, in tape: JSONTape) {
        let bytes = JSONEscapes.decode(tape.rawContent(of: node))
        self.init(KeySpelling(bytes.elementSpan.bytes))
    }

    private init?(_ spelling: KeySpelling?) {
        guard let spelling, let place = Self.names.firstIndex(of: spelling) else { return nil }
        self.init(rawValue: place)
    }
}

/// The members of one object by key. It needs only a few registers, because a policy of a million rules has a million
/// objects.
struct PolicyMembers<Key: PolicyFileKey> {
    private let tape: JSONTape?
    /// The tape index of each key's value, by the key's index. 0 means that the key is missing: it is the index of the
    /// root, which is never a member's value.
    private var places = SIMD16<UInt32>()

    /// Creates an empty set of members.
    ///
    /// - Parameter tape: `nil` if the object is to stay without members.
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

/// The keys of each object in a policy file, in the order in which they are written. Any other key is an error:
/// ignoring a restriction would make a rule weaker than its author thinks.
enum PolicyFileKeys {
    enum Policy: Int, PolicyFileKey {
        case schema, version, updateVersion, unpinnedHosts, updates, hosts
        static let names = Self.spelled("$schema", "version", "updateVersion", "unpinnedHosts", "updates", "hosts")
    }

    enum Updates: Int, PolicyFileKey {
        case anyHost
        static let names = Self.spelled("anyHost")
    }

    enum Host: Int, PolicyFileKey {
        case host, note, port, includeSubdomains, pins, backupPins, requires, expiry, enforcement, anchors
        case minimumPathLength, issuerKey, reportTo, withdraws
        static let names = Self.spelled(
            "host", "note", "port", "includeSubdomains", "pins", "backupPins", "requires", "expiry", "enforcement",
            "anchors",
            "minimumPathLength", "issuerKey", "reportTo", "withdraws")
    }

    enum Pin: Int, PolicyFileKey {
        case spki, certificate, at, note
        static let names = Self.spelled("spki", "certificate", "at", "note")
    }

    enum Expiry: Int, PolicyFileKey {
        case after, then
        static let names = Self.spelled("after", "then")
    }

    /// The names of the cases of `PinExpiry`, which has no raw values because its cases carry a date.
    enum ExpiryAction: String, CaseIterable {
        case systemTrust, reject
    }

    enum Anchors: Int, PolicyFileKey {
        case include, system
        static let names = Self.spelled("include", "system")
    }

    /// The only format version.
    static let formatVersion: Int64 = 1
    /// The value of `backupPins` that accepts having no backup.
    static let noneAccepted = "none-accepted"
    /// The maximum version of an update: 2^53 - 1, because JSON readers with floating-point numbers lose precision
    /// above it. If `Int` has 32 bits, as on older watches, its maximum.
    static let maximumUpdateVersion = min(9_007_199_254_740_991, Int64(Int.max))
}
