import FoundationEssentials
import Pintle
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

/// Compares the scope rule with its specification and with the decision itself, for all pairs of policies of small
/// families, all servers and all instants.
///
/// Each run takes a fixed part of the policies. With `PINTLE_ALL_STATES` it takes all of them.
@Suite("All pairs of policies of a family")
struct ScopeEnumerationTests {
    private static let takesAll = ProcessInfo.processInfo.environment["PINTLE_ALL_STATES"] != nil

    @Test(
        "An update that is accepted trusts no more than it may, and none is refused beyond the specification",
        arguments: ScopeFamily.names)
    func pairs(name: String) throws {
        let alphabet = try ScopeAlphabet()
        let family = try #require(try ScopeFamily.named(name, alphabet))
        let endpoints = try family.endpoints()
        var comparison = ScopeComparison(alphabet, endpoints: endpoints)
        let part = Self.takesAll ? (bundled: 1, update: 1) : family.part
        func policies(
            _ rules: KeyPath<ScopeFamily.Place, [PinnedHost?]>, part: Int, _ unpinned: PinningPolicy.UnpinnedHosts,
            anyHost: Bool = false
        ) throws -> [JudgedPolicy] {
            let withoutRule = try alphabet.trustedWithoutRule(unpinned)
            let count = family.places.map { $0[keyPath: rules].count }.reduce(1, *)
            return try stride(from: 0, to: count, by: part).map { number in
                var rest = number
                let chosen = try family.places.map { place in
                    let rules = place[keyPath: rules]
                    defer { rest /= rules.count }
                    return try rules[rest % rules.count].map { rule in
                        try alphabet.judged(rule.with(host: try ServerName(place.host), port: .some(place.port)))
                    }
                }
                return try JudgedPolicy(
                    chosen, unpinned, allowsAnyHost: anyHost, at: endpoints, withoutRule: withoutRule)
            }
        }
        for unpinned in family.unpinned {
            let updates = try (family.changesUnpinned ? PinningPolicy.UnpinnedHosts.allCases : [unpinned]).flatMap {
                try policies(\.update, part: part.update, $0)
            }
            for anyHost in family.allowsAnyHost {
                for old in try policies(\.bundled, part: part.bundled, unpinned, anyHost: anyHost) {
                    let scope = UpdateScope(bundled: old.policy)
                    for new in updates { comparison.compare(old, new, scope) }
                }
            }
        }
        comparison.expectNoObjection()
        // Without enough updates of each kind, the comparison would say nothing.
        #expect(comparison.accepted * 20 > comparison.pairs && comparison.widened > 20 && comparison.stricter > 20)
        if Self.takesAll { print("\(name): \(comparison)") }
    }
}

/// The pairs that were compared.
private struct ScopeComparison: CustomStringConvertible {
    private let alphabet: ScopeAlphabet
    let endpoints: [ServerEndpoint]
    private let system: ScopeAlphabet.Servers
    private(set) var pairs = 0
    private(set) var accepted = 0
    /// The accepted updates that change a decision, and those that trust further servers.
    private(set) var changed = 0
    private(set) var widened = 0
    private(set) var missing = 0
    private var objections: [String] = []
    /// The refused updates that trust no further server, and those of them that change no decision.
    private(set) var stricter = 0
    private(set) var needless = 0

    init(_ alphabet: ScopeAlphabet, endpoints: [ServerEndpoint]) {
        (self.alphabet, self.endpoints) = (alphabet, endpoints)
        system = alphabet.servers(under: .system)
    }

    mutating func compare(_ old: JudgedPolicy, _ new: JudgedPolicy, _ scope: UpdateScope) {
        pairs += 1
        let problems = scope.problems(of: new.embedded)
        if SpecifiedScope(bundled: old, update: new, endpoints: endpoints).isExceeded == problems.isEmpty {
            objections.append("\(old) -> \(new): the specification differs: \(problems.first?.message ?? "accepted")")
        }
        let leavesOut = zip(old.rules, new.rules).contains { $0 != nil && $1 == nil }
        guard problems.isEmpty else {
            func widens(_ servers: KeyPath<JudgedPolicy, [ScopeAlphabet.Servers]>) -> Bool {
                zip(old[keyPath: servers], new[keyPath: servers]).contains { $1 & ~$0 != 0 }
            }
            guard !leavesOut, !widens(\.trusted), !widens(\.trustedUnapproved) else { return }
            stricter += 1
            if old.hasSameAnswers(as: new) { needless += 1 }
            guard !Self.isKnownStrictness(problems, old, new) else { return }
            objections.append("\(old) -> \(new): refused needlessly: \(problems[0].message)")
            return
        }
        guard scope.missingHosts(in: new.embedded.hosts).isEmpty else {
            missing += 1
            if !leavesOut { objections.append("\(old) -> \(new): no rule is missing") }
            return
        }
        if leavesOut { objections.append("\(old) -> \(new): a rule is missing") }
        accepted += 1
        if !old.hasSameAnswers(as: new) { changed += 1 }
        var widens = false
        for place in endpoints.indices {
            let added =
                new.trusted[place] & ~old.trusted[place] | new.trustedUnapproved[place] & ~old.trustedUnapproved[place]
            guard added != 0 else { continue }
            widens = true
            let excess = added & ~allowed(old, new, at: place)
            if excess != 0 {
                objections.append("\(old) -> \(new): \(endpoints[place]), \(alphabet.text(excess))")
            }
        }
        if widens { widened += 1 }
    }

