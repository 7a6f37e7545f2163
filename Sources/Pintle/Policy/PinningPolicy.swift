#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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

extension PinningPolicy {
    /// The rules of a policy. Each access builds a rule from the policy's compact form.
    public struct Hosts: RandomAccessCollection, Sendable {
        let storage: Storage

        /// Always 0.
        public var startIndex: Int { 0 }
        /// The number of rules.
        public var endIndex: Int { storage.rules.count }

        /// The rule at a position, in the order in which the rules were given.
        public subscript(position: Int) -> PinnedHost {
            let rule = storage.rules[position]
            let record = storage.table.record(at: rule.record)
            return PinnedHost(
                unchecked: ServerName(canonical: record.host), port: record.port,
                includesSubdomains: record.includesSubdomains, terms: storage.terms[Int(rule.terms)].terms)
        }
    }
}

extension PinningPolicy {
    /// Whether a host may be spoken to without TLS: only one that the policy has nothing to say about. A rule for one port
    /// speaks for every port, or whoever can alter a link could drop the pins.
    ///
    /// - Parameter ports: ``portsOfRules``, which somebody who asks often keeps.
    package func allowsPlainHTTP(to endpoint: ServerEndpoint, ports: @autoclosure () -> Set<UInt16>) -> Bool {
        guard AddressAlias(endpoint.host) == nil else { return false }
        guard unpinnedHosts == .systemTrust, rule(for: endpoint) == nil else { return false }
        return ports().allSatisfy { rule(for: ServerEndpoint(host: endpoint.host, port: $0)) == nil }
    }

    /// The ports that rules are for. Reads every rule.
    package var portsOfRules: Set<UInt16> { Set(hosts.compactMap(\.port)) }
}

extension PinningPolicy {
    private init(_ policy: PinningPolicy, updateVersion: Int) {
        storage = policy.storage
        unpinnedHosts = policy.unpinnedHosts
        allowsUpdatesForAnyHost = policy.allowsUpdatesForAnyHost
        self.updateVersion = updateVersion
    }

    /// The same policy as the update of this number.
    package func numbered(_ version: Int) -> PinningPolicy {
        PinningPolicy(self, updateVersion: version)
    }

    /// Whether both decide alike about every host; the order of the rules decides nothing, nor do fractions of a second,
    /// which a written policy does not have.
    package func hasSameRules(as other: PinningPolicy) -> Bool {
        unpinnedHosts == other.unpinnedHosts && hosts.count == other.hosts.count
            && Set(hosts.map(\.atWholeSeconds)) == Set(other.hosts.map(\.atWholeSeconds))
    }
}

extension PinnedHost {
    /// The same rule with the expiry that `RFC3339.string(from:)` writes.
    fileprivate var atWholeSeconds: PinnedHost {
        guard let date = expiry.date else { return self }
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        guard whole != date else { return self }
        var rule = self
        rule.terms.expiry =
            if case .rejecting = expiry { .rejecting(after: whole) } else { .systemTrust(after: whole) }
        return rule
    }
}
