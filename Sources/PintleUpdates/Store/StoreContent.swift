internal import Pintle

/// What a store holds, verified anew: a pure function of its two files, the app's keys and its policy.
struct StoreContent: Sendable {
    /// The stored update, where it counts.
    var update: VerifiedUpdate?
    /// The highest of the floor that was stored and the stored update, under the trusted keys; `nil` where there is none.
    var floor: UpdateFloor?
    /// Whether the file of the floor says less than `floor`.
    var floorLagsBehind = false
    /// Why an update that was in force once is not any more.
    var loss: PinStoreLoss?

    /// - Parameter known: as in ``UpdateVerifier/verify(_:floor:known:at:)``; it spares work and changes nothing.
    init(
        update reading: StoreFiles.Reading, floor floorReading: StoreFiles.Reading, verifier: UpdateVerifier,
        known inForce: VerifiedUpdate? = nil
    ) {
        let stored = floorReading.bytes.flatMap { UpdateFloor(json: $0) }
        let isOfOtherKeys = stored.map { $0.keySetID != verifier.trust.keySetID } ?? false
        let known = isOfOtherKeys ? nil : stored
        floor = known

        var rejection: UpdateRejection?
        if let bytes = reading.bytes {
            do throws(UpdateRejection) {
                let update = try verifier.verifyStored(bytes, floor: known, known: inForce)
                self.update = update
                floor = update.floor(under: verifier.trust)
                floorLagsBehind = floor != known
            } catch {
                rejection = error
            }
        }
        guard update == nil else { return }
        let bundledVersion = verifier.bundled?.updateVersion ?? 0
        // The release caught up with the update, or brought other keys: nothing is lost.
        if let known, known.version <= bundledVersion { return }
        if isOfOtherKeys { return }
        if known == nil, let version = rejection?.version, version <= bundledVersion { return }

        if let known {
            loss = PinStoreLoss(version: known.version, cause: Self.cause(reading, rejection))
        } else if rejection != nil || Self.isUnreadable(reading) || Self.isUnreadable(floorReading)
            || floorReading.bytes != nil
        {
            loss = PinStoreLoss(version: nil, cause: Self.cause(reading, rejection))
        }
    }

    private static func isUnreadable(_ reading: StoreFiles.Reading) -> Bool {
        if case .unreadable = reading { true } else { false }
    }

    private static func cause(_ reading: StoreFiles.Reading, _ rejection: UpdateRejection?) -> PinStoreLoss.Cause {
        if let rejection { return .rejected(rejection) }
        if case .unreadable(let error) = reading { return .unreadable(error) }
        return .missing
    }
}
