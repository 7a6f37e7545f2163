/// A key of an object in a policy file. The raw value is its index in `names`.
protocol PolicyFileKey: RawRepresentable, CaseIterable, Sendable where RawValue == Int {
    /// The spellings of the keys in the order of the cases, at most 16. They are bytes, because keys are compared byte
    /// by byte.
    static var names: [[UInt8]] { get }
}

extension PolicyFileKey {
    static func spelled(_ names: String...) -> [[UInt8]] { names.map { Array($0.utf8) } }

    static var allNames: [String] { names.map { String(decoding: $0, as: UTF8.self) } }

    var name: String {
        Self.names.indices.contains(rawValue) ? String(decoding: Self.names[rawValue], as: UTF8.self) : ""
    }

    /// Creates the key that this node of the document spells; `nil` if the object has no such key.
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
        case version, updateVersion, unpinnedHosts, updates, hosts
        static let names = Self.spelled("version", "updateVersion", "unpinnedHosts", "updates", "hosts")
    }

    enum Updates: Int, PolicyFileKey {
        case anyHost
        static let names = Self.spelled("anyHost")
    }

    enum Host: Int, PolicyFileKey {
        case host, port, includeSubdomains, pins, backupPins, requires, expiry, enforcement, anchors
        case minimumPathLength, issuerKey, reportTo, withdraws
        static let names = Self.spelled(
            "host", "port", "includeSubdomains", "pins", "backupPins", "requires", "expiry", "enforcement", "anchors",
            "minimumPathLength", "issuerKey", "reportTo", "withdraws")
    }

    enum Pin: Int, PolicyFileKey {
        case spki, certificate, at
        static let names = Self.spelled("spki", "certificate", "at")
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
