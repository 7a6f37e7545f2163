import Foundation
import PintleStorage
import Security

/// The floor of a store of updates in the Keychain, where it outlives the store's folder and the app itself:
///
///     let store = try PolicyStore(
///         folder: folder, trust: trust, bundled: bundled, floor: KeychainFloor(service: "com.example.app.updates"))
///
/// A generic password of the data protection Keychain: the service as given, the account the id of the key set, so that a
/// release with other keys has another floor and finds the old one again if it goes back. It can be read from the first
/// unlocking after a start on, with the device locked too, and stays on this device: no backup brings it to another one.
/// It is not removed with the app. So an app that was deleted and installed again takes no update that is older than the
/// last one; where the Keychain's item is lost, the file in the folder still has the floor.
///
/// Before the first unlocking it cannot be read: that is ``StorageError/Code/locked``, and never "no floor".
///
/// Safe to use from any thread. The Keychain is another process, which may take its time.
public struct KeychainFloor: UpdateFloorStorage, Hashable {
    /// One for each folder of a store.
    public let service: String
    /// One of the app's entitlements; `nil` for the app's own. Processes that share a folder share it.
    public let accessGroup: String?

    /// - Parameters:
    ///   - service: of the Keychain's item; one for each folder of a store.
    ///   - accessGroup: one of the app's entitlements; `nil` for the app's own.
    public init(service: String, accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// Reads the floor from the Keychain.
    ///
    /// - Parameter keySetID: the account of the item.
    /// - Returns: `nil` where there is no item; no bytes for an item without data.
    /// - Throws: `locked` before the first unlocking; `unreadable-file` for other failures of the Keychain.
    public func floor(under keySetID: String) throws(StorageError) -> [UInt8]? {
        var query = item(keySetID)
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw error(.unreadable, status, keySetID) }
        // One without data is there, and says nothing.
        return (found as? Data).map { Array($0) } ?? []
    }

    /// Writes the floor to the Keychain, in a new item or in the one that is there.
    ///
    /// - Parameters:
    ///   - floor: the content of the item.
    ///   - keySetID: the account of the item.
    /// - Throws: `busy` where another process has added another floor at this moment, which stays; `locked` before the first
    ///   unlocking; `not-written` for other failures of the Keychain.
    public func save(_ floor: [UInt8], under keySetID: String) throws(StorageError) {
        let query = item(keySetID)
        let content: [CFString: Any] = [
            kSecValueData: Data(floor), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
        }
        if status == errSecDuplicateItem, try self.floor(under: keySetID) == floor { return }
        guard status == errSecSuccess else { throw error(.notWritten, status, keySetID) }
    }

    /// Forgets the floors of this service, under whatever keys: older updates are then taken again, unless the file in the
    /// store's folder has the floor. For devices of developers.
    public func forget() throws(StorageError) {
        let status = SecItemDelete(item(nil) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw error(.notWritten, status, nil) }
    }

    private func item(_ keySetID: String?) -> [CFString: Any] {
        var item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecUseDataProtectionKeychain: true,
        ]
        if let keySetID { item[kSecAttrAccount] = keySetID }
        if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
        return item
    }

    private func error(_ code: StorageError.Code, _ status: OSStatus, _ keySetID: String?) -> StorageError {
        let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? ""
        let (code, message, hint): (StorageError.Code, String, String) =
            switch status {
            case errSecInteractionNotAllowed:
                (
                    .locked, "the device has not been unlocked since it started",
                    "try again once it is; what is in force stays"
                )
            case errSecDuplicateItem: (.busy, "another floor was added meanwhile", "give each folder its own service")
            case errSecMissingEntitlement:
                (code, "the app may not use the Keychain", "sign it, and name an access group of its entitlements")
            default: (code, text.isEmpty ? "status \(status)" : "status \(status), \(text)", "try again later")
            }
        return StorageError(
            code, (["Keychain", service] + [keySetID].compactMap { $0 }).joined(separator: "/"), message, hint: hint)
    }
}
