package import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The active policy and its origin. It changes when the stored state changes and when an update is adopted.
package struct ActiveState: Sendable {
    package private(set) var snapshot: PolicySnapshot
    /// The active update; `nil` while the bundled policy is active.
    package private(set) var update: VerifiedUpdate?
    package private(set) var loss: LostUpdate?
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

    /// A Boolean value that indicates whether the floor is above the active update, so that a newer update was adopted
    /// before.
    var isBelowFloor: Bool { snapshot.policy.updateVersion < floor.lowerBound?.version ?? 0 }

    /// A Boolean value that indicates whether an update is active and no newer one was adopted before. Only then is a
    /// server's answer "not modified" valid.
    var isAtFloor: Bool { update != nil && floor.error == nil && !isBelowFloor }

    /// Activates an update whose floor has been written, unless it is older than the active update or below the floor.
    ///
    /// - Returns: `true` if this call activated the update.
    mutating func activate(_ update: VerifiedUpdate) -> Bool {
        guard update.version > self.update?.version ?? 0, update.version >= floor.lowerBound?.version ?? 0 else {
            return false
        }
        replacePolicy(with: update)
        floor = .known(update.floor(for: trust))
        loss = nil
        return true
    }

    /// Applies the result of reading the disk. The active update changes only if the floor could be read. If the floor
    /// is read for the first time in this process, the outcome is that of a store that is opened now.
    ///
    /// - Returns: the event to send, if any.
    mutating func apply(_ stored: StoredState) -> PolicyStoreEvent? {
        let wasUnchecked = floor.isUnchecked
        floor = floor.updated(by: stored.floor)
        guard floor.error == nil else { return nil }
        if wasUnchecked, let found = stored.floor.lowerBound, let update, found.version >= update.version,
            found != update.floor(for: trust)
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
        // The same rules under a newer version give the same decisions, so existing connections may stay open.
        let isOther = !policy.hasSameRules(as: snapshot.policy)
        snapshot = PolicySnapshot(
            policy: policy, generation: snapshot.generation + (isOther ? 1 : 0),
            newestKnownTime: Self.later(snapshot.newestKnownTime, update?.issuedAt))
        self.update = update
    }

    private static func later(_ one: Date?, _ other: Date?) -> Date? { [one, other].compactMap(\.self).max() }
}
