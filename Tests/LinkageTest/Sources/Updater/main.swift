import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleStorage
import PintleUpdates

// Creates an update store without a network library: the app provides the transport, and a storage for the floor that
// reports a failure of its own.
struct LockedFloor: UpdateFloorStorage {
    func floor(forKeySet keySetID: String) throws(StorageError) -> [UInt8]? {
        throw StorageError(.locked, at: "vault/\(keySetID)", message: "the vault is locked", hint: "unlock it")
    }

    func save(_ floor: [UInt8], forKeySet keySetID: String) throws(StorageError) {
        _ = try self.floor(forKeySet: keySetID)
    }
}

let bundled = try PinningPolicy(json: Array(#"{"version": 1, "hosts": []}"#.utf8))
let key = try UpdateKey(rawRepresentation: [UInt8](repeating: 0x58, count: 31) + [0x66])
let trust = try UpdateTrust(keys: [key])
let store = try PolicyStore(folder: "/nowhere", trust: trust, bundled: bundled, floor: LockedFloor()) { print($0) }
print(store.current.generation, await store.nextFetch(at: Date(timeIntervalSince1970: 0)))
