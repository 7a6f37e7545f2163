public import Pintle
package import PintleCrypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An update that passed every check. Only a ``PolicyStore`` makes one, out of the very bytes that it verified.
public struct VerifiedUpdate: Sendable {
    /// 1 to 2^53 - 1.
    public let version: Int
    /// The date on which the update was signed, as it says; not after its adoption.
    public let issuedAt: Date
    /// The end of the time in which it may be adopted. Once adopted it stays in force.
    public let expiresAt: Date
    /// Its ``PinningPolicy/updateVersion`` is ``version``.
    public let policy: PinningPolicy
    /// The trusted keys that signed it, in the order of ``UpdateTrust/keys``.
    public let signers: [UpdateKey]
    /// A Boolean value that indicates whether the floor was at this version before.
    package let isUnchanged: Bool
    /// Members of the payload that this release does not know; the first 16 of them.
    public let ignoredMembers: [String]
    /// Names the payload's exact bytes.
    package let payloadDigest: SHA256Digest

    /// Returns the floor after the adoption of this update.
    package func floor(under trust: UpdateTrust) -> UpdateFloor {
        UpdateFloor(version: version, keySetID: trust.keySetID, payloadDigest: payloadDigest)
    }
}
