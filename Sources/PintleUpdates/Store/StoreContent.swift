internal import Pintle
internal import PintleStorage

/// What a store holds, verified anew: a pure function of its two files, of the floor that is kept elsewhere, the app's keys
/// and its policy.
struct StoreContent: Sendable {
    /// The stored update, where it counts.
    var update: VerifiedUpdate?
    /// The highest of the floor that was stored and the stored update, under the trusted keys; `nil` where there is none.
    var floor: UpdateFloor?
    /// Whether the file of the floor says less than `floor`.
    var floorLagsBehind = false
    /// Whether the place outside of the folder says less than an update that was verified. What a file alone says, which
    /// nobody has signed, is not carried there: it would outlive the file.
    var keptFloorLagsBehind = false
    /// Whether the floor of the stored update could not be raised, so that it is not put in force: it counts for the floor
    /// alone.
    var isRefused = false
    /// Why nobody can tell how high the floor is.
    var floorProblem: StorageError?
    /// Why an update that was in force once is not any more.
    var loss: PolicyStoreLoss?

    /// - Parameters:
    ///   - keptReading: of the place outside of the folder; `nil` without one.
    ///   - inForce: as in ``UpdateVerifier/verify(_:floor:known:at:)``; it spares work and changes nothing.
    init(
        update reading: StoreFiles.Reading, floor floorReading: StoreFiles.Reading,
        keptFloor keptReading: StoreFiles.Reading? = nil, verifier: UpdateVerifier, known inForce: VerifiedUpdate? = nil
    ) {
        let stored = floorReading.bytes.flatMap { UpdateFloor(json: $0) }
        let kept = keptReading?.bytes.flatMap { UpdateFloor(json: $0) }
        let own = [kept, stored].compactMap { $0 }.filter { $0.keySetID == verifier.trust.keySetID }
        // Of two that are equally high the one outside of the folder.
        let known = own.dropFirst().reduce(own.first) { $1.version > $0?.version ?? 0 ? $1 : $0 }
        let isOfOtherKeys = known == nil && stored != nil
        floor = known
        floorProblem = keptReading?.error

        var rejection: UpdateRejection?
        if let bytes = reading.bytes {
            do throws(UpdateRejection) {
                let update = try verifier.verifyStored(bytes, floor: known, known: inForce)
                self.update = update
                floor = update.floor(under: verifier.trust)
            } catch {
                rejection = error
            }
        }
        floorLagsBehind = floor != nil && stored != floor
        keptFloorLagsBehind = update != nil && keptReading != nil && floorProblem == nil && kept != floor
        guard update == nil else { return }
        let bundledVersion = verifier.bundled?.updateVersion ?? 0
        // The release caught up with the update, or brought other keys: nothing is lost.
        if let known, known.version <= bundledVersion { return }
        if isOfOtherKeys { return }
        if known == nil, let version = rejection?.version, version <= bundledVersion { return }

        if let known {
            loss = PolicyStoreLoss(version: known.version, cause: Self.cause(reading, rejection))
        } else if rejection != nil || Self.isUnreadable(reading) || Self.isUnreadable(floorReading)
            || floorReading.bytes != nil || keptReading?.bytes != nil
        {
            loss = PolicyStoreLoss(version: nil, cause: Self.cause(reading, rejection))
        }
    }

    private static func isUnreadable(_ reading: StoreFiles.Reading) -> Bool {
        if case .unreadable = reading { true } else { false }
    }

    private static func cause(_ reading: StoreFiles.Reading, _ rejection: UpdateRejection?) -> PolicyStoreLoss.Cause {
        if let rejection { return .rejected(rejection) }
        if case .unreadable(let error) = reading { return .unreadable(error) }
        return .missing
    }
}
