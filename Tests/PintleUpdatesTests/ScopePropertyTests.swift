import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

/// Compares the scope rule with the decision itself, for random pairs of policies, random servers and random instants.
@Suite("No accepted update turns a rejection into trust")
struct ScopePropertyTests {
    private let alphabet: PolicyAlphabet
    private let endpoints: [ServerEndpoint]

    init() throws {
        alphabet = try PolicyAlphabet()
        endpoints = try PolicyAlphabet.probes.flatMap { host in
            try PolicyAlphabet.probePorts.map { ServerEndpoint(host: try ServerName(host), port: $0) }
        }
    }

    private struct Pair {
        let bundled: PinningPolicy
        let update: PinningPolicy
    }

    /// Returns `nil` if the random rules do not form a valid policy.
    private func pair(using random: inout SeededGenerator) throws -> Pair? {
        let unpinned = PinningPolicy.UnpinnedHosts.allCases.randomElement(using: &random) ?? .systemTrust
        let rules = try alphabet.rules(using: &random)
        let changed = try alphabet.update(of: rules, using: &random)
        let anyHost = Int.random(in: 0..<4, using: &random) == 0
        guard
            let bundled = try? PinningPolicy(
                hosts: rules, unpinnedHosts: unpinned, updateVersion: 0, allowsUpdatesForAnyHost: anyHost),
            let update = try? PinningPolicy(hosts: changed, unpinnedHosts: unpinned)
        else { return nil }
        return Pair(bundled: bundled, update: update)
    }

    private func isAccepted(_ pair: Pair) -> Bool {
        let scope = UpdateScope(bundled: pair.bundled)
        return scope.problems(of: EmbeddedPolicy(pair.update)).isEmpty
            && scope.missingHosts(in: Array(pair.update.hosts)).isEmpty
    }

    /// The reason that an update turns a rejection into trust.
    private enum Widening {
        /// The update adds the matching pin, and the path was valid before.
        case addedPin
        /// A pin of the former deciding rule matches. The update renews its date, and the path was valid before.
        case renewedDate
        /// The deciding rule has `withdraws`, or such a rule no longer covers the names.
        case withdrawal
        /// The update names another issuer key, and this server's issuer has it.
        case namedIssuer
        /// The update must not be accepted, for this reason.
        case forbidden(String)
    }

    private func judge(
        _ pair: Pair, _ server: PolicyAlphabet.Server, _ endpoint: ServerEndpoint, at instant: Date,
        was old: TrustDecision, is new: TrustDecision
    ) -> Widening {
        let governing = pair.bundled.rule(for: endpoint).map { pair.bundled.hosts[$0.index] }
        let rule = pair.update.rule(for: endpoint).map { pair.update.hosts[$0.index] }
        guard server.isValid(under: governing?.anchors ?? .system) else { return .forbidden("other anchors") }
        let terms = governing?.pathTerms ?? PathTerms()
        if (terms.minimumLength ?? 1) > server.path.certificates.count { return .forbidden("a path that is too short") }
        if let issuer = terms.issuerKey, issuer != server.root.publicKeyPin {
            // An update may name another issuer, just as it may have other pins.
            return rule?.issuerKey == server.root.publicKeyPin
                ? .namedIssuer : .forbidden("an issuer that was not named")
        }
        let successor = pair.update.hosts.first { $0.host == governing?.host && $0.port == governing?.port }
        let isNarrowed = successor?.includesSubdomains == false && governing?.includesSubdomains == true
        let isAddition = rule.map { "\($0.host)".count > "\(governing?.host.description ?? "")".count } ?? false
        if rule?.withdrawalReason != nil { return .withdrawal }
        // After a withdrawal, no rule decides about the names, or a rule that already covered them.
        let parent = pair.bundled.hosts.first { $0.host == rule?.host && $0.port == rule?.port }
        let isHandedBack = rule.map { parent?.includesSubdomains ?? false || parent != nil && !$0.includesSubdomains }
        if isNarrowed, !isAddition, successor?.withdrawalReason != nil, isHandedBack ?? true { return .withdrawal }
        guard case .trusted(.pinMatched) = new, let rule else { return .forbidden("no pin matched") }
        let matching = (rule.pins + rule.backupPins).filter { Self.matches($0, server) }
        let known = governing.map { $0.pins + $0.backupPins } ?? []
        // If names fall back to a rule that already covered them, its old pins are not new pins.
        let covered = parent.map { $0.includesSubdomains || $0.host == endpoint.host } ?? false
        let former = covered ? parent.map { $0.pins + $0.backupPins } ?? [] : []
        if matching.contains(where: { !known.contains($0) && !former.contains($0) }) { return .addedPin }
        guard case .rejected(.pinsExpired) = old else { return .forbidden("a pin that the update did not add") }
        // An update may renew the date of pins, either in their rule or in a rule that it adds below.
        guard isAddition || governing.map({ rule.hasSameName(as: $0) }) ?? false else {
            return .forbidden("the date of another rule's pins")
        }
        guard rule.expiry.date.map({ instant < $0 }) ?? true else { return .forbidden("a date that is over") }
        return matching.isEmpty ? .forbidden("no pin that names the server") : .renewedDate
    }

