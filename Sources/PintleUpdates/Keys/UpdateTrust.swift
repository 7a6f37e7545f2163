internal import Pintle
internal import PintleCrypto

/// The keys whose signatures an app accepts, and the number of them that must sign an update.
///
/// Ship two keys from the first release on, and keep the second one offline. To rotate keys, ship a release with the
/// new keys; until every app has it, sign with both the old and the new keys.
public struct UpdateTrust: Sendable, Hashable {
    /// The trusted keys: distinct, at least one and at most 16.
    public let keys: [UpdateKey]
    /// The number of distinct keys that must sign.
    public let threshold: Int

    /// - Parameters:
    ///   - keys: the trusted keys.
    ///   - threshold: the number of distinct keys that must sign.
    /// - Throws: for no key, more than 16 keys, a duplicate key, and a threshold that is not between 1 and the number
    ///   of keys.
    public init(keys: [UpdateKey], threshold: Int = 1) throws(UpdateKeyError) {
        guard !keys.isEmpty else { throw UpdateKeyError("no key is trusted") }
        guard keys.count <= Self.maximumKeys else {
            throw UpdateKeyError("\(keys.count) keys are trusted; at most \(Self.maximumKeys) may be")
        }
        var seen: Set<UpdateKey> = []
        for key in keys where !seen.insert(key).inserted {
            throw UpdateKeyError("the key \(key.id) is named twice; one key is one signature")
        }
        guard (1...keys.count).contains(threshold) else {
            throw UpdateKeyError("a threshold of \(threshold) with \(keys.count) keys")
        }
        self.keys = keys
        self.threshold = threshold
        setID = Self.setID(of: keys)
    }

    /// Creates trust from the arguments of a command line. Duplicate keys count once. The threshold may exceed the
    /// number of distinct keys; then no update can have enough signatures.
    package init(countingOnce keys: [UpdateKey], threshold: Int) throws(UpdateKeyError) {
        var seen: Set<UpdateKey> = []
        let keys = keys.filter { seen.insert($0).inserted }
        let trust = try UpdateTrust(keys: keys)
        guard threshold >= 1 else { throw UpdateKeyError("a threshold of \(threshold)") }
        self.keys = trust.keys
        self.threshold = threshold
        setID = trust.setID
    }

    /// An identifier of the set of keys, independent of their order: the lower-case hexadecimal SHA-256 of the sorted
    /// key ids, one a line.
    ///
    /// A floor belongs to one set of keys, so that a release with other keys starts with no floor. Otherwise a thief of
    /// the old keys could block all updates by signing one with the highest possible version.
    package var keySetID: String { setID }

    /// Computed once, because every verification needs it.
    private let setID: String

    private static func setID(of keys: [UpdateKey]) -> String {
        let text = keys.map(\.id).sorted().map { $0 + "\n" }.joined()
        return Hex.encode(SHA256Digest(hashing: Array(text.utf8)).bytes)
    }

    /// The most keys. Each signature of an envelope is tried with each key.
    static let maximumKeys = 16
}
