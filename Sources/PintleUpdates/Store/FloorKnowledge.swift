internal import PintleStorage

/// A process's knowledge of the floor, whose copy outside of the folder cannot be read at times.
enum FloorKnowledge: Sendable {
    /// The last look read every copy, or an adoption wrote every copy. `nil`: no update was adopted under the trusted keys.
    case known(UpdateFloor?)
    /// The last look could not read the copy outside of the folder, and an earlier look of this process could. The active
    /// update was compared with that earlier floor.
    case outdated(atLeast: UpdateFloor?, StorageError)
    /// No look of this process could read the copy outside of the folder. The active update was compared with the folder's
    /// copy only, so it may have been withdrawn.
    case unchecked(atLeast: UpdateFloor?, StorageError)

    /// A lower bound of the floor: the highest one that a look of this process found, or that an adoption wrote. A copy that
    /// could not be read may be higher.
    var lowerBound: UpdateFloor? {
        switch self {
        case .known(let floor), .outdated(let floor, _), .unchecked(let floor, _): floor
        }
    }

    /// The reason that the last look could not read the copy outside of the folder; `nil` where it could.
    var error: StorageError? {
        switch self {
        case .known: nil
        case .outdated(_, let error), .unchecked(_, let error): error
        }
    }

    /// A Boolean value that indicates whether the active update was never compared with the copy outside of the folder.
    var isUnchecked: Bool { if case .unchecked = self { true } else { false } }

    /// Returns the knowledge after another look. The floor never falls while the process lives. Of two floors of one version
    /// the earlier one stays. After `unchecked`, ``ActiveState/apply(_:)`` takes the later one instead, where that one is not
    /// the floor of the active update.
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
