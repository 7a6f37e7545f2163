public import Foundation

/// The Keychain of the stand-in: in memory, for the life of the process, which stands for the life of a device. Tests
/// keep apart by their services.
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
        /// When it can be read.
        public var accessible: String?
    }

    struct KeychainState {
        var items: [KeychainKey: KeychainItem] = [:]
        var locked: Set<String> = []
        var failures: [String: [KeychainCall: OSStatus]] = [:]
        var interruptions: [String: [KeychainCall: @Sendable () -> Void]] = [:]
    }

    /// Those in the app's entitlements; the first is its own.
    public static let accessGroups = ["app", "group"]

    private static let keychain = Guarded(KeychainState())

    static func withKeychain<Result>(_ body: (inout KeychainState) -> Result) -> Result { keychain.with(body) }

    /// Before the first unlocking of the device: what is there cannot be read and nothing can be added.
    public static func lockKeychain(_ isLocked: Bool, service: String) {
        withKeychain { state in
            if isLocked { state.locked.insert(service) } else { state.locked.remove(service) }
        }
    }

    /// From now on a call fails; `nil`: no more.
    public static func failKeychain(_ call: KeychainCall, with status: OSStatus?, service: String) {
        withKeychain { $0.failures[service, default: [:]][call] = status }
    }

    /// Once, before the next such call is carried out: what another process does meanwhile.
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

    /// By account.
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
