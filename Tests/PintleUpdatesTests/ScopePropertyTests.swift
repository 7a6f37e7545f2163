import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleUpdates

/// The scope rule, held against the decision itself: random pairs of policies, random servers, random instants.
@Suite("No accepted update turns a rejection into trust")
struct ScopePropertyTests {
    private let alphabet: PolicyAlphabet

    init() throws {
        alphabet = try PolicyAlphabet()
    }

    private struct Pair {
        let bundled: PinningPolicy
        let update: PinningPolicy
    }

    /// `nil` where the random rules do not make a policy.
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
        return scope.violations(of: EmbeddedPolicy(pair.update)).isEmpty
            && scope.missingHosts(in: Array(pair.update.hosts)).isEmpty
    }

    private func isValid(_ server: PolicyAlphabet.Server, under anchors: TrustAnchors) -> Bool {
        server.isSystem && anchors.includesSystem || anchors.certificates.contains(server.root)
    }

    private func decision(
        of policy: PinningPolicy, about server: PolicyAlphabet.Server, at endpoint: ServerEndpoint, _ instant: Date
    ) throws -> TrustDecision {
        // A person has approved every server, which counts only where no rule covers the host.
        let approval = try TrustApproval(.publicKey(server.leaf.publicKeyPin), for: endpoint, at: instant)
        return policy.evaluate(
            endpoint, presented: [server.leaf.der], approvals: TrustApprovals([approval]), at: instant
        ) { request in
            if isValid(server, under: request.anchors) { return .valid(server.path) }
            guard request.anchors.certificates.contains(server.leaf) else {
                return .invalid(PathFailure(.untrustedRoot, text: "another root"))
            }
            return .valid(ValidatedPath(uncheckedLeafToAnchor: [server.leaf.der]))
        }.decision
    }

    /// Why an update that makes this of a rejection is not to be accepted; `nil` where it may be.
    private func objection(
        _ pair: Pair, _ server: PolicyAlphabet.Server, _ endpoint: ServerEndpoint, was old: TrustDecision,
        is new: TrustDecision
    ) -> String? {
        let governing = pair.bundled.rule(for: endpoint).map { pair.bundled.hosts[$0.index] }
        let rule = pair.update.rule(for: endpoint).map { pair.update.hosts[$0.index] }
        guard isValid(server, under: governing?.anchors ?? .system) else { return "other anchors" }
        let terms = governing?.pathTerms ?? .none
        if (terms.minimumLength ?? 1) > server.path.certificates.count { return "a path that is too short" }
        if let issuer = terms.issuerKey, issuer != server.root.publicKeyPin {
            // An update may name another issuer, as it may state other pins.
            return rule?.issuerKey == server.root.publicKeyPin ? nil : "an issuer that the update did not name"
        }
        let successor = pair.update.hosts.first { $0.host == governing?.host && $0.port == governing?.port }
        let isNarrowed = successor?.includesSubdomains == false && governing?.includesSubdomains == true
        let isAddition = rule.map { "\($0.host)".count > "\(governing?.host.description ?? "")".count } ?? false
        if rule?.withdraws != nil { return nil }
        // A withdrawal leaves the names to no rule, or to one that already covered them.
        let parent = pair.bundled.hosts.first { $0.host == rule?.host && $0.port == rule?.port }
        let isHandedBack = rule.map { parent?.includesSubdomains ?? false || parent != nil && !$0.includesSubdomains }
        if isNarrowed, !isAddition, successor?.withdraws != nil, isHandedBack ?? true { return nil }
        guard case .trusted(.pinMatched) = new, let rule else { return "no pin matched" }
        // The update renews the date of pins, which is for it to do.
        if case .rejected(.pinsExpired) = old { return nil }
        let added = rule.pins.filter { !(governing?.pins.contains($0) ?? false) }
        let matches = added.contains { pin in
            pin.position != .ca && pin.subject == .publicKey(server.leaf.publicKeyPin)
                || pin.position != .leaf && pin.subject == .publicKey(server.root.publicKeyPin)
        }
        return matches ? nil : "a pin that the update did not add"
    }

    @Test("Random updates, mostly small changes of the bundled policy")
    func property() throws {
        var random = SeededGenerator(seed: 12)
        let endpoints = try PolicyAlphabet.probes.flatMap { host in
            try PolicyAlphabet.probePorts.map { ServerEndpoint(host: try ServerName(host), port: $0) }
        }
        var accepted = 0
        var changed = 0
        var loosened = 0
        var objections: [String] = []
        for number in 0..<2_500 {
            guard let pair = try pair(using: &random), isAccepted(pair) else { continue }
            accepted += 1
            if pair.update.hasSameRules(as: pair.bundled) { continue }
            changed += 1
            for endpoint in endpoints {
                for server in alphabet.servers {
                    // Which instants differ depends on the dates, and one of them each is enough in the long run.
                    let instant = PolicyAlphabet.instants.randomElement(using: &random) ?? PolicyAlphabet.early
                    let new = try decision(of: pair.update, about: server, at: endpoint, instant)
                    guard new.isTrusted else { continue }
                    let old = try decision(of: pair.bundled, about: server, at: endpoint, instant)
                    guard !old.isTrusted else { continue }
                    loosened += 1
                    if let why = objection(pair, server, endpoint, was: old, is: new) {
                        objections.append("\(number): \(endpoint): \(why): \(old.reason) became \(new.reason)")
                    }
                }
            }
        }
        #expect(objections.isEmpty, "\(objections.count): \(objections.prefix(8).joined(separator: "\n"))")
        // The property says nothing where updates are refused or change nothing.
        #expect(accepted > 400 && changed > 200 && loosened > 50, "\(accepted), \(changed), \(loosened)")
    }
}
