internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A class of servers that both policies treat alike. The class is a host, or all names below it that have no more
/// specific rule. It covers one port, or all ports for which no rule at the host or above it exists.
struct ServerClass {
    let host: ServerName
    /// A Boolean value that indicates whether the class holds the names below the host, without the host itself.
    let isBelow: Bool
    /// The port; `nil` for all ports for which no rule at the host or above it exists.
    let port: UInt16?
}

/// Finds the rule of the bundled policy and the rule of the update that decide about the same servers. The order is
/// that of the decision (section 4 of the design): a rule for the port before a rule for all ports, the host before its
/// parents, the nearest parent first.
///
/// The names of both policies form a tree, which is visited from the parents down. At each name the search compares the
/// name's own rules, and the ports for which only one policy has a rule above the name. Rules that both policies
/// inherit were compared at the parent. So the work grows linearly with the number of rules, with one exception: the
/// update adds rules for many ports above many bundled hosts. ``maximumComparisons`` limits the work in that case.
struct EffectiveRules {
    /// Indices into the rules of the two policies; `nil` if no rule decides.
    struct Pair {
        var bundled: Int?
        var update: Int?
    }

    /// The rules of both policies for one name, or the rules that the name inherits from its parents.
    private struct Rules {
        /// The rules for all ports.
        var any = Pair()
        var ports: [UInt16: Pair] = [:]
    }

    /// A name that is a parent of the current one.
    private struct Parent {
        let key: [UInt8]
        /// The value of ``inherited`` to restore when the search leaves this name.
        let any: Pair
        let ports: [(port: UInt16, pair: Pair)]
    }

    private let bundled: [PinnedHost]
    private let update: [PinnedHost]
    /// The rules that the names below the current one inherit from it and from its parents.
    private var inherited = Rules()
    /// The ports in ``inherited`` for which only one policy has a rule.
    private var oneSided: Set<UInt16> = []
    private var parents: [Parent] = []
    /// The number of pairs that were compared.
    private(set) var comparisons = 0

    /// The comparisons that every update may use, however few rules it has. They take a few seconds.
    static let allowance = 1 << 20
    private let allowance: Int

    init(bundled: [PinnedHost], update: [PinnedHost], allowance: Int = Self.allowance) {
        self.bundled = bundled
        self.update = update
        self.allowance = allowance
    }

    /// Each name needs two comparisons, and two more for each port. Sixteen for each rule are more than any
    /// hand-written policy needs.
    var maximumComparisons: Int { allowance + 16 * (bundled.count + update.count) }

    /// Calls `compare` for each pair. `compare` returns the amount of work that it did.
    ///
    /// - Returns: `false` if the work exceeded ``maximumComparisons``.
    mutating func visit(_ compare: (ServerClass, Pair) -> Int) -> Bool {
        let names = sortedNames()
        var start = names.startIndex
        while start < names.endIndex {
            let end = names[start...].firstIndex { $0.key != names[start].key } ?? names.endIndex
            leaveParents(of: names[start].key)
            guard visit(names[start..<end], compare) else { return false }
            start = end
        }
        return true
    }

    /// A rule with its sort key. Sorting by the key places each name directly after its parent.
    private struct Name {
        let key: [UInt8]
        let isUpdate: Bool
        let index: Int
    }

    private func sortedNames() -> [Name] {
        var names: [Name] = []
        names.reserveCapacity(bundled.count + update.count)
        for (index, rule) in bundled.enumerated() {
            names.append(Name(key: Self.key(of: rule.host), isUpdate: false, index: index))
        }
        for (index, rule) in update.enumerated() {
            names.append(Name(key: Self.key(of: rule.host), isUpdate: true, index: index))
        }
        // The index breaks ties: an update may contain a rule twice, and then the first counts.
        names.sort { left, right in
            if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
            return left.isUpdate == right.isUpdate ? left.index < right.index : right.isUpdate
        }
        return names
    }

    /// Returns the host name reversed, with zero bytes for the dots. Zero is the lowest byte, so no other name sorts
    /// between a name and the names below it. IP addresses have no parents, so they keep their dots.
    private static func key(of host: ServerName) -> [UInt8] {
        let text = host.description.utf8
        if host.ipAddress != nil { return Array(text) }
        return text.reversed().map { $0 == UInt8(ascii: ".") ? 0 : $0 }
    }

    private mutating func leaveParents(of key: [UInt8]) {
        while let parent = parents.last {
            let length = parent.key.count
            if key.count > length, key[length] == 0, key.starts(with: parent.key) { return }
            parents.removeLast()
            inherited.any = parent.any
            for (port, pair) in parent.ports { inherit(pair, on: port) }
        }
    }

    private mutating func inherit(_ pair: Pair, on port: UInt16) {
        inherited.ports[port] = pair.bundled == nil && pair.update == nil ? nil : pair
        if (pair.bundled == nil) != (pair.update == nil) { oneSided.insert(port) } else { oneSided.remove(port) }
    }

