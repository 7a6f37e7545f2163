package import PintleCrypto

/// The highest version that was adopted, and which payload it was. It outlives the payload, so that a lost store does
/// not let old updates in again.
public struct UpdateFloor: Sendable, Hashable {
    public let version: Int
    /// Names the trusted keys under which it was reached: see ``UpdateTrust/keySetID``. Under others it means nothing.
    public let keySetID: String
    /// SHA-256 of the payload's exact bytes.
    package let payloadDigest: SHA256Digest

    package init(version: Int, keySetID: String, payloadDigest: SHA256Digest) {
        self.version = version
        self.keySetID = keySetID
        self.payloadDigest = payloadDigest
    }
}