    /// Returns whether the specification refuses an update although it trusts no further server.
    private static func isKnownStrictness(
        _ problems: [ScopeViolation], _ old: JudgedPolicy, _ new: JudgedPolicy
    ) -> Bool {
        // U29: the treatment of hosts without a rule stays, whichever it is. U35: a rule is not added outside of the
        // bundled ones, however strict it is. U38: names leave a rule only with a reason, however strict the next one
        // is.
        let kinds = Set(problems.compactMap { $0.path.split(separator: ".").last })
        if !kinds.isDisjoint(with: ["unpinnedHosts", "host", "includeSubdomains"]) { return true }
        // U33: each term counts by itself, although another term, or pins, may imply it.
        return (old.rules + new.rules).contains { rule in
            rule.map { $0.rule.pathTerms != PathTerms() || $0.rule.requires == .leafAndCA } ?? false
        }
    }

    /// Returns the servers that an update may newly trust at an endpoint.
    private func allowed(_ old: JudgedPolicy, _ new: JudgedPolicy, at place: Int) -> ScopeAlphabet.Servers {
        let (endpoint, before, after) = (endpoints[place], old.deciding[place], new.deciding[place])
        let former = before.flatMap { old.rules[$0] }
        let rule = after.flatMap { new.rules[$0] }
        let isBelow = former.flatMap { former in rule.map { $0.isBelow(former) } } ?? false
        // The rule that decides now, as the bundled policy has it.
        let known = isBelow ? nil : after.flatMap { old.rules[$0] }.flatMap { $0.covers(endpoint) ? $0 : nil }
        // The update says why the former rule gives up the name, which returns to a rule that covered it, or to none.
        let isReturned = before.flatMap { new.rules[$0] }.map { $0.withdraws && !$0.covers(endpoint) } ?? false
        var servers = allowed(
            former, rule,
            isWithdrawn: rule?.withdraws ?? false || isReturned && !isBelow && (rule == nil || known != nil),
            knownPins: (former?.pins ?? []) + (known?.pins ?? []), isRenewable: before == after || known == nil)
        // Plain HTTP was refused because of each rule that covered the host, at any port.
        let covering = old.rules.indices.filter { old.rules[$0]?.covers(endpoint.host) ?? false }
        if !covering.isEmpty, covering.allSatisfy({ new.rules[$0]?.withdraws ?? false }) {
            servers |= ScopeAlphabet.plainHTTP
        }
        return servers
    }

    /// Returns the servers that an update may newly trust where one rule decides instead of another.
    private func allowed(
        _ old: JudgedRule?, _ new: JudgedRule?, isWithdrawn: Bool, knownPins: [JudgedRule.JudgedPin], isRenewable: Bool
    ) -> ScopeAlphabet.Servers {
        // Nothing justifies another root, a shorter path, or any issuer instead of one.
        var possible = (old?.valid ?? system) & (old?.long ?? ~0)
        if new?.rule.issuerKey == nil { possible &= old?.issued ?? ~0 }
        if isWithdrawn { return possible }
        guard let new else { return 0 }
        // An update may name another issuer, other pins and another date. Without a reason it stays at that.
        let isNamed = old?.rule.issuerKey != nil && new.rule.issuerKey != nil
        var matched = new.matched
        if let old, old.rule.requires == .leafAndCA, old.rule.enforcement == .enforce { matched &= new.withBoth }
        let pins = new.pins.filter { pin in !knownPins.contains { $0.pin == pin.pin } }
        let added = pins.reduce(0) { $0 | $1.servers }
        let renewed = isRenewable ? old?.overByAnyIssuer ?? 0 : 0
        return possible & ((isNamed ? old?.byAnyIssuer ?? 0 : 0) | matched & (added | renewed))
    }

    func expectNoObjection() {
        let shortest = objections.sorted { $0.count < $1.count }.prefix(3)
        let count = objections.count
        #expect(count == 0, "\(shortest.joined(separator: "\n"))")
    }

    var description: String {
        "\(pairs) pairs, \(endpoints.count) endpoints, \(accepted) accepted, \(changed) with changes, \(widened) with "
            + "servers to trust, \(missing) lack a rule, \(stricter) refused that are stricter, \(needless) that change "
            + "no decision"
    }
}