    private mutating func visit(_ names: ArraySlice<Name>, _ compare: (ServerClass, Pair) -> Int) -> Bool {
        guard let first = names.first else { return true }
        let host = first.isUpdate ? update[first.index].host : bundled[first.index].host
        let own = ownRules(names)
        var ports: [UInt16?] = [nil]
        var named = Set(own.ports.keys)
        // A rule for all ports also decides on the ports for which only the other policy has a rule above this name.
        if own.any.bundled != nil || own.any.update != nil { named.formUnion(oneSided) }
        ports += named.sorted()
        for port in ports {
            for isBelow in host.ipAddress == nil ? [false, true] : [false] {
                let pair = effective(own, on: port, below: isBelow)
                comparisons += 1 + compare(ServerClass(host: host, isBelow: isBelow, port: port), pair)
                guard comparisons <= maximumComparisons else { return false }
            }
        }
        if host.ipAddress == nil { enter(first.key, own) }
        return true
    }

    private func ownRules(_ names: ArraySlice<Name>) -> Rules {
        var own = Rules()
        for name in names {
            if name.isUpdate {
                guard let port = update[name.index].port else {
                    own.any.update = own.any.update ?? name.index
                    continue
                }
                let known = own.ports[port]?.update
                own.ports[port, default: Pair()].update = known ?? name.index
            } else if let port = bundled[name.index].port {
                own.ports[port, default: Pair()].bundled = name.index
            } else {
                own.any.bundled = name.index
            }
        }
        return own
    }

    private func effective(_ own: Rules, on port: UInt16?, below: Bool) -> Pair {
        let ownPort = port.flatMap { own.ports[$0] }
        let inheritedPort = port.flatMap { inherited.ports[$0] }
        func covers(_ rule: Int?, _ rules: [PinnedHost]) -> Int? {
            rule.flatMap { !below || rules[$0].includesSubdomains ? $0 : nil }
        }
        return Pair(
            bundled: covers(ownPort?.bundled, bundled) ?? inheritedPort?.bundled ?? covers(own.any.bundled, bundled)
                ?? inherited.any.bundled,
            update: covers(ownPort?.update, update) ?? inheritedPort?.update ?? covers(own.any.update, update)
                ?? inherited.any.update)
    }

    /// Adds the rules of this name that cover its sub-domains to the inherited rules.
    private mutating func enter(_ key: [UInt8], _ own: Rules) {
        var before: [(port: UInt16, pair: Pair)] = []
        for (port, pair) in own.ports {
            let old = inherited.ports[port] ?? Pair()
            before.append((port, old))
            let covering = Pair(
                bundled: pair.bundled.flatMap { bundled[$0].includesSubdomains ? $0 : nil } ?? old.bundled,
                update: pair.update.flatMap { update[$0].includesSubdomains ? $0 : nil } ?? old.update)
            inherit(covering, on: port)
        }
        parents.append(Parent(key: key, any: inherited.any, ports: before))
        inherited.any = effective(own, on: nil, below: true)
    }
}

/// The times at which a rule trusts every valid path, whether or not a pin matches (steps 5 to 7 of the decision).
enum OpenTimes {
    case always
    /// Until the date: a report-only rule that refuses the server once its pins have expired.
    case before(Date)
    /// From the date on: enforced pins that fall back to system trust when they expire.
    case from(Date)
    case never

    init(_ rule: PinnedHost) {
        guard !rule.pins.isEmpty else {
            self = .always
            return
        }
        switch (rule.enforcement, rule.expiry) {
        case (.enforce, .never), (.enforce, .rejecting): self = .never
        case (.enforce, .systemTrust(let date)): self = .from(date)
        case (.reportOnly, .never), (.reportOnly, .systemTrust): self = .always
        case (.reportOnly, .rejecting(let date)): self = .before(date)
        }
    }

    /// Returns whether these times are a subset of the others. Dates are compared in whole seconds, because a date that
    /// was written to a file has no fraction, while a date that was made in Swift may have one.
    func isWithin(_ other: OpenTimes) -> Bool {
        switch (self, other) {
        case (.never, _), (_, .always): true
        case (.before(let own), .before(let other)): own <= other
        case (.from(let own), .from(let other)):
            own.timeIntervalSince1970 >= other.timeIntervalSince1970.rounded(.down)
        default: false
        }
    }
}

/// Finds the update's rule for the host and port of a bundled rule, and the reverse.
struct SuccessorNames {
    private let indices: [String: Int]
    private let bundledIndices: [String: Int]

    init(_ hosts: [PinnedHost], bundled: [PinnedHost]) {
        indices = Self.table(hosts)
        bundledIndices = Self.table(bundled)
    }

    func index(of rule: PinnedHost) -> Int? { indices[rule.description] }

    /// Returns the bundled rule for the host and port of a rule of the update.
    func bundledIndex(of rule: PinnedHost) -> Int? { bundledIndices[rule.description] }

    private static func table(_ hosts: [PinnedHost]) -> [String: Int] {
        Dictionary(zip(hosts.map(\.description), hosts.indices), uniquingKeysWith: { first, _ in first })
    }
}
