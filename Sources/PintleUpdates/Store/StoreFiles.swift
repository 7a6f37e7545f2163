package import PintleStorage

/// The two files of a store, in a folder of its own: the update as it arrived, and the floor. Apart, so that what is
/// lost with one is not lost with the other; and the place outside of the folder, where there is one.
package struct StoreFiles: Sendable {
    let update: DurableFile
    let floor: DurableFile
    /// Where the floor is kept too.
    let floorStorage: (any UpdateFloorStorage)?
    /// What fetching remembers; decides nothing.
    let record: DurableFile

    /// - Parameters:
    ///   - floorStorage: where the floor is kept beside its file.
    ///   - onStep: called with the file and the step that was just done, for tests that end the process there.
    package init(
        folder: String, floorStorage: (any UpdateFloorStorage)? = nil, onStep: (@Sendable (String) -> Void)? = nil
    ) {
        self.floorStorage = floorStorage
        func file(_ name: String, _ maximumSize: Int) -> DurableFile {
            var options = DurableFile.Options(maximumSize: maximumSize)
            if let onStep { options.onStep = { step in onStep("\(name) \(step.rawValue)") } }
            return DurableFile("\(folder)/\(name)", options: options)
        }
        update = file("update.json", SignedEnvelope.maximumBytes)
        floor = file("floor.json", UpdateFloor.maximumBytes)
        record = file("fetches.json", FetchRecord.maximumBytes)
    }

    /// One lock for both files.
    func lock() throws(StorageError) -> FileLock { try update.lock() }

    /// The floor first: it is written after the update, so it is never above the update that is read after it.
    func content(verifiedBy verifier: UpdateVerifier, known: VerifiedUpdate?) -> StoreContent {
        let floor = Reading(self.floor)
        let kept = floorStorage.map { Reading($0, under: verifier.trust.keySetID) }
        return StoreContent(
            update: Reading(update), floor: floor, keptFloor: kept, verifier: verifier, known: known)
    }

    /// What one of the files held, as far as it could be read.
    enum Reading: Sendable {
        case absent
        case bytes([UInt8])
        case unreadable(StorageError)

        var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

        init(_ file: DurableFile) {
            do {
                self = try file.read().map { .bytes($0.bytes) } ?? .absent
            } catch {
                self = .unreadable(error)
            }
        }

        init(_ storage: any UpdateFloorStorage, under keySetID: String) {
            do throws(StorageError) {
                self = try storage.floor(under: keySetID).map { .bytes($0) } ?? .absent
            } catch {
                self = .unreadable(error)
            }
        }

        var error: StorageError? { if case .unreadable(let error) = self { error } else { nil } }
    }
}
