#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The keys or certificates that servers may present, and the treatment of servers without a rule.
///
/// A policy is an immutable value that is cheap to copy and safe to use from any thread. The initializers check
/// everything, so an invalid policy cannot exist.
///
/// Only the most specific rule decides; rules never combine their pins. A rule for the port precedes one for every
/// port, the exact host precedes a parent domain, and the longest parent domain comes first.
public struct PinningPolicy: Sendable {
    /// The treatment of hosts that no rule covers.
    public enum UnpinnedHosts: String, Sendable, Hashable, CaseIterable {
        /// The system's validation decides.
        case systemTrust
        /// Connections to these hosts are refused.
        case reject
        /// Connections are refused until the user has approved the server's certificate.
        case askUser
    }

    /// The treatment of hosts that no rule covers.
    public let unpinnedHosts: UnpinnedHosts
    /// The version of the signed update that this policy equals; 0 for none.
    public let updateVersion: Int
    /// A Boolean value that indicates whether signed updates may add rules for hosts that no bundled rule covers.
    package let allowsUpdatesForAnyHost: Bool
    /// The notes of the policy file.
    package var notes = PolicyNotes()

    /// The rules, in the order given.
    public let hosts: [PinnedHost]
    let table: HostTable

    #if DEBUG
    var debugAnchors: DebugAnchors?
    #endif

    /// Creates a policy with these rules.
    ///
    /// - Parameters:
    ///   - hosts: the rules, at most one for a host and port.
    ///   - unpinnedHosts: the treatment of hosts that no rule covers.
    ///   - updateVersion: the version of the signed update that this policy equals, from 0 to 2^53 - 1.
    ///   - allowsUpdatesForAnyHost: `true` if signed updates may add rules for hosts that no rule here covers.
    /// - Throws: all problems of the rules in combination, at once; `invalid-update-version`.
    public init(
        hosts: [PinnedHost], unpinnedHosts: UnpinnedHosts = .systemTrust, updateVersion: Int = 0,
        allowsUpdatesForAnyHost: Bool = false
    ) throws(PolicyError) {
        guard Self.updateVersions.contains(Int64(updateVersion)) else {
            throw PolicyError([
                PolicyProblem(
                    id: "invalid-update-version", at: .member("updateVersion"),
                    message: "updateVersion \(updateVersion) is out of range",
                    help: "write a whole number from 0 to \(Self.updateVersions.upperBound)")
            ])
        }
        table = try Self.table(of: hosts)
        self.hosts = hosts
        self.unpinnedHosts = unpinnedHosts
        self.updateVersion = updateVersion
        self.allowsUpdatesForAnyHost = allowsUpdatesForAnyHost
    }

    /// The versions of updates, up to 2^53 - 1, because JSON readers with floating-point numbers lose precision above
    /// it. If `Int` has 32 bits, as on older watches, up to its maximum.
    package static let updateVersions = 0...min(9_007_199_254_740_991, Int64(Int.max))

    /// Creates a policy with these rules, one a line.
    ///
    ///     let policy = try PinningPolicy {
    ///         try PinnedHost("example.com", includingSubdomains: true, pins: [...], backupPins: [...])
    ///     }
    ///
    /// - Throws: ``PolicyError`` for a single rule or the combination of rules, and any error that `hosts` throws.
    public init(
        unpinnedHosts: UnpinnedHosts = .systemTrust, @PolicyBuilder hosts: () throws -> [PinnedHost]
    ) throws {
        try self.init(hosts: try hosts(), unpinnedHosts: unpinnedHosts)
    }

    /// The roots that decisions may need.
    package var anchors: some Sequence<TrustAnchors> {
        [unpinnedHosts == .reject ? nil : TrustAnchors.system].lazy.compactMap(\.self) + hosts.lazy.map(\.anchors)
    }
}

/// A result builder that collects the rules of a policy written in Swift.
@resultBuilder
public enum PolicyBuilder {
    /// Adds one rule.
    public static func buildExpression(_ host: PinnedHost) -> [PinnedHost] { [host] }
    /// Adds a list of rules.
    public static func buildExpression(_ hosts: [PinnedHost]) -> [PinnedHost] { hosts }
    /// Joins consecutive rules.
    public static func buildBlock(_ hosts: [PinnedHost]...) -> [PinnedHost] { hosts.flatMap(\.self) }
    /// Adds the rules of an `if` without an `else`.
    public static func buildOptional(_ hosts: [PinnedHost]?) -> [PinnedHost] { hosts ?? [] }
    /// Adds the rules of an `if`, or of the first cases of a `switch`.
    public static func buildEither(first hosts: [PinnedHost]) -> [PinnedHost] { hosts }
    /// Adds the rules of an `else`, or of the last cases of a `switch`.
    public static func buildEither(second hosts: [PinnedHost]) -> [PinnedHost] { hosts }
    /// Adds the rules of a loop.
    public static func buildArray(_ hosts: [[PinnedHost]]) -> [PinnedHost] { hosts.flatMap(\.self) }
}

extension PinningPolicy {
    /// Returns whether plain HTTP to a host is allowed: only if the policy has no rule for it. A rule for one port
    /// counts for every port, because otherwise an attacker who can alter a link could bypass the pins.
    ///
    /// - Parameter ports: ``portsOfRules``. A caller that asks often should cache it.
    package func allowsPlainHTTP(to endpoint: ServerEndpoint, ports: @autoclosure () -> Set<UInt16>) -> Bool {
        guard AddressAlias(endpoint.host) == nil else { return false }
        guard unpinnedHosts == .systemTrust, rule(for: endpoint) == nil else { return false }
        return ports().allSatisfy { rule(for: ServerEndpoint(host: endpoint.host, port: $0)) == nil }
    }

    /// The ports that rules name. Each access reads every rule.
    package var portsOfRules: Set<UInt16> { Set(hosts.compactMap(\.port)) }
}

extension PinningPolicy {
    private init(_ policy: PinningPolicy, updateVersion: Int) {
        hosts = policy.hosts
        table = policy.table
        notes = policy.notes
        unpinnedHosts = policy.unpinnedHosts
        allowsUpdatesForAnyHost = policy.allowsUpdatesForAnyHost
        self.updateVersion = updateVersion
    }

    /// Returns this policy with the version of a signed update.
    package func numbered(_ version: Int) -> PinningPolicy {
        PinningPolicy(self, updateVersion: version)
    }

    /// Returns whether both policies have the same rules. The order of the rules does not matter, that of pins in a
    /// rule does. Fractions of a second do not matter, because a policy file does not store them.
    package func hasSameRules(as other: PinningPolicy) -> Bool {
        unpinnedHosts == other.unpinnedHosts && hosts.count == other.hosts.count
            && Set(hosts.map(\.atWholeSeconds)) == Set(other.hosts.map(\.atWholeSeconds))
    }
}

extension PinnedHost {
    /// This rule with its expiry rounded down to whole seconds, as `RFC3339.string(from:)` writes it.
    fileprivate var atWholeSeconds: PinnedHost {
        guard let date = expiry.date else { return self }
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        guard whole != date else { return self }
        var rule = self
        rule.expiry =
            if case .rejecting = expiry { .rejecting(after: whole) } else { .systemTrust(after: whole) }
        return rule
    }
}