    private static func matches(_ pin: Pin, _ server: PolicyAlphabet.Server) -> Bool {
        pin.position != .ca && names(pin, server.leaf) || pin.position != .leaf && names(pin, server.root)
    }

    private static func names(_ pin: Pin, _ certificate: Certificate) -> Bool {
        switch pin.subject {
        case .publicKey(let key): key == certificate.publicKeyPin
        case .certificate(let fingerprint): fingerprint == certificate.fingerprint
        }
    }

    /// Calls `take` for each server, endpoint and instant at which the update turns a rejection into trust, until
    /// `take` returns `false`.
    private func widenings(
        _ pair: Pair, _ take: (PolicyAlphabet.Server, ServerEndpoint, Date, TrustDecision, TrustDecision) -> Bool
    ) throws {
        for instant in PolicyAlphabet.instants(of: pair.bundled, pair.update) {
            for endpoint in endpoints {
                for server in alphabet.servers {
                    let new = try server.decision(of: pair.update, at: endpoint, instant)
                    guard new.isTrusted else { continue }
                    let old = try server.decision(of: pair.bundled, at: endpoint, instant)
                    guard old.isTrusted || take(server, endpoint, instant, old, new) else { return }
                }
            }
        }
    }

    private struct Figures: CustomStringConvertible {
        var accepted = 0
        var changed = 0
        /// The number of these updates that have backup pins.
        var withBackups = 0
        /// The numbers of accepted updates that turn a rejection into trust somewhere, by what allows it.
        var byAddedPin = 0
        var byRenewedDate = 0
        var byWithdrawal = 0
        var byNamedIssuer = 0
        /// The number of all such places.
        var loosened = 0
        var refused = 0
        /// The refused updates that were examined, and those of them that turn no rejection into trust.
        var examined = 0
        var needless = 0
        var objections: [String] = []

        var description: String {
            "\(accepted) updates accepted, \(changed) of them with changes, \(withBackups) with backup pins; by an added "
                + "pin \(byAddedPin), by a renewed date \(byRenewedDate), by a withdrawal \(byWithdrawal), by a named "
                + "issuer \(byNamedIssuer), at \(loosened) places; \(refused) refused, "
                + "\(needless) of \(examined) needlessly"
        }
    }

