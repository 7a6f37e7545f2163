internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an update says of itself, be it read now or known from when the same bytes were read before.
struct UpdateStatement {
    enum Policy {
        case unread(JSONValue)
        /// What it was found to be, without a problem.
        case read(PinningPolicy)
    }

    let version: UpdatePayload.Version
    let issuedAt: Date
    let expiresAt: Date
    let policy: Policy
    let ignoredMembers: [String]

    init(_ payload: UpdatePayload) {
        version = payload.version
        issuedAt = payload.issuedAt
        expiresAt = payload.expiresAt
        policy = .unread(payload.policy)
        ignoredMembers = payload.ignoredMembers
    }

    init(_ update: VerifiedUpdate) {
        version = .number(update.version)
        issuedAt = update.issuedAt
        expiresAt = update.expiresAt
        policy = .read(update.policy)
        ignoredMembers = update.ignoredMembers
    }

    /// - Throws: what keeps the policy from being read at all.
    func reading(_ isPublicSuffix: (String) -> Bool) throws(PolicyError) -> EmbeddedPolicy {
        switch policy {
        case .unread(let value): try EmbeddedPolicy(value, isPublicSuffix: isPublicSuffix)
        case .read(let policy): EmbeddedPolicy(policy)
        }
    }
}
