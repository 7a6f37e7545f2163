package import Pintle
internal import PintleStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What is in force and what is on the disk, and the one way in which both change.
///
/// Safe to use from any thread. Looking waits for nobody; a change waits for the disk and for other processes.
package final class UpdateVault: Sendable {
    /// What is in force, and why.
    package struct State: Sendable {
        package fileprivate(set) var snapshot: PolicySnapshot
        /// `nil`: the bundled policy.
        package fileprivate(set) var update: VerifiedUpdate?
        /// Never falls while the process lives, whatever becomes of the disk.
        package fileprivate(set) var floor: UpdateFloor?
        package fileprivate(set) var loss: PinStoreLoss?
    }

    private let files: StoreFiles
    private let verifier: UpdateVerifier
    private let onEvent: @Sendable (PinStoreEvent) -> Void
    private let locked: Locked<State>

    package init(
        files: StoreFiles, trust: UpdateTrust, bundled: PinningPolicy, onLostStore: PinStore.LostStore = .useBundled,
        onEvent: @escaping @Sendable (PinStoreEvent) -> Void = { _ in }
    ) throws(PinStoreError) {
        let verifier = UpdateVerifier(trust: trust, bundled: bundled)
        let content = Self.load(files, verifier, known: nil, under: nil, onEvent)
        // Whether what is stored is the last one nobody can tell.
        if let problem = content.floorProblem, onLostStore == .refuse { throw .floorUnreadable(problem) }
        if let loss = content.loss {
            onEvent(.lostStore(loss))
            if onLostStore == .refuse { throw .lostStore(loss) }
        }
        self.files = files
        self.verifier = verifier
        self.onEvent = onEvent
        locked = Locked(
            State(
                snapshot: PolicySnapshot(policy: content.update?.policy ?? bundled, generation: 1),
                update: content.update, floor: content.floor, loss: content.loss))
    }

    package var state: State { locked.withLock { $0 } }

    /// As ``PinStore/adopt(_:at:)``.
    package func adopt(_ envelope: [UInt8], at now: Date) throws(PinStoreError) -> VerifiedUpdate {
        let lock: FileLock
        do {
            lock = try files.lock()
        } catch {
            onEvent(.notStored(error))
            throw .notStored(error)
        }
        // Under the lock: another process may have adopted something newer since.
        let stored = Self.load(files, verifier, known: state.update, under: lock, onEvent)
        takeOver(stored)
        // What cannot be read is not nothing: below it there may be what was withdrawn.
        if let problem = stored.floorProblem { throw .floorUnreadable(problem) }
        let before = locked.withLock { $0 }
        let update: VerifiedUpdate
        do {
            update = try verifier.verify(envelope, floor: before.floor, known: before.update, at: now)
        } catch {
            throw .rejected(error)
        }
        // Written once more where the disk has lost it meanwhile.
        if let known = before.update, known.version == update.version, stored.update?.version == known.version {
            return known
        }
        do {
            // The payload first: a floor above what is stored would leave the app with its bundled policy.
            try files.update.write(envelope, under: lock)
            let floor = update.floor(under: verifier.trust)
            // This finds out too that somebody has removed the lock.
            try files.floor.write(floor.json, under: lock)
            try files.floorStorage?.keep(floor.json, under: floor.keySetID)
        } catch {
            onEvent(.notStored(error))
            throw .notStored(error)
        }
        takeOver(update)
        return update
    }

    /// Takes over what another process has adopted.
    package func reload() {
        takeOver(Self.load(files, verifier, known: state.update, under: nil, onEvent))
    }

    private func takeOver(_ content: StoreContent) {
        if let update = content.update { takeOver(update) }
        locked.withLock { state in
            if let floor = content.floor, floor.version > state.floor?.version ?? 0 { state.floor = floor }
        }
    }

    private func takeOver(_ update: VerifiedUpdate) {
        let floor = update.floor(under: verifier.trust)
        let isNew = locked.withLock { state in
            guard update.version > state.update?.version ?? 0, update.version >= state.floor?.version ?? 0 else {
                return false
            }
            state.loss = nil
            let before = state.snapshot
            // The same rules under a later number decide the same, and cost nobody a connection.
            let isOther = !update.policy.hasSameRules(as: before.policy)
            state.snapshot = PolicySnapshot(
                policy: update.policy, generation: before.generation + (isOther ? 1 : 0))
            state.update = update
            state.floor = floor
            return true
        }
        if isNew { onEvent(.adopted(update)) }
    }

    /// Reads both files. A floor that lags behind the stored update, because the process was ended between the two, is
    /// written before the update is in force.
    private static func load(
        _ files: StoreFiles, _ verifier: UpdateVerifier, known: VerifiedUpdate?, under lock: FileLock?,
        _ onEvent: (PinStoreEvent) -> Void
    ) -> StoreContent {
        let content = files.content(verifiedBy: verifier, known: known)
        guard content.floorLagsBehind || content.keptFloorLagsBehind else {
            if let problem = content.floorProblem { onEvent(.floorUnreadable(problem)) }
            return content
        }
        do throws(StorageError) {
            guard let lock else {
                // Once more: whoever had the lock may have been writing both just now.
                return load(files, verifier, known: known, under: try files.lock(), onEvent)
            }
            // What cannot be read may be higher, and stays.
            if let problem = content.floorProblem { onEvent(.floorUnreadable(problem)) }
            guard let floor = content.floor else { return content }
            if content.floorLagsBehind { try files.floor.write(floor.json, under: lock) }
            if content.keptFloorLagsBehind { try files.floorStorage?.keep(floor.json, under: floor.keySetID) }
        } catch {
            // A disk that takes nothing is no reason to go back to the bundled policy.
            onEvent(.notStored(error))
        }
        return content
    }
}
