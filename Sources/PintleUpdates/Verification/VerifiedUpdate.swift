public import Pintle
package import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An update that passed every check. Only a ``PolicyStore`` creates it, from the same bytes that it verified.
public struct VerifiedUpdate: Sendable {
    /// The version, 1 to 2^53 - 1.
    public let version: Int
    /// The date of signing, as stated in the update; never after its adoption.
    public let issuedAt: Date
    /// The date before which the update may be adopted. An adopted update stays in force after it.
    public let expiresAt: Date
    /// The policy of the update. Its ``/Pintle/PinningPolicy/updateVersion`` is ``version``.
    public let policy: PinningPolicy
    /// The trusted keys that signed the update, in the order of ``UpdateTrust/keys``.
    public let signers: [UpdateKey]
    /// A Boolean value that indicates whether the floor or the bundled policy already had this version.
    package let isUnchanged: Bool
    /// The first 16 members of the payload that this release does not know.
    public let ignoredMembers: [String]
    /// The SHA-256 of the payload's exact bytes.
    package let payloadDigest: SHA256Digest

    /// Returns the floor that the adoption of this update sets.
    package func floor(for trust: UpdateTrust) -> UpdateFloor {
        UpdateFloor(version: version, keySetID: trust.keySetID, payloadDigest: payloadDigest)
    }
}
