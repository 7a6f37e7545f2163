package import Pintle
internal import PintleStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The owner of the stored update and the active one. Both change only through this class.
///
/// This module uses each of these words for one thing:
/// - *bundled*: the policy that the app ships. It does not change while the process lives.
/// - *verified*: an update that passed every check, ``VerifiedUpdate``.
/// - *stored*: on the disk; verified again whenever it is read, ``StoredState``.
/// - *active*: the update or the bundled policy that decides now, ``ActiveState``; texts for users say "in force".
/// - *adopt*: to verify an update, store it, write its floor, and activate it, in this order.
/// - *floor*: the highest version that was ever adopted, kept in two copies, ``StoreFiles/FloorCopy``.
///   ``FloorKnowledge`` says which copies could be read.
/// - *lost*: active in an earlier process, and no longer stored, ``LostUpdate``.
///
/// Safe to use from any thread. Reading ``active`` never waits; a change waits for the disk and for other processes.
package final class UpdateVault: Sendable {
    private let files: StoreFiles
    private let verifier: UpdateVerifier
    private let onEvent: @Sendable (PolicyStoreEvent) -> Void
    private let state: Locked<ActiveState>

    package init(
        files: StoreFiles, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        onLostStore: PolicyStore.LossHandling = .useBundled,
        onEvent: @escaping @Sendable (PolicyStoreEvent) -> Void = { _ in }
    ) throws(PolicyStoreError) {
        let verifier = UpdateVerifier(trust: trust, bundled: bundled)
        let stored = Self.load(files, verifier, active: nil, under: nil, onEvent)
        // While the floor is unknown, the stored update may be a withdrawn one that an attacker has restored.
        if let error = stored.floor.error, onLostStore == .refuse { throw .floorUnreadable(error) }
        if let loss = stored.loss {
            onEvent(.lostStore(loss))
            if onLostStore == .refuse { throw .lostStore(loss) }
        }
        self.files = files
        self.verifier = verifier
        self.onEvent = onEvent
        state = Locked(ActiveState(stored, bundled: bundled, trust: trust, releaseDate: releaseDate))
    }

    package var active: ActiveState { state.withLock { $0 } }

    /// Adopts an update, as described at ``PolicyStore/adopt(_:at:)``.
    package func adopt(_ envelope: [UInt8], at now: Date) throws(PolicyStoreError) -> VerifiedUpdate {
        let lock: FileLock
        do {
            lock = try files.lock()
        } catch {
            onEvent(.notStored(error))
            throw .notStored(error)
        }
        // Read again under the lock: another process may have adopted a newer update.
        let stored = load(under: lock)
        apply(stored)
        // The copy that cannot be read may hold a higher floor, and then the update was withdrawn.
        if let error = stored.floor.error { throw .floorUnreadable(error) }
        let before = active
        let update: VerifiedUpdate
        do {
            update = try verifier.verify(envelope, floor: before.floor.lowerBound, at: now)
        } catch {
            throw .rejected(error)
        }
        // Nothing to write if the same update is already on the disk. If the disk has lost the active update, write it
        // again.
        if let active = before.update, active.version == update.version,
            stored.update?.payloadDigest == update.payloadDigest
        {
            return active
        }
        do {
            // Write the update before the floor. With a floor above the stored update, the app would fall back to its
            // bundled policy.
            try files.update.write(envelope, under: lock)
            try files.write(update.floor(for: verifier.trust), to: StoreFiles.FloorCopy.allCases, under: lock)
        } catch {
            onEvent(.notStored(error))
            throw .notStored(error)
        }
        if state.withLock({ $0.activate(update) }) { onEvent(.adopted(update)) }
        return update
    }

    /// Activates an update that another process has adopted, and applies the floor if it could not be read before.
    package func reload() { apply(load(under: nil)) }

    private func apply(_ stored: StoredState) {
        if let event = state.withLock({ $0.apply(stored) }) { onEvent(event) }
    }

    private func load(under lock: FileLock?) -> StoredState {
        Self.load(files, verifier, active: active, under: lock, onEvent)
    }

    /// Reads both files and the outside copy of the floor. If the process was ended between two writes, a copy of the
    /// floor is below the stored update; it is written before the update becomes active.
    ///
    /// - Parameter active: `nil` while the store is being opened.
    private static func load(
        _ files: StoreFiles, _ verifier: UpdateVerifier, active: ActiveState?, under lock: FileLock?,
        _ onEvent: (PolicyStoreEvent) -> Void
    ) -> StoredState {
        var stored = files.stored(verifiedBy: verifier)
        let outdated = stored.outdatedCopies
        guard let floor = stored.floor.lowerBound, !outdated.isEmpty else {
            if let error = stored.floor.error { onEvent(.floorUnreadable(error)) }
            return stored
        }
        do throws(StorageError) {
            guard let lock else {
                // Read again under the lock: another process may be writing both files at this moment.
                return load(files, verifier, active: active, under: try files.lock(), onEvent)
            }
            // A copy that cannot be read may be higher, and `outdated` does not contain it.
            if let error = stored.floor.error { onEvent(.floorUnreadable(error)) }
            try files.write(floor, to: outdated, under: lock)
        } catch {
            onEvent(.notStored(error))
            // At start, activate the stored update even if the disk cannot be written: falling back to the bundled
            // policy would be worse. Later keep the active update, as `adopt` does when it cannot write a floor.
            if let active, !active.floor.isUnchecked, stored.update?.version ?? 0 > active.update?.version ?? 0 {
                stored.withholdUpdate()
            }
        }
        return stored
    }
}

/// The floor as far as a process knows it. The copy outside of the folder cannot always be read.
enum FloorKnowledge: Sendable {
    /// The last read found every copy, or an adoption wrote every copy. `nil`: no update was adopted under the trusted
    /// keys.
    case known(UpdateFloor?)
    /// The last read failed for the copy outside of the folder, but an earlier one in this process succeeded. The
    /// active update was compared with that earlier floor.
    case outdated(atLeast: UpdateFloor?, StorageError)
    /// Every read of the copy outside of the folder failed in this process. The active update was compared with the
    /// folder's copy only, so it may have been withdrawn.
    case unchecked(atLeast: UpdateFloor?, StorageError)

    /// A lower bound of the floor: the highest floor that this process has read or written. A copy that could not be
    /// read may be higher.
    var lowerBound: UpdateFloor? {
        switch self {
        case .known(let floor), .outdated(let floor, _), .unchecked(let floor, _): floor
        }
    }

    /// The reason that the last read of the copy outside of the folder failed; `nil` if it succeeded.
    var error: StorageError? {
        switch self {
        case .known: nil
        case .outdated(_, let error), .unchecked(_, let error): error
        }
    }

    /// A Boolean value that indicates whether the active update was never compared with the copy outside of the folder.
    var isUnchecked: Bool { if case .unchecked = self { true } else { false } }

    /// Returns the knowledge after another read. The floor never falls while the process lives. Of two floors with the
    /// same version, the earlier one stays. After `unchecked`, ``ActiveState/apply(_:)`` takes the later one instead,
    /// unless it is the floor of the active update.
    func updated(by look: FloorKnowledge) -> FloorKnowledge {
        var highest = lowerBound
        if let floor = look.lowerBound, floor.version > highest?.version ?? 0 { highest = floor }
        switch (self, look.error) {
        case (_, nil): return .known(highest)
        case (.unchecked, let error?): return .unchecked(atLeast: highest, error)
        case (_, let error?): return .outdated(atLeast: highest, error)
        }
    }
}
