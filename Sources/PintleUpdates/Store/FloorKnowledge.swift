internal import PintleStorage

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
