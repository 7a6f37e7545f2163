// Keeps the floor of updates in the Keychain.

#if canImport(PintleApple)
import PintleURLSession
import PintleRemote

func updates(_ folder: String, _ trust: UpdateTrust, _ bundled: PinningPolicy) throws -> PolicyStore {
    // snippet.floor
    let floor = KeychainFloor(service: "com.example.app.updates")
    let store = try PolicyStore(folder: folder, trust: trust, bundled: bundled, floor: floor)
    // snippet.end
    return store
}
#endif
