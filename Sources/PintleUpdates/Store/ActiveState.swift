package import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The policy that decides now, and where it came from. Changes with the stored state and with adoptions.
package struct ActiveState: Sendable {
    package private(set) var snapshot: PolicySnapshot
    /// `nil`: the bundled policy is active.
    package private(set) var update: VerifiedUpdate?
    package private(set) var loss: PolicyStoreLoss?
    private(set) var floor: FloorKnowledge
    private let bundled: PinningPolicy
    private let trust: UpdateTrust

    init(_ stored: StoredState, bundled: PinningPolicy, trust: UpdateTrust, releaseDate: Date?) {
        snapshot = PolicySnapshot(
            policy: stored.update?.policy ?? bundled, generation: 1,
            newestKnownTime: Self.later(releaseDate, stored.update?.issuedAt))
        update = stored.update
        floor = stored.floor
        loss = stored.loss
        self.bundled = bundled
        self.trust = trust
    }

    /// A Boolean value that indicates whether an update above the active one is known to have been adopted.
    var isBelowFloor: Bool { snapshot.policy.updateVersion < floor.lowerBound?.version ?? 0 }

    /// A Boolean value that indicates whether an update is active and no other one above it was adopted. Only then may a
    /// server's answer be that nothing has changed.
    var isAtFloor: Bool { update != nil && floor.error == nil && !isBelowFloor }

    /// Makes an update active whose floor has been written, unless it is older than the active one or below the floor.
    ///
    /// - Returns: `true` where the update was not active before and is now.
    mutating func activate(_ update: VerifiedUpdate) -> Bool {
        guard update.version > self.update?.version ?? 0, update.version >= floor.lowerBound?.version ?? 0 else {
            return false
        }
        replacePolicy(with: update)
        floor = .known(update.floor(under: trust))
        loss = nil
        return true
    }

    /// Applies a look at the disk, once it can be compared with the floor. Where no earlier look of this process could read
    /// the floor, the outcome is that of a store that is opened now.
    ///
    /// - Returns: the event to send, if any.
    mutating func apply(_ stored: StoredState) -> PolicyStoreEvent? {
        let wasUnchecked = floor.isUnchecked
        floor = floor.updated(by: stored.floor)
        guard floor.error == nil else { return nil }
        if wasUnchecked, let found = stored.floor.lowerBound, let update, found.version >= update.version,
            found != update.floor(under: trust)
        {
            self.update = nil
            if found.version >= floor.lowerBound?.version ?? 0 { floor = .known(found) }
        }
        if let update = stored.update, activate(update) { return .adopted(update) }
        guard wasUnchecked, update == nil else { return nil }
        replacePolicy(with: nil)
        let earlierLoss = loss
        loss = stored.loss
        return earlierLoss == nil ? loss.map { .lostStore($0) } : nil
    }

    private mutating func replacePolicy(with update: VerifiedUpdate?) {
        let policy = update?.policy ?? bundled
        // The same rules under a later number decide the same, so connections may stay.
        let isOther = !policy.hasSameRules(as: snapshot.policy)
        snapshot = PolicySnapshot(
            policy: policy, generation: snapshot.generation + (isOther ? 1 : 0),
            newestKnownTime: Self.later(snapshot.newestKnownTime, update?.issuedAt))
        self.update = update
    }

    private static func later(_ one: Date?, _ other: Date?) -> Date? { [one, other].compactMap(\.self).max() }
}
