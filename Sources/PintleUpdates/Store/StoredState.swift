internal import Pintle
internal import PintleStorage

/// The result of reading the disk: the stored update, verified again, and the floor. A pure function of the store's two
/// files, of the floor's copy outside of the folder, of the app's keys and of its policy.
struct StoredState: Sendable {
    /// The stored update, if it passes the checks.
    private(set) var update: VerifiedUpdate?
    /// `known` or `unchecked`, because a single read knows of no earlier one. The floor is that of the stored update.
    /// If no stored update passes the checks, it is the highest one of the two copies and of the stored update, if its
    /// signatures hold.
    let floor: FloorKnowledge
    /// The reason that an update which was once active is no longer stored; `nil` if none is lost.
    let loss: LostUpdate?
    private let fileFloor: UpdateFloor?
    private let outside: StoreFiles.Reading?

    /// - Parameters:
    ///   - reading: the content of the update's file.
    ///   - floorReading: the content of the floor's file.
    ///   - outside: the floor's copy outside of the folder; `nil` without one.
    ///   - verifier: verifies with the app's keys and its bundled policy.
    init(
        update reading: StoreFiles.Reading, floor floorReading: StoreFiles.Reading, outside: StoreFiles.Reading? = nil,
        verifier: UpdateVerifier
    ) {
        let fileFloor = floorReading.floor
        // If both copies have the same version, the one outside of the folder counts.
        let keySetID = verifier.trust.keySetID
        let copies = [outside?.floor, fileFloor].compactMap { $0 }.filter { $0.keySetID == keySetID }
        let bundledVersion = verifier.bundled?.updateVersion ?? 0
        var highest = copies.dropFirst().reduce(copies.first) { $1.version > $0?.version ?? 0 ? $1 : $0 }

        var (update, updateError): (VerifiedUpdate?, UpdateError?)
        if let bytes = reading.bytes {
            do throws(UpdateError) {
                update = try verifier.verifyStored(bytes, floor: highest)
            } catch {
                updateError = error
            }
        }
        // If the floor's file is lost, or was not written any more, the stored update still says how high the floor is,
        // even if this release refuses it. If the only copy is one for other keys, the release with these keys begins a
        // new floor.
        if update == nil, fileFloor == nil || !copies.isEmpty, let bytes = reading.bytes,
            let signed = verifier.floor(ofSigned: bytes), signed.version > max(highest?.version ?? 0, bundledVersion)
        {
            highest = signed
        }
        let floor = update?.floor(for: verifier.trust) ?? highest
        self.floor = outside?.error.map { .unchecked(atLeast: floor, $0) } ?? .known(floor)
        self.update = update
        self.fileFloor = fileFloor
        self.outside = outside

        let cause = Self.cause(reading, updateError)
        if update != nil {
            loss = nil
        } else if let highest {
            // Otherwise the bundled policy is as new as the lost update, so nothing is lost.
            loss = highest.version > bundledVersion ? LostUpdate(version: highest.version, cause: cause) : nil
        } else if fileFloor != nil {
            // The floor belongs to other keys: this release has replaced the trusted keys.
            loss = nil
        } else if let version = updateError?.version, version <= bundledVersion {
            loss = nil
        } else if updateError != nil || reading.error != nil || floorReading.error != nil || floorReading.bytes != nil
            || outside?.bytes != nil
        {
            loss = LostUpdate(version: nil, cause: cause)
        } else {
            loss = nil
        }
    }

    /// The copies of the floor that are below the stored update, because the process was ended between two writes. Only
    /// a verified update raises the copy outside of the folder. The floor's file never does: it is not signed, and its
    /// content must not outlive the folder.
    var outdatedCopies: [StoreFiles.FloorCopy] {
        guard let expected = floor.lowerBound else { return [] }
        var copies: [StoreFiles.FloorCopy] = []
        if fileFloor != expected { copies.append(.file) }
        if update != nil, let outside, outside.error == nil, outside.floor != expected { copies.append(.outside) }
        return copies
    }

    /// Leaves out the stored update, because its floor could not be written. The update still counts towards the floor.
    mutating func withholdUpdate() { update = nil }

    private static func cause(_ reading: StoreFiles.Reading, _ updateError: UpdateError?) -> LostUpdate.Cause {
        if let updateError { return .rejected(updateError) }
        return reading.error.map { .unreadable($0) } ?? .missing
    }
}
