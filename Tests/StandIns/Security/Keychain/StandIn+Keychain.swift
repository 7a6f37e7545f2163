public import Foundation

/// The Keychain of the stand-ins. It is in memory and lasts as long as the process, which plays the part of a device.
/// Each test uses a service of its own.
extension StandIn {
    public enum KeychainCall: Sendable {
        case add, copyMatching, update, delete
    }

    struct KeychainKey: Hashable {
        var service: String
        var account: String
        var group: String
    }

    public struct KeychainItem: Sendable, Equatable {
        public var data: Data?
        /// The accessibility attribute, which says when the item can be read.
        public var accessible: String?
    }

    struct KeychainState {
        var items: [KeychainKey: KeychainItem] = [:]
        var locked: Set<String> = []
        var failures: [String: [KeychainCall: OSStatus]] = [:]
        var interruptions: [String: [KeychainCall: @Sendable () -> Void]] = [:]
    }

    /// The access groups in the app's entitlements. The first is the app's own.
    public static let accessGroups = ["app", "group"]

    private static let keychain = Guarded(KeychainState())

    static func withKeychain<Result>(_ body: (inout KeychainState) -> Result) -> Result { keychain.with(body) }

    /// Puts the Keychain into the state before the first unlocking of the device: items can be neither read nor added.
    public static func lockKeychain(_ isLocked: Bool, service: String) {
        withKeychain { state in
            if isLocked { state.locked.insert(service) } else { state.locked.remove(service) }
        }
    }

    /// Makes a call fail from now on; `nil` ends the failures.
    public static func failKeychain(_ call: KeychainCall, with status: OSStatus?, service: String) {
        withKeychain { $0.failures[service, default: [:]][call] = status }
    }

    /// Runs a closure once before the next call of this kind, as if another process acted at that moment.
    public static func beforeKeychain(_ call: KeychainCall, service: String, _ body: @escaping @Sendable () -> Void) {
        withKeychain { $0.interruptions[service, default: [:]][call] = body }
    }

    static func interrupt(_ call: KeychainCall, service: String) {
        let interruption = withKeychain { state in
            defer { state.interruptions[service]?[call] = nil }
            return state.interruptions[service]?[call]
        }
        interruption?()
    }

    /// Returns the items of a service by account.
    public static func keychainItems(service: String, group: String = "app") -> [String: KeychainItem] {
        withKeychain { state in
            var items: [String: KeychainItem] = [:]
            for (key, item) in state.items where key.service == service && key.group == group {
                items[key.account] = item
            }
            return items
        }
    }
}
