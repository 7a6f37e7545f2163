internal import Foundation
public import PintleStorage
internal import Security

/// The version floor of an update store, kept in the Keychain. There it outlives the store's folder and the app itself:
///
///     let store = try PolicyStore(
///         folder: folder, trust: trust, bundled: bundled, floor: KeychainFloor(service: "com.example.app.updates"))
///
/// The floor is a generic password in the data protection Keychain, under the given service. Its account is the id of
/// the key set. So a release with other keys has a floor of its own, and finds the old floor again if the app goes back
/// to the old keys.
///
/// The item can be read from the first unlocking after a restart, even while the device is locked again. It stays on
/// this device; no backup moves it to another one.
///
/// Deleting the app does not delete the item. So an app that is deleted and installed again still refuses updates that
/// are older than the last one. If the Keychain loses the item, the file in the folder still has the floor.
///
/// Before the first unlocking the item cannot be read. This throws ``/PintleStorage/StorageError/Code/locked``, and
/// never counts as "no floor".
///
/// Safe to use from any thread. The Keychain is another process, so a call may take some time.
public struct KeychainFloor: UpdateFloorStorage, Hashable {
    /// The service of the Keychain item. Each folder of a store needs its own.
    public let service: String
    /// An access group from the app's entitlements; `nil` for the app's own. Processes that share a folder need the
    /// same group.
    public let accessGroup: String?

    /// Creates the floor. Reads nothing yet.
    ///
    /// - Parameters:
    ///   - service: The service of the Keychain item. Each folder of a store needs its own.
    ///   - accessGroup: An access group from the app's entitlements; `nil` for the app's own.
    public init(service: String, accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// Reads the floor from the Keychain.
    ///
    /// - Parameter keySetID: The account of the item.
    /// - Returns: The content of the item; `nil` if there is no item, and no bytes for an item without data.
    /// - Throws: `locked` before the first unlocking; `unreadable-file` for other failures of the Keychain.
    public func floor(forKeySet keySetID: String) throws(StorageError) -> [UInt8]? {
        var query = item(keySetID)
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw error(.unreadable, status, keySetID) }
        // An item without data exists but has no floor.
        return (found as? Data).map { Array($0) } ?? []
    }

    /// Writes the floor to the Keychain, in a new item or in the existing one.
    ///
    /// - Parameters:
    ///   - floor: The content of the item.
    ///   - keySetID: The account of the item.
    /// - Throws: `busy` if another process has just added a different floor, which stays; `locked` before the first
    ///   unlocking; `not-written` for other failures of the Keychain.
    public func save(_ floor: [UInt8], forKeySet keySetID: String) throws(StorageError) {
        let query = item(keySetID)
        let content: [CFString: Any] = [
            kSecValueData: Data(floor), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
        }
        if status == errSecDuplicateItem, try self.floor(forKeySet: keySetID) == floor { return }
        guard status == errSecSuccess else { throw error(.notWritten, status, keySetID) }
    }

    /// Deletes the floors of this service for all key sets, for use on developers' devices. The store then accepts
    /// older updates again, unless the file in its folder has the floor.
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
            code, at: (["Keychain", service] + [keySetID].compactMap { $0 }).joined(separator: "/"), message: message,
            hint: hint)
    }
}
