import Pintle
import PintleStorage

@testable import PintleUpdates

/// A floor storage that a test can inspect, break and lock.
final class FloorPlace: UpdateFloorStorage {
    struct State: Sendable {
        var floors: [String: [UInt8]] = [:]
        var readError: StorageError?
        var writeError: StorageError?
    }

    let state = Locked(State())

    static func error(_ code: StorageError.Code) -> StorageError {
        StorageError(code, at: "place", message: "no", hint: "none")
    }

    func floor(forKeySet keySetID: String) throws(StorageError) -> [UInt8]? {
        let (floor, error) = state.withLock { ($0.floors[keySetID], $0.readError) }
        if let error { throw error }
        return floor
    }

    func save(_ floor: [UInt8], forKeySet keySetID: String) throws(StorageError) {
        let error = state.withLock { state in
            if state.writeError == nil { state.floors[keySetID] = floor }
            return state.writeError
        }
        if let error { throw error }
    }

    var versions: [Int] {
        state.withLock { $0.floors.values.compactMap { UpdateFloor(json: $0)?.version }.sorted() }
    }
}
