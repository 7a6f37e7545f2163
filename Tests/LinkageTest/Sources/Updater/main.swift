import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleUpdates

// Creates an update store without a network library: the app provides the transport.
let bundled = try PinningPolicy(json: Array(#"{"version": 1, "hosts": []}"#.utf8))
let key = try UpdateKey(rawRepresentation: [UInt8](repeating: 0x58, count: 31) + [0x66])
let store = try PolicyStore(folder: "/nowhere", trust: try UpdateTrust(keys: [key]), bundled: bundled)
print(store.current.generation, await store.nextFetch(at: Date(timeIntervalSince1970: 0)))