    /// Returns a pair in which a bundled rule stops covering its sub-domains, so that they fall back to their parent's
    /// rule.
    private func narrowing(using random: inout SeededGenerator) throws -> Pair? {
        let parent = try alphabet.rule(for: "example.com", using: &random).with(
            port: .some(nil), includesSubdomains: true)
        var child = try alphabet.rule(for: "api.example.com", using: &random)
            .with(port: .some(nil), includesSubdomains: true)
        if Bool.random(using: &random) { child.anchors = parent.anchors }
        if Bool.random(using: &random) { child.pathTerms = parent.pathTerms }
        let withdraws = Int.random(in: 0..<4, using: &random) == 0 ? "the key was stolen" : nil
        var narrowed = child.with(includesSubdomains: false)
        narrowed.withdrawalReason = withdraws
        guard let bundled = try? PinningPolicy(hosts: [parent, child]),
            let update = try? PinningPolicy(hosts: [parent, narrowed])
        else { return nil }
        return Pair(bundled: bundled, update: update)
    }

    private func examine(_ pair: Pair, _ number: Int, _ figures: inout Figures) throws {
        guard isAccepted(pair) else {
            figures.refused += 1
            // Only every fourth one, because each takes as long as an accepted one.
            guard number.isMultiple(of: 4) else { return }
            figures.examined += 1
            var isNeedless = true
            try widenings(pair) { _, _, _, _, _ in
                isNeedless = false
                return false
            }
            if isNeedless { figures.needless += 1 }
            return
        }
        figures.accepted += 1
        if pair.update.hasSameRules(as: pair.bundled) { return }
        figures.changed += 1
        if pair.update.hosts.contains(where: { !$0.backupPins.isEmpty }) { figures.withBackups += 1 }
        var (addsPin, renewsDate, withdraws, namesIssuer) = (false, false, false, false)
        try widenings(pair) { server, endpoint, instant, old, new in
            figures.loosened += 1
            switch judge(pair, server, endpoint, at: instant, was: old, is: new) {
            case .addedPin: addsPin = true
            case .renewedDate: renewsDate = true
            case .withdrawal: withdraws = true
            case .namedIssuer: namesIssuer = true
            case .forbidden(let why):
                figures.objections.append("\(number): \(endpoint): \(why): \(old.reason) became \(new.reason)")
            }
            return true
        }
        if addsPin { figures.byAddedPin += 1 }
        if renewsDate { figures.byRenewedDate += 1 }
        if namesIssuer { figures.byNamedIssuer += 1 }
        if withdraws { figures.byWithdrawal += 1 }
    }

    private func expectNoObjection(_ figures: Figures) {
        let objections = figures.objections
        #expect(objections.isEmpty, "\(objections.count): \(objections.prefix(8).joined(separator: "\n"))")
        print(figures)
    }

    @Test("Random updates, mostly small changes of the bundled policy, turn no rejection into trust")
    func property() throws {
        var random = SeededGenerator(seed: 12)
        var figures = Figures()
        for number in 0..<3_000 {
            if let pair = try pair(using: &random) { try examine(pair, number, &figures) }
        }
        expectNoObjection(figures)
        // Without enough updates of each kind, the property would say nothing.
        #expect(figures.accepted > 400 && figures.changed > 200 && figures.withBackups > 50)
        #expect(
            figures.loosened > 300 && figures.byAddedPin + figures.byRenewedDate > 25 && figures.byWithdrawal > 8
                && figures.byNamedIssuer > 0)
        #expect(figures.byAddedPin > 20 && figures.byRenewedDate > 5)
        #expect(figures.byAddedPin + figures.byWithdrawal < figures.changed)
        // A scope rule that refuses everything would also pass, so count needless refusals.
        #expect(figures.refused > 200 && figures.needless * 2 < figures.examined)
    }

    @Test("Random rules whose sub-domains fall back to their parent's rule turn no rejection into trust")
    func narrowed() throws {
        var random = SeededGenerator(seed: 49)
        var figures = Figures()
        for number in 0..<400 {
            if let pair = try narrowing(using: &random) { try examine(pair, number, &figures) }
        }
        expectNoObjection(figures)
        #expect(figures.accepted > 10 && figures.byWithdrawal > 2 && figures.refused > 200)
        // Such an update adds no pin and renews no date.
        #expect(figures.byAddedPin == 0 && figures.byRenewedDate == 0)
    }
}
