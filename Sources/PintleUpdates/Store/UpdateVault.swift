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
    private let files: StoreFiles
    private let verifier: UpdateVerifier
    private let onEvent: @Sendable (PolicyStoreEvent) -> Void
    private let locked: Locked<State>

    package init(
        files: StoreFiles, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        onLostStore: PolicyStore.LostStore = .useBundled,
        onEvent: @escaping @Sendable (PolicyStoreEvent) -> Void = { _ in }
    ) throws(PolicyStoreError) {
        let verifier = UpdateVerifier(trust: trust, bundled: bundled)
        let content = Self.load(files, verifier, known: nil, isStart: true, under: nil, onEvent)
        // Whether what is stored is the last one nobody can tell.
        if let problem = content.floorProblem, onLostStore == .refuse { throw .floorUnreadable(problem) }
        if let loss = content.loss {
            onEvent(.lostStore(loss))
            if onLostStore == .refuse { throw .lostStore(loss) }
        }
        self.files = files
        self.verifier = verifier
        self.onEvent = onEvent
        locked = Locked(State(content, bundled: bundled, trust: trust, releaseDate: releaseDate))
    }

    package var state: State { locked.withLock { $0 } }

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
        if locked.withLock({ $0.take(update) }) { onEvent(.adopted(update)) }
        return update
    }

    /// Takes over what another process has adopted, and what the floor says if it could not be read at the start.
    package func reload() { takeOver(load(under: nil)) }

    private func takeOver(_ content: StoreContent) {
        if let event = locked.withLock({ $0.take(content) }) { onEvent(event) }
    }

    private func load(under lock: FileLock?) -> StoreContent {
        let state = state
        return Self.load(
            files, verifier, known: state.update, isStart: state.isProvisional, under: lock, onEvent)
    }

    /// Reads both files. A floor that lags behind the stored update, because the process was ended between the two, is
    /// written before the update is in force.
    ///
    /// - Parameter isStart: whether what is stored was in force when the last process ended, as far as anybody can tell.
    private static func load(
        _ files: StoreFiles, _ verifier: UpdateVerifier, known: VerifiedUpdate?, isStart: Bool, under lock: FileLock?,
        _ onEvent: (PolicyStoreEvent) -> Void
    ) -> StoreContent {
        var content = files.content(verifiedBy: verifier, known: known)
        guard content.floorLagsBehind || content.keptFloorLagsBehind else {
            if let problem = content.floorProblem { onEvent(.floorUnreadable(problem)) }
            return content
        }
        do throws(StorageError) {
            guard let lock else {
                // Once more: whoever had the lock may have been writing both just now.
                return load(files, verifier, known: known, isStart: isStart, under: try files.lock(), onEvent)
            }
            // What cannot be read may be higher, and stays.
            if let problem = content.floorProblem { onEvent(.floorUnreadable(problem)) }
            guard let floor = content.floor else { return content }
            if content.floorLagsBehind { try files.floor.write(floor.json, under: lock) }
            if content.keptFloorLagsBehind { try files.floorStorage?.keep(floor.json, under: floor.keySetID) }
        } catch {
            onEvent(.notStored(error))
            // At the start, a disk that takes nothing is no reason to go back to the bundled policy. Later, the last
            // update stays in force: what is above it has been refused for this very reason.
            content.isRefused = !isStart && content.update?.version ?? 0 > known?.version ?? 0
        }
        return content
    }
}
