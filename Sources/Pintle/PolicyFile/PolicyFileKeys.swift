/// The keys of a policy file, object by object, in the order in which they are printed. A key that is not here is an
/// error: an unread restriction would make a rule weaker than its author thinks.
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

    /// `PinExpiry` carries its date, so its names stand here.
    enum ExpiryAction: String, CaseIterable {
        case systemTrust, reject
    }

    enum Anchors: Int, PolicyFileKey {
        case include, system
        static let names = Self.spelled("include", "system")
    }

    /// The only version of the format there is.
    static let formatVersion: Int64 = 1
    /// What `backupPins` may hold instead of a list.
    static let noneAccepted = "none-accepted"
    /// Versions of updates stop where JSON readers with floating point lose count: 2^53 - 1; where `Int` has
    /// 32 bits, as on older watches, with it.
    static let maximumUpdateVersion = min(9_007_199_254_740_991, Int64(Int.max))
}
