internal import Pintle

/// Servers that two policies cannot tell apart: one host, or every name below it that has no rule nearer to it, on one
/// port, or on every port that no rule over the host names.
struct ServerClass {
    let host: ServerName
    /// A Boolean value that indicates whether the names below the host are meant, not the host itself.
    let isBelow: Bool
    /// `nil`: every port that no rule over the host names.
    let port: UInt16?
}

/// Finds which rule of the bundled policy and which rule of the update decide about the same servers, in the order that
/// the decision has (section 4 of the design): the port before every port, the host before its parents, the nearest
/// parent first.
///
/// The names of both policies are visited as the tree that they are, parents first. A name is looked at for its own
/// rules and for the ports that only one policy has a rule for above it; whatever both policies inherit was compared
/// at the parent. So the work grows with the rules, except where the update adds rules for many ports over many
/// bundled hosts; ``maximumComparisons`` bounds that.
struct EffectiveRules {
    /// Indices into the rules of the two policies; `nil` where no rule decides.
    struct Pair {
        var bundled: Int?
        var update: Int?
    }

    /// The rules of one policy for one name, or of a name's parents that cover it.
    private struct Rules {
        /// For every port.
        var any = Pair()
        var ports: [UInt16: Pair] = [:]
    }

    /// A name whose rules cover the names below it.
    private struct Parent {
        let key: [UInt8]
        /// The content of ``inherited`` before this name.
        let any: Pair
        let ports: [(port: UInt16, pair: Pair)]
    }

    private let bundled: [PinnedHost]
    private let update: [PinnedHost]
    /// The rules that the names below the current one inherit from it and its parents.
    private var inherited = Rules()
    /// The ports in ``inherited`` for which only one of the policies has a rule.
    private var oneSided: Set<UInt16> = []
    private var parents: [Parent] = []
    /// How many pairs were compared.
    private(set) var comparisons = 0

    /// Comparisons that every update may have, however few rules it has. A few seconds of work.
    static let allowance = 1 << 20
    private let allowance: Int

    init(bundled: [PinnedHost], update: [PinnedHost], allowance: Int = Self.allowance) {
        self.bundled = bundled
        self.update = update
        self.allowance = allowance
    }

    /// Sixteen comparisons for each rule are more than policies need that people write: each name
    /// has two, and two more for each port.
    var maximumComparisons: Int { allowance + 16 * (bundled.count + update.count) }

    /// Hands each pair to `compare`, which returns how much work it was.
    ///
    /// - Returns: `false` where ``maximumComparisons`` are not enough.
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

    /// A rule under its name, written so that sorting brings names right behind their parents.
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
        // In full, since a rule may stand in an update twice: then the first counts.
        names.sort { left, right in
            if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
            return left.isUpdate == right.isUpdate ? left.index < right.index : right.isUpdate
        }
        return names
    }

    /// The name from its end, with zero for the dots: the lowest byte, so that nothing comes between a name and those
    /// below it. Addresses have no parents; they keep their dots.
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
        // A rule for every port decides on the ports that the other policy has a rule for above this name.
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

    /// Makes what covers the names below this one what they inherit.
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
