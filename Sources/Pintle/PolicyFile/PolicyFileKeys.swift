/// The keys of each object in a policy file, in the order in which they are written. Any other key is an error:
/// ignoring a restriction would make a rule weaker than its author thinks.
enum PolicyFileKeys {
    enum Policy: Int, PolicyFileKey {
        case version, updateVersion, unpinnedHosts, updates, hosts
        static let names = Self.spelled("version", "updateVersion", "unpinnedHosts", "updates", "hosts")
    }

    enum Updates: Int, PolicyFileKey {
        case anyHost
        static let names = Self.spelled("anyHost")
    }

    enum Host: Int, PolicyFileKey {
        case host, port, includeSubdomains, pins, backupPins, requires, expiry, enforcement, anchors
        case minimumPathLength, issuerKey, reportTo, withdraws
        static let names = Self.spelled(
            "host", "port", "includeSubdomains", "pins", "backupPins", "requires", "expiry", "enforcement", "anchors",
            "minimumPathLength", "issuerKey", "reportTo", "withdraws")
    }

    enum Pin: Int, PolicyFileKey {
        case spki, certificate, at
        static let names = Self.spelled("spki", "certificate", "at")
    }

    enum Expiry: Int, PolicyFileKey {
        case after, then
        static let names = Self.spelled("after", "then")
    }

    /// The names of the cases of `PinExpiry`, which has no raw values because its cases carry a date.
    enum ExpiryAction: String, CaseIterable {
        case systemTrust, reject
    }

    enum Anchors: Int, PolicyFileKey {
        case include, system
        static let names = Self.spelled("include", "system")
    }

    /// The only format version.
    static let formatVersion: Int64 = 1
    /// The value of `backupPins` that accepts having no backup.
    static let noneAccepted = "none-accepted"
    /// The maximum version of an update: 2^53 - 1, because JSON readers with floating-point numbers lose precision
    /// above it. If `Int` has 32 bits, as on older watches, its maximum.
    static let maximumUpdateVersion = min(9_007_199_254_740_991, Int64(Int.max))
}
