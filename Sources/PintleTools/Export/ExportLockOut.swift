internal import Pintle

/// Finds rules that would refuse every server in a format which compares pins with the leaf: those that pin authorities.
struct ExportLockOut {
    let format: ForeignFormat
    /// The rules, in the order of the policy.
    let hosts: [String]

    /// This many pins in use, and no backup, are taken for authorities': no server changes among five keys of its own.
    static let authorityCount = 5
    /// Pins that stand in rules for this many domains are taken for authorities'.
    static let domainCount = 4

    /// - Parameter stated: the position that the author gives to pins which say none; `nil` where the author gives none.
    /// - Returns: `nil` where no rule locks out.
    init?(_ policy: PinningPolicy, to format: ForeignFormat, stated: PinPosition?) {
        let positions = format.traits.positions
        guard positions != .anywhere else { return nil }
        let shared = stated == nil ? Self.sharedPins(policy) : []
        hosts = policy.hosts.filter { host in
            guard host.enforcement == .enforce, !host.pins.isEmpty else { return false }
            return positions == .leaf
                ? Self.hasNoLeaf(host, stated, shared) : Self.mixes(host, stated) || Self.isList(host, stated, shared)
        }.map(\.description)
        guard !hosts.isEmpty else { return nil }
        self.format = format
    }

    /// Whether none of the keys in use is the leaf's. Backups are keys that no server shows yet.
    private static func hasNoLeaf(_ host: PinnedHost, _ stated: PinPosition?, _ shared: Set<Set<Pin>>) -> Bool {
        let positions = host.pins.map { $0.position == .any ? stated ?? .any : $0.position }
        if positions.contains(.leaf) { return false }
        return positions.contains(.ca) || isList(host, stated, shared)
    }

    /// Whether an authority's pin stands beside pins without a position, which would be taken for the leaf's: then both
    /// would have to match.
    private static func mixes(_ host: PinnedHost, _ stated: PinPosition?) -> Bool {
        let positions = (host.pins + host.backupPins).map(\.position)
        return stated == nil && positions.contains(.ca) && positions.contains(.any) && !positions.contains(.leaf)
    }

    /// Whether the rule is one of an imported list of authorities, as far as can be told.
    private static func isList(_ host: PinnedHost, _ stated: PinPosition?, _ shared: Set<Set<Pin>>) -> Bool {
        guard stated == nil, host.pins.allSatisfy({ $0.position == .any }) else { return false }
        return host.pins.count >= authorityCount && host.backupPins.isEmpty || shared.contains(Set(host.pins))
    }

    /// The sets of pins that several domains have.
    private static func sharedPins(_ policy: PinningPolicy) -> Set<Set<Pin>> {
        var domains: [Set<Pin>: Set<String>] = [:]
        for host in policy.hosts where host.host.ipAddress == nil && !host.pins.isEmpty {
            domains[Set(host.pins), default: []].insert(host.host.labels.suffix(2).joined(separator: "."))
        }
        return Set(domains.filter { $0.value.count >= domainCount }.keys)
    }

    var error: ToolError {
        let few = hosts.prefix(3).joined(separator: ", ")
        let names = hosts.count > 3 ? "\(few) and \(hosts.count - 3) more" : few
        let remedy =
            format.traits.positions == .leaf
            ? "\(format.title) cannot pin an authority; if the pins are servers' own keys, say so: --pins-at leaf"
            : "say whose the pins are that do not say it: --pins-at ca for authorities, --pins-at leaf for servers"
        return .unusable(
            "locks-out",
            "nothing is written: \(format.title) would compare pins of authorities with the leaf and refuse every server "
                + "of \(names)", hint: remedy)
    }
}
