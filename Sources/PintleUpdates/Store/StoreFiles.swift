internal import PintleStorage

/// The files of a store in its folder: the update as it arrived, and the floor. They are separate files, so that damage
/// to one leaves the other intact. A store may also keep a copy of the floor outside of the folder.
package struct StoreFiles: Sendable {
    let update: DurableFile
    let floor: DurableFile
    /// The storage of the floor's copy outside of the folder.
    let outside: (any UpdateFloorStorage)?
    /// The history of fetches. No decision depends on it.
    let record: DurableFile

    /// - Parameters:
    ///   - folder: the store's folder.
    ///   - floorStorage: the storage of the floor's copy outside of the folder.
    ///   - onStep: called with the file and the step that was just done. Tests end the process there.
    package init(
        folder: String, floorStorage: (any UpdateFloorStorage)? = nil, onStep: (@Sendable (String) -> Void)? = nil
    ) {
        outside = floorStorage
        func file(_ name: String, _ maximumSize: Int) -> DurableFile {
            var options = DurableFile.Options(maximumSize: maximumSize)
            if let onStep { options.onStep = { step in onStep("\(name) \(step.rawValue)") } }
            return DurableFile("\(folder)/\(name)", options: options)
        }
        update = file("update.json", SignedEnvelope.maximumBytes)
        floor = file("floor.json", UpdateFloor.maximumBytes)
        record = file("fetches.json", FetchRecord.maximumBytes)
    }

    /// Waits for the lock, which both files share.
    func lock() throws(StorageError) -> FileLock { try update.lock() }

    /// Reads the disk. The floor is read before the update. Because a writer writes the floor last, the floor that is
    /// read is never above the update that is read.
    func stored(verifiedBy verifier: UpdateVerifier) -> StoredState {
        let floor = Reading(self.floor)
        let outside = outside.map { Reading($0, forKeySet: verifier.trust.keySetID) }
        return StoredState(update: Reading(update), floor: floor, outside: outside, verifier: verifier)
    }

    /// Writes copies of the floor. A copy that cannot be written does not keep another one low.
    ///
    /// - Throws: the first error. Nothing more is written once the lock's file was removed: another process may be
    ///   raising the copies.
    func write(_ floor: UpdateFloor, to copies: [FloorCopy], under lock: FileLock) throws(StorageError) {
        var failure: StorageError?
        for copy in copies {
            do throws(StorageError) {
                try write(floor, to: copy, under: lock)
            } catch {
                guard error.code != .busy else { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func write(_ floor: UpdateFloor, to copy: FloorCopy, under lock: FileLock) throws(StorageError) {
        switch copy {
        case .file: try self.floor.write(floor.json, under: lock)
        case .outside:
            guard let outside else { return }
            try lock.check()
            try outside.save(floor.json, forKeySet: floor.keySetID)
        }
    }

    /// The result of reading a file or the outside copy of the floor.
    enum Reading: Sendable {
        case absent
        case bytes([UInt8])
        case unreadable(StorageError)

        init(_ file: DurableFile) {
            do {
                self = try file.read().map { .bytes($0.bytes) } ?? .absent
            } catch {
                self = .unreadable(error)
            }
        }

        init(_ storage: any UpdateFloorStorage, forKeySet keySetID: String) {
            do throws(StorageError) {
                self = try storage.floor(forKeySet: keySetID).map { .bytes($0) } ?? .absent
            } catch {
                self = .unreadable(error)
            }
        }

        var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

        /// The floor that the bytes describe; `nil` if they are not a floor.
        var floor: UpdateFloor? { bytes.flatMap { UpdateFloor(json: $0) } }

        var error: StorageError? { if case .unreadable(let error) = self { error } else { nil } }
    }

    /// One of the two copies of the floor.
    enum FloorCopy: Sendable, CaseIterable {
        /// `floor.json` in the store's folder.
        case file
        /// The copy in an `UpdateFloorStorage`.
        case outside
    }
}
