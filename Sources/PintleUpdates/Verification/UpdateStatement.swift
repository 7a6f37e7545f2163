internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The claims of an update, either read from its payload or taken from the active update with the same payload.
struct UpdateStatement {
    enum Policy {
        case unread(JSONValue)
        /// The policy that an earlier reading found, without a problem.
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

    /// - Parameter isPublicSuffix: returns whether a domain is a public suffix.
    /// - Returns: the policy with its problems.
    /// - Throws: the errors that make the policy unreadable.
    func reading(_ isPublicSuffix: (String) -> Bool) throws(PolicyError) -> EmbeddedPolicy {
        switch policy {
        case .unread(let value): try EmbeddedPolicy(value, isPublicSuffix: isPublicSuffix)
        case .read(let policy): EmbeddedPolicy(policy)
        }
    }
}
