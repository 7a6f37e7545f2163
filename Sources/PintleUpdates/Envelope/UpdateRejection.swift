public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rejection of an update: the failed check, and the facts that were known by then.
public struct UpdateRejection: Error, Sendable, Hashable {
    /// The first check that failed.
    public let failure: UpdateFailure
    /// The version in the update; `nil` unless enough keys have signed it.
    public let version: Int?
    /// The trusted keys that signed the update.
    public let signers: [UpdateKey]

    package init(_ failure: UpdateFailure, version: Int? = nil, signers: [UpdateKey] = []) {
        self.failure = failure
        self.version = version
        self.signers = signers
    }
}

extension UpdateRejection: CustomStringConvertible {
    /// `rollback: version 5 is older than 7`
    public var description: String { "\(failure.code): \(failure)" }
}

extension UpdateRejection: LocalizedError, DescribedError {}
