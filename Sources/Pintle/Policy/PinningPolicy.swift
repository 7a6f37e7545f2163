/// Which keys or certificates which servers may show, and what becomes of everyone else.
///
/// A value: immutable, cheap to copy, safe to use from any thread. Whatever it holds was checked when it
/// was made; there is no policy that is half right.
///
/// The most specific rule decides alone, rules never pool: a rule for the port before one for every
/// port, the very host before a parent domain, the longest parent domain first.
public struct PinningPolicy: Sendable {
    /// What becomes of hosts that no rule covers.
    public enum UnpinnedHosts: String, Sendable, Hashable, CaseIterable {
        /// The system's validation decides.
        case systemTrust
        /// They are refused.
        case reject
        /// They are refused until a person has approved their certificate.
        case askUser
    }

    /// What becomes of hosts that no rule covers.
    public let unpinnedHosts: UnpinnedHosts
    /// The number of the signed update that this policy equals; 0 for none.
    public let updateVersion: Int
    /// Whether signed updates may add rules for hosts that no bundled rule covers.
    public let allowsUpdatesForAnyHost: Bool

    let storage: Storage

    #if DEBUG
    var debugAnchors: DebugAnchors?
    #endif

    /// A policy with these rules.
    ///
    /// - Throws: every problem of the rules taken together, at once.
    public init(
        hosts: [PinnedHost], unpinnedHosts: UnpinnedHosts = .systemTrust
    ) throws(PolicyError) {
        try self.init(
            hosts: hosts, unpinnedHosts: unpinnedHosts, updateVersion: 0, allowsUpdatesForAnyHost: false)
    }

    /// A policy with these rules, one a line.
    ///
    ///     let policy = try PinningPolicy {
    ///         try PinnedHost("example.com", includingSubdomains: true, pins: [...], backupPins: [...])
    ///     }
    ///
    /// - Throws: ``PolicyError``, of a single rule or of the rules taken together, and whatever `hosts` throws.
    public init(
        unpinnedHosts: UnpinnedHosts = .systemTrust, @PolicyBuilder hosts: () throws -> [PinnedHost]
    ) throws {
        try self.init(hosts: try hosts(), unpinnedHosts: unpinnedHosts)
    }

    package init(
        hosts: [PinnedHost], unpinnedHosts: UnpinnedHosts, updateVersion: Int, allowsUpdatesForAnyHost: Bool
    ) throws(PolicyError) {
        storage = try Storage(hosts)
        self.unpinnedHosts = unpinnedHosts
        self.updateVersion = updateVersion
        self.allowsUpdatesForAnyHost = allowsUpdatesForAnyHost
    }

    /// The rules, in the order in which they were given.
    public var hosts: Hosts { Hosts(storage: storage) }
}

/// Collects the rules of a policy written in Swift.
@resultBuilder
public enum PolicyBuilder {
    /// A rule.
    public static func buildExpression(_ host: PinnedHost) -> [PinnedHost] { [host] }
    /// A list of rules, made elsewhere.
    public static func buildExpression(_ hosts: [PinnedHost]) -> [PinnedHost] { hosts }
    /// Rules one after the other.
    public static func buildBlock(_ hosts: [PinnedHost]...) -> [PinnedHost] { hosts.flatMap(\.self) }
    /// Rules behind an `if` without an `else`.
    public static func buildOptional(_ hosts: [PinnedHost]?) -> [PinnedHost] { hosts ?? [] }
    /// Rules behind an `if` or the first cases of a `switch`.
    public static func buildEither(first hosts: [PinnedHost]) -> [PinnedHost] { hosts }
    /// Rules behind an `else` or the last cases of a `switch`.
    public static func buildEither(second hosts: [PinnedHost]) -> [PinnedHost] { hosts }
    /// Rules made in a loop.
    public static func buildArray(_ hosts: [[PinnedHost]]) -> [PinnedHost] { hosts.flatMap(\.self) }
}
