internal import Pintle
internal import PintleSystem
internal import PintleUpdates

/// Notes beside the verdict that a reader should know.
extension PlanReport {
    /// The outcome of each update: `update 8, published 2027-02-15: taken by versions 2.1, 2.2`
    var updateLines: [String] {
        plan.updates.enumerated().map { number, update in
            let takers = plan.apps.indices.filter { simulation.missed[$0][number] == nil }
            var parts = [takers.isEmpty ? "no version takes it" : "taken by \(plan.versions(takers))"]
            var reasons: [String: [Int]] = [:]
            for app in plan.apps.indices {
                guard let missed = simulation.missed[app][number] else { continue }
                reasons[Self.text(of: missed), default: []].append(app)
            }
            parts += reasons.sorted { $0.value[0] < $1.value[0] }.map { "not by \(plan.versions($0.value)): \($0.key)" }
            return "update \(update.version), published \(PlanTime.text(update.published)): "
                + parts.joined(separator: "; ")
        }
    }

    static func text(of missed: PlanSimulation.MissedUpdate) -> String {
        switch missed {
        case .fetchesNone: "fetches no updates"
        case .failure(let failure): "\(failure.code.rawValue), \(failure)"
        case .replaced: "replaced before the release"
        }
    }

    var notes: [String] {
        gaps + lastDays + stolenUnusedKeys
            + [unknownCertificatePins, stolenAuthorities, restOfAdvice].compactMap(\.self)
    }

    /// A note about stolen keys of authorities: a thief can sign certificates that the plan does not name.
    private var stolenAuthorities: String? {
        let leaves = Set(plan.certificates.compactMap(\.keys.first))
        let authorities = Set(plan.certificates.flatMap { $0.keys.dropFirst() }).subtracting(leaves)
        let names = authorities.sorted().filter { plan.keys[$0].compromised != nil }
            .map { "\"\(plan.keys[$0].name)\"" }
        guard !names.isEmpty else { return nil }
        return
            "\(names.joined(separator: ", ")): with this stolen key a thief can sign certificates that the plan does "
            + "not name; they are not simulated"
    }

    /// Notes about stolen keys that versions pin, but that no certificate of the plan is for.
    private var stolenUnusedKeys: [String] {
        let used = Set(plan.certificates.flatMap(\.keys))
        return plan.keys.enumerated().compactMap { index, key in
            guard let stolen = key.compromised, !used.contains(index) else { return nil }
            let apps = plan.apps.indices.filter { app in
                plan.policies[plan.apps[app].policy].hosts.contains { host in
                    (host.pins + host.backupPins).contains { $0.subject == .publicKey(key.pin) }
                }
            }
            guard !apps.isEmpty else { return nil }
            return
                "\"\(key.name)\" is stolen from \(PlanTime.text(stolen)) on, no certificate of the plan is for it, and "
                + "\(plan.versions(apps)) \(apps.count == 1 ? "pins" : "pin") it: leave it out of the pins, "
                + "and never serve it"
        }
    }

    private var restOfAdvice: String? {
        let rest = lockOuts.count - PlanAdviser.maximumLockOuts
        return rest > 0
            ? "advice is given about the first \(PlanAdviser.maximumLockOuts) lock-outs, not about the last \(rest)"
            : nil
    }

    /// A note about pins of certificates whose fingerprint the plan does not have. The simulation takes them to match
    /// nothing.
    private var unknownCertificatePins: String? {
        let known = Set(plan.certificates.compactMap(\.fingerprint))
        let apps = plan.apps.indices.filter { index in
            let policy = plan.policies[plan.apps[index].policy]
            return plan.servers.contains { server in
                guard let rule = policy.rule(for: server.endpoint) else { return false }
                let host = policy.hosts[rule.index]
                return (host.pins + host.backupPins).contains { pin in
                    guard let pin = pin.fingerprint else { return false }
                    return !known.contains(pin)
                }
            }
        }
        guard !apps.isEmpty else { return nil }
        return
            "\(plan.versions(apps)): pins of certificates that the plan has no \"fingerprint\" of are taken to match "
            + "nothing"
    }
}
