package import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension UpdateVault {
    /// What is in force, and why. Changes through what was read from the disk, and through what was adopted.
    package struct State: Sendable {
        package private(set) var snapshot: PolicySnapshot
        /// `nil`: the bundled policy.
        package private(set) var update: VerifiedUpdate?
        /// Never falls while the process lives, whatever becomes of the disk.
        package private(set) var floor: UpdateFloor?
        package private(set) var loss: PolicyStoreLoss?
        /// Whether nobody could yet hold what is in force against the floor: it could not be read at the start.
        private(set) var isProvisional: Bool
        /// As of the last look at the disk.
        private var isFloorReadable: Bool
        private let bundled: PinningPolicy
        private let trust: UpdateTrust

        init(_ content: StoreContent, bundled: PinningPolicy, trust: UpdateTrust, releaseDate: Date?) {
            snapshot = PolicySnapshot(
                policy: content.update?.policy ?? bundled, generation: 1,
                newestKnownTime: Self.later(releaseDate, content.update?.issuedAt))
            update = content.update
            floor = content.floor
            loss = content.loss
            isFloorReadable = content.floorProblem == nil
            isProvisional = !isFloorReadable
            self.bundled = bundled
            self.trust = trust
        }

        /// Whether something newer than what is in force is known to exist: an update that is above it was adopted.
        var isBelowFloor: Bool { snapshot.policy.updateVersion < floor?.version ?? 0 }

        /// Whether an update is in force, and certainly none above it was adopted: then it may be found unchanged.
        var isAtFloor: Bool { update != nil && isFloorReadable && !isBelowFloor }

        /// - Returns: whether it is in force since now.
        mutating func take(_ update: VerifiedUpdate) -> Bool {
            guard update.version > self.update?.version ?? 0, update.version >= floor?.version ?? 0 else {
                return false
            }
            put(update)
            floor = update.floor(under: trust)
            loss = nil
            isProvisional = false
            return true
        }

        /// Takes what the disk has, once it can be held against the floor. Where that was not possible at the start, the
        /// outcome is that of a start now.
        mutating func take(_ content: StoreContent) -> PolicyStoreEvent? {
            defer {
                if let floor = content.floor, floor.version > self.floor?.version ?? 0 { self.floor = floor }
            }
            isFloorReadable = content.floorProblem == nil
            guard isFloorReadable else { return nil }
            let wasProvisional = isProvisional
            isProvisional = false
            if wasProvisional, let floor = content.floor, let update, floor.version >= update.version,
                floor != update.floor(under: trust)
            {
                self.update = nil
                if floor.version >= self.floor?.version ?? 0 { self.floor = floor }
            }
            if !content.isRefused, let update = content.update, take(update) { return .adopted(update) }
            guard wasProvisional, update == nil else { return nil }
            put(nil)
            let known = loss
            loss = content.loss
            return known == nil ? loss.map { .lostStore($0) } : nil
        }

        private mutating func put(_ update: VerifiedUpdate?) {
            let policy = update?.policy ?? bundled
            // The same rules under a later number decide the same, and cost nobody a connection.
            let isOther = !policy.hasSameRules(as: snapshot.policy)
            snapshot = PolicySnapshot(
                policy: policy, generation: snapshot.generation + (isOther ? 1 : 0),
                newestKnownTime: Self.later(snapshot.newestKnownTime, update?.issuedAt))
            self.update = update
        }

        private static func later(_ one: Date?, _ other: Date?) -> Date? { [one, other].compactMap(\.self).max() }
    }
}
