package import Pintle
internal import PintleStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The update on the disk and the one that decides, and the one way in which both change.
///
/// The words of this module, each for one thing:
/// - *bundled*: the policy that the app ships. It does not change while the process lives.
/// - *verified*: an update that passed every check, ``VerifiedUpdate``.
/// - *stored*: on the disk, verified again whenever it is read, ``StoredState``.
/// - *active*: what decides now, ``ActiveState``; texts for users say "in force". An update, or the bundled policy.
/// - *adopt*: to verify an update, store it, write its floor, and activate it, in this order.
/// - *floor*: the highest version that was adopted, in two copies, ``StoreFiles/FloorCopy``; ``FloorKnowledge`` says how
///   much of it is known.
/// - *lost*: active in an earlier process, and no longer stored, ``PolicyStoreLoss``.
///
/// Safe to use from any thread. Reading ``active`` waits for nothing; a change waits for the disk and for other processes.
package final class UpdateVault: Sendable {
    private let files: StoreFiles
    private let verifier: UpdateVerifier
    private let onEvent: @Sendable (PolicyStoreEvent) -> Void
    private let state: Locked<ActiveState>

    package init(
        files: StoreFiles, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        onLostStore: PolicyStore.LostStore = .useBundled,
        onEvent: @escaping @Sendable (PolicyStoreEvent) -> Void = { _ in }
    ) throws(PolicyStoreError) {
        let verifier = UpdateVerifier(trust: trust, bundled: bundled)
        let stored = Self.load(files, verifier, active: nil, under: nil, onEvent)
        // Without the floor the stored update may be one that was withdrawn.
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

    /// As ``PolicyStore/adopt(_:at:)``.
    package func adopt(_ envelope: [UInt8], at now: Date) throws(PolicyStoreError) -> VerifiedUpdate {
        let lock: FileLock
        do {
            lock = try files.lock()
        } catch {
            onEvent(.notStored(error))
            throw .notStored(error)
        }
        // Under the lock: another process may have adopted something newer since.
        let stored = load(under: lock)
        apply(stored)
        // A floor that cannot be read may be higher: an update below it was withdrawn.
        if let error = stored.floor.error { throw .floorUnreadable(error) }
        let before = active
        let update: VerifiedUpdate
        do {
            update = try verifier.verify(envelope, floor: before.floor.lowerBound, active: before.update, at: now)
        } catch {
            throw .rejected(error)
        }
        // The active update is written once more where the disk has lost it meanwhile.
        if let active = before.update, active.version == update.version, stored.update?.version == active.version {
            return active
        }
        do {
            // The update first: a floor above the stored update would leave the app with its bundled policy.
            try files.update.write(envelope, under: lock)
            let floor = update.floor(under: verifier.trust)
            // Writing the floor's file also finds out that the lock was removed.
            for copy in StoreFiles.FloorCopy.allCases { try files.write(floor, to: copy, under: lock) }
        } catch {
            onEvent(.notStored(error))
            throw .notStored(error)
        }
        if state.withLock({ $0.activate(update) }) { onEvent(.adopted(update)) }
        return update
    }

    /// Activates what another process has adopted, and applies the floor if it could not be read before.
    package func reload() { apply(load(under: nil)) }

    private func apply(_ stored: StoredState) {
        if let event = state.withLock({ $0.apply(stored) }) { onEvent(event) }
    }

    private func load(under lock: FileLock?) -> StoredState {
        Self.load(files, verifier, active: active, under: lock, onEvent)
    }

    /// Reads both files and the copy outside. A copy of the floor that is below the stored update, because the process was
    /// ended between the writes, is written before the update becomes active.
    ///
    /// - Parameter active: `nil` while the store is being opened.
    private static func load(
        _ files: StoreFiles, _ verifier: UpdateVerifier, active: ActiveState?, under lock: FileLock?,
        _ onEvent: (PolicyStoreEvent) -> Void
    ) -> StoredState {
        var stored = files.stored(verifiedBy: verifier, active: active?.update)
        let outdated = stored.outdatedCopies
        guard let floor = stored.floor.lowerBound, !outdated.isEmpty else {
            if let error = stored.floor.error { onEvent(.floorUnreadable(error)) }
            return stored
        }
        do throws(StorageError) {
            guard let lock else {
                // Read again under the lock: another process may have been writing both just now.
                return load(files, verifier, active: active, under: try files.lock(), onEvent)
            }
            // A copy that cannot be read may be higher, and is not in the list.
            if let error = stored.floor.error { onEvent(.floorUnreadable(error)) }
            for copy in outdated { try files.write(floor, to: copy, under: lock) }
        } catch {
            onEvent(.notStored(error))
            // While the store is opened, a disk that cannot be written is no reason to go back to the bundled policy. Later
            // the active update stays: a newer one was refused for this very reason.
            if let active, !active.floor.isUnchecked, stored.update?.version ?? 0 > active.update?.version ?? 0 {
                stored.withholdUpdate()
            }
        }
        return stored
    }
}
