public import Pintle
package import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An update that passed every check. Only ``UpdateVerifier`` makes one, out of the very bytes that it verified.
public struct VerifiedUpdate: Sendable {
    /// 1 to 2^53 - 1.
    public let version: Int
    public let issuedAt: Date
    /// Until when it may be adopted; once adopted it stays in force.
    public let expiresAt: Date
    /// Its ``PinningPolicy/updateVersion`` is ``version``.
    public let policy: PinningPolicy
    /// The trusted keys that signed it, in the order of ``UpdateTrust/keys``.
    public let signers: [UpdateKey]
    /// Whether it is what the floor stands at already.
    public let isUnchanged: Bool
    /// Members of the payload that this release does not know; at most 16 are told.
    public let ignoredMembers: [String]
    /// Names the payload's exact bytes.
    package let payloadDigest: SHA256Digest

    /// The floor once this is adopted.
    package func floor(under trust: UpdateTrust) -> UpdateFloor {
        UpdateFloor(version: version, keySetID: trust.keySetID, payloadDigest: payloadDigest)
    }
}
