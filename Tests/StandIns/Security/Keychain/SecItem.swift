internal import Foundation

public typealias CFDictionary = [String: Any]

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecValueData: CFString = "v_Data"
public let kSecReturnData: CFString = "r_Data"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecUseDataProtectionKeychain: CFString = "nleg"

/// The query in a dictionary. A key that this module does not know is a wrong parameter, and so is a query for the
/// other Keychain of macOS.
private struct ItemQuery {
    var service: String?
    var account: String?
    var group: String
    var content = StandIn.KeychainItem()
    var wantsData = false

    init?(_ query: CFDictionary) {
        let known = [
            kSecClass, kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup, kSecAttrAccessible, kSecValueData,
            kSecReturnData, kSecMatchLimit, kSecUseDataProtectionKeychain,
        ]
        guard query.keys.allSatisfy(known.contains), query[kSecClass] as? String == kSecClassGenericPassword,
            query[kSecUseDataProtectionKeychain] as? Bool == true
        else { return nil }
        service = query[kSecAttrService] as? String
        account = query[kSecAttrAccount] as? String
        group = query[kSecAttrAccessGroup] as? String ?? StandIn.accessGroups[0]
        content.data = query[kSecValueData] as? Data
        content.accessible = query[kSecAttrAccessible] as? String
        wantsData = query[kSecReturnData] as? Bool == true
    }

    func matches(_ key: StandIn.KeychainKey) -> Bool {
        (service ?? key.service) == key.service && (account ?? key.account) == key.account && group == key.group
    }
}

/// Runs one call. It fails first if a test has set a failure, or if the app does not have the access group.
private func perform(
    _ call: StandIn.KeychainCall, _ query: CFDictionary, _ body: (ItemQuery, inout StandIn.KeychainState) -> OSStatus
) -> OSStatus {
    guard let query = ItemQuery(query) else { return errSecParam }
    guard StandIn.accessGroups.contains(query.group) else { return errSecMissingEntitlement }
    StandIn.interrupt(call, service: query.service ?? "")
    return StandIn.withKeychain { state in
        state.failures[query.service ?? ""]?[call] ?? body(query, &state)
    }
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    perform(.add, attributes) { query, state in
        let key = StandIn.KeychainKey(service: query.service ?? "", account: query.account ?? "", group: query.group)
        guard !state.locked.contains(key.service) else { return errSecInteractionNotAllowed }
        guard state.items[key] == nil else { return errSecDuplicateItem }
        state.items[key] = query.content
        return errSecSuccess
    }
}

/// Returns the data of one item.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    perform(.copyMatching, query) { query, state in
        guard let (key, item) = state.items.first(where: { query.matches($0.key) }) else { return errSecItemNotFound }
        guard !state.locked.contains(key.service) else { return errSecInteractionNotAllowed }
        if query.wantsData { result?.pointee = item.data }
        return errSecSuccess
    }
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    // The attributes to update contain neither a class nor a Keychain.
    let allowed = [kSecValueData, kSecAttrAccessible]
    guard attributesToUpdate.keys.allSatisfy(allowed.contains) else { return errSecParam }
    return perform(.update, query) { query, state in
        let keys = state.items.keys.filter(query.matches)
        guard !keys.isEmpty else { return errSecItemNotFound }
        guard keys.allSatisfy({ !state.locked.contains($0.service) }) else { return errSecInteractionNotAllowed }
        for key in keys {
            if let data = attributesToUpdate[kSecValueData] as? Data { state.items[key]?.data = data }
            if let accessible = attributesToUpdate[kSecAttrAccessible] as? String {
                state.items[key]?.accessible = accessible
            }
        }
        return errSecSuccess
    }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    perform(.delete, query) { query, state in
        let keys = state.items.keys.filter(query.matches)
        for key in keys { state.items[key] = nil }
        return keys.isEmpty ? errSecItemNotFound : errSecSuccess
    }
}
