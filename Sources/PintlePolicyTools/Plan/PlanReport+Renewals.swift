internal import Pintle
internal import PintlePolicyFile
internal import PintleSystem

/// A server whose certificates are renewed by a pattern.
struct PlannedRenewal {
    /// The position of the server's first case in ``RotationPlan/servers``.
    let server: Int
    /// The first renewal.
    let from: Date
    let pattern: RotationPlan.Renewal
    let makesNewKeys: Bool
    /// The key that the server has before; `nil` if the plan lists no certificate before.
    let key: Int?
    /// The versions that pin ``key`` as the leaf's and still count when a new key replaces it.
    let apps: [Int]
}

extension PlanReport {
    /// The servers with renewal patterns, in the order of the plan.
    var renewals: [PlannedRenewal] {
        var found: [PlannedRenewal] = []
        for (index, server) in plan.servers.enumerated()
        where !found.contains(where: { plan.servers[$0.server].endpoint == server.endpoint }) {
            guard let last = server.switches.last, let pattern = plan.certificates[last.certificate].renewal,
                let leaf = plan.certificates[last.certificate].keys.first
            else { continue }
            let makesNewKeys = plan.keys[leaf].isMadeLater
            let before = server.switches.dropLast().last.flatMap { plan.certificates[$0.certificate].keys.first }
            let apps = plan.apps.indices.filter { app in
                guard makesNewKeys, let before, plan.apps[app].supportedUntil.map({ $0 > last.from }) ?? true else {
                    return false
                }
                return pins(before, ofServer: server.endpoint, inApp: app)
            }
            found.append(
                PlannedRenewal(
                    server: index, from: last.from, pattern: pattern, makesNewKeys: makesNewKeys, key: before,
                    apps: apps))
        }
        return found
    }

    /// Returns `true` if the version shipped with a pin that a leaf with this key matches.
    private func pins(_ key: Int, ofServer server: ServerEndpoint, inApp app: Int) -> Bool {
        let policy = plan.policies[plan.apps[app].policy]
        guard let rule = policy.rule(for: server) else { return false }
        let host = policy.hosts[rule.index]
        return (host.pins + host.backupPins).contains {
            $0.subject == .publicKey(plan.keys[key].pin) && $0.position != .ca
        }
    }

    /// The leaf pins that a renewal with a new key ends, in sentences for the headline.
    var endedPins: [String] { renewals.compactMap(sentence) }

    /// Returns `From 2027-01-19 on, certbot makes new keys for api.example.com: the pin of "current" in version 2.1
    /// then matches nothing.`; `nil` if no version pins the key before.
    private func sentence(_ renewal: PlannedRenewal) -> String? {
        guard let key = renewal.key, !renewal.apps.isEmpty else { return nil }
        let maker = renewal.pattern.client.map { "\($0.rawValue) makes new keys" } ?? "each renewal makes a new key"
        return "From \(PlanTime.text(renewal.from)) on, \(maker) for \(plan.servers[renewal.server].name): the pin of "
            + "\"\(plan.keys[key].name)\" in \(plan.versions(renewal.apps)) then matches nothing."
    }

    func write(_ json: inout JSONWriter, _ renewal: PlannedRenewal) {
        json.write(plan.servers[renewal.server])
        json.member("client", renewal.pattern.client?.rawValue)
        json.member("keys", (renewal.makesNewKeys ? PlanKeys.RenewalKeys.new : .same).rawValue)
        json.member("from", renewal.from)
        json.member("every", renewal.pattern.every)
        json.member("lifetime", renewal.pattern.lifetime)
        if !renewal.apps.isEmpty { json.member("endsPinsOf", renewal.apps.map { plan.apps[$0].version }) }
        json.member("message", sentence(renewal))
    }
}
