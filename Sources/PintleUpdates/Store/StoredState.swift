internal import Pintle
internal import PintleStorage

/// The result of one look at the disk: the stored update, verified again, and the floor. A pure function of the store's two
/// files, of the floor's copy outside of the folder, of the app's keys and of its policy.
struct StoredState: Sendable {
    /// The stored update, where it passes the checks.
    private(set) var update: VerifiedUpdate?
    /// `known` or `unchecked`: one look knows of no earlier one. The floor is that of the stored update, or the higher one
    /// of the two copies where no stored update passes.
    let floor: FloorKnowledge
    /// The reason that an update which was active once is not stored any more.
    let loss: PolicyStoreLoss?
    private let fileFloor: UpdateFloor?
    private let outside: StoreFiles.Reading?

    /// - Parameters:
    ///   - reading: of the update's file.
    ///   - floorReading: of the floor's file.
    ///   - outside: of the floor's copy outside of the folder; `nil` without one.
    ///   - verifier: of the app's keys and its bundled policy.
    ///   - active: as in ``UpdateVerifier/verify(_:floor:active:at:)``; it saves work and changes nothing.
    init(
        update reading: StoreFiles.Reading, floor floorReading: StoreFiles.Reading, outside: StoreFiles.Reading? = nil,
        verifier: UpdateVerifier, active: VerifiedUpdate? = nil
    ) {
        let fileFloor = floorReading.floor
        // Of two copies that are equally high, the one outside of the folder counts.
        let copies = [outside?.floor, fileFloor].compactMap { $0 }.filter { $0.keySetID == verifier.trust.keySetID }
        let highest = copies.dropFirst().reduce(copies.first) { $1.version > $0?.version ?? 0 ? $1 : $0 }

        var (update, rejection): (VerifiedUpdate?, UpdateRejection?)
        if let bytes = reading.bytes {
            do throws(UpdateRejection) {
                update = try verifier.verifyStored(bytes, floor: highest, active: active)
            } catch {
                rejection = error
            }
        }
        let floor = update?.floor(under: verifier.trust) ?? highest
        self.floor = outside?.error.map { .unchecked(atLeast: floor, $0) } ?? .known(floor)
        self.update = update
        self.fileFloor = fileFloor
        self.outside = outside

        let bundledVersion = verifier.bundled?.updateVersion ?? 0
        let cause = Self.cause(reading, rejection)
        if update != nil {
            loss = nil
        } else if let highest {
            // Otherwise the release has caught up with the update: nothing is lost.
            loss = highest.version > bundledVersion ? PolicyStoreLoss(version: highest.version, cause: cause) : nil
        } else if fileFloor != nil {
            // The release brought other keys.
            loss = nil
        } else if let version = rejection?.version, version <= bundledVersion {
            loss = nil
        } else if rejection != nil || reading.error != nil || floorReading.error != nil || floorReading.bytes != nil
            || outside?.bytes != nil
        {
            loss = PolicyStoreLoss(version: nil, cause: cause)
        } else {
            loss = nil
        }
    }

    /// The copies of the floor that are below the stored update, because the process was ended between the writes. The copy
    /// outside of the folder is raised for a verified update only: the floor's file is not signed, and must not outlive the
    /// folder.
    var outdatedCopies: [StoreFiles.FloorCopy] {
        guard let expected = floor.lowerBound else { return [] }
        var copies: [StoreFiles.FloorCopy] = []
        if fileFloor != expected { copies.append(.file) }
        if update != nil, let outside, outside.error == nil, outside.floor != expected { copies.append(.outside) }
        return copies
    }

    /// Leaves the stored update out, whose floor could not be written. The update still counts towards the floor.
    mutating func withholdUpdate() { update = nil }

    private static func cause(_ reading: StoreFiles.Reading, _ rejection: UpdateRejection?) -> PolicyStoreLoss.Cause {
        if let rejection { return .rejected(rejection) }
        return reading.error.map { .unreadable($0) } ?? .missing
    }
}
