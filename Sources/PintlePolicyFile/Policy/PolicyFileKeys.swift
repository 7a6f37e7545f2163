internal import Pintle

/// A key of an object in a policy file. The raw value is its spelling.
protocol PolicyFileKey: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == String {}

/// The keys of each object in a policy file, in the order in which they are written. Any other key is an error:
/// ignoring a restriction would make a rule weaker than its author thinks. ``PolicyFileKeys/Rule`` has those of a rule.
enum PolicyFileKeys {
    enum Policy: String, PolicyFileKey {
        case schema = "$schema"
        case version, updateVersion, unpinnedHosts, updates, hosts
    }

    enum Updates: String, PolicyFileKey {
        case anyHost
    }

    enum Pin: String, PolicyFileKey {
        case spki, certificate, at, note
    }

    enum Expiry: String, PolicyFileKey {
        case after, then
    }

    /// The names of the cases of `PinExpiry`, which has no raw values because its cases carry a date.
    enum ExpiryAction: String, CaseIterable {
        case systemTrust, reject
    }

    enum Anchors: String, PolicyFileKey {
        case include, system
    }

    /// The only format version.
    static let formatVersion: Int64 = 1
    /// The value of `backupPins` that accepts having no backup.
    static let noneAccepted = "none-accepted"
}
