internal import Pintle
internal import PintleCrypto

/// Whose signatures an app takes updates from: some keys, and how many of them must have signed.
///
/// Ship two keys from the first day, the second kept offline: keys rotate by a release that carries the new ones, and
/// until every app has it, by signing with old and new.
public struct UpdateTrust: Sendable, Hashable {
    /// Distinct, at least one and at most 16.
    public let keys: [UpdateKey]
    /// How many distinct keys must have signed.
    public let threshold: Int

    /// - Throws: for no key, more than 16, one key twice, and a threshold that is not between 1 and the number of keys.
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

    /// As a command line may say it: a key that is named twice counts once, and a threshold may be above what the keys
    /// can reach. No update has enough signatures then.
    package init(countingOnce keys: [UpdateKey], threshold: Int) throws(UpdateKeyError) {
        var seen: Set<UpdateKey> = []
        let keys = keys.filter { seen.insert($0).inserted }
        let trust = try UpdateTrust(keys: keys)
        guard threshold >= 1 else { throw UpdateKeyError("a threshold of \(threshold)") }
        self.keys = trust.keys
        self.threshold = threshold
        setID = trust.setID
    }

    /// Names the set of keys, whatever their order: lower-case hexadecimal SHA-256 of the sorted key ids, one a line.
    ///
    /// A floor is kept under it, so that a release with other keys begins anew: a thief of the old ones may have
    /// signed the highest version there is.
    package var keySetID: String { setID }

    /// Made once: every update that is verified asks for it.
    private let setID: String

    private static func setID(of keys: [UpdateKey]) -> String {
        let text = keys.map(\.id).sorted().map { $0 + "\n" }.joined()
        return Hex.encode(SHA256Digest(hashing: Array(text.utf8)).bytes)
    }

    /// Each of an envelope's signatures is tried with each of them.
    static let maximumKeys = 16
}
