internal import Pintle
internal import PintleSystem

extension PlanSimulation {
    /// Returns all lock-outs, in the order of time.
    func lockOuts() -> [LockOut] {
        var found: [LockOut] = []
        for server in plan.servers.indices {
            for app in plan.apps.indices { collect(&found, server: server, app: app) }
        }
        // The cases of a server share the certificates of its list, and therefore their lock-outs.
        var distinct: [LockOut] = []
        for lockOut in found
        where !distinct.contains(where: { other in
            other.from == lockOut.from && isSame(other.server, lockOut.server)
                && lockOut.isAlike(other, atServer: lockOut.server)
        }) { distinct.append(lockOut) }
        return distinct.sorted { ($0.from, $0.server) < ($1.from, $1.server) }
    }

    /// Returns `true` if both are cases of one server.
    private func isSame(_ server: Int, _ other: Int) -> Bool {
        plan.servers[server].endpoint == plan.servers[other].endpoint
    }

    private func collect(_ found: inout [LockOut], server: Int, app: Int) {
        var current: Int?
        for (index, instant) in instants.enumerated() {
            guard let loss = loss(ofServer: server, app: app, at: index),
                let certificate = loss.phase.certificate, case .rejected(let rejection) = loss.phase.decision
            else {
                end(&current, in: &found, at: instant)
                continue
            }
            let policy = loss.policy
            let isShipped = loss.isBySystem || plan.apps[app].policy == policy
            let lists = loss.isBySystem ? plan.apps[app].infoPlist : nil
            let next = LockOut(
                server: server, certificate: certificate, rejection: rejection,
                asksUser: asksUser(rejection, policy: policy),
                update: isShipped ? nil : plan.updates.lastIndex { $0.policy == policy },
                issuerKey: loss.isBySystem ? nil : requiredIssuer(rejection, server: server, policy: policy),
                unmatchedLists: lists.map {
                    plan.unmatchedLists(of: $0, serving: certificate, at: plan.servers[server].endpoint)
                } ?? [],
                from: instant,
                victims: [LockOut.Victim(app: app)])
            if let current, found[current].isAlike(next) { continue }
            end(&current, in: &found, at: instant)
            // Other versions may lose the same server at the same time for the same reason.
            if let twin = found.firstIndex(where: { $0.from == instant && $0.isAlike(next) }) {
                found[twin].victims += next.victims
                current = twin
            } else {
                found.append(next)
                current = found.count - 1
            }
        }
    }

    /// Returns the rule's `issuerKey` if the issuer caused the rejection.
    ///
    /// ``RotationPlan/decision(_:about:serving:at:)`` reports three failures of a path with codes of their own. Any
    /// other failure comes from a term of the rule. A rule has two such terms, and the simulation drops one of them,
    /// the path length.
    private func requiredIssuer(_ rejection: TrustRejection, server: Int, policy: Int) -> PublicKeyPin? {
        guard rejection.pathFailure?.code == .other else { return nil }
        let policy = plan.policies[policy]
        return policy.rule(for: plan.servers[server].endpoint).flatMap { policy.hosts[$0.index].issuerKey }
    }

    /// Returns `true` if the policy asks the user about the server instead of refusing it.
    private func asksUser(_ rejection: TrustRejection, policy: Int) -> Bool {
        guard case .hostNotAllowed = rejection else { return false }
        return plan.policies[policy].unpinnedHosts == .askUser
    }

    /// Ends the lock-out of the version that was appended last.
    private func end(_ current: inout Int?, in found: inout [LockOut], at instant: Date) {
        guard let index = current else { return }
        found[index].victims[found[index].victims.count - 1].until = instant
        current = nil
    }

    // MARK: Stolen keys

    /// Returns the versions that would accept a thief with a stolen key, for as long as the certificate for that key is
    /// valid.
    func exposures() -> [Exposure] {
        var found: [Exposure] = []
        for (index, key) in plan.keys.enumerated() {
            guard let stolen = key.compromised else { continue }
            for (number, certificate) in plan.certificates.enumerated() where certificate.keys.first == index {
                for server in plan.servers.indices
                where plan.servers[server].switches.contains(where: { $0.certificate == number }) {
                    found += exposure(of: server, key: index, certificate: number, from: stolen).map { [$0] } ?? []
                }
            }
        }
        // Two authorities may have signed for one key. Where both expose the same versions, the first is enough.
        return found.enumerated().filter { index, exposure in
            !found[..<index].contains { isSame($0.server, exposure.server) && $0.isAlike(exposure) }
        }.map(\.element)
    }

    private func exposure(of server: Int, key: Int, certificate: Int, from stolen: Date) -> Exposure? {
        let endpoint = plan.servers[server].endpoint
        let always = [RotationPlan.Server.Switch(from: .distantPast, certificate: certificate)]
        let phases = policies.map { Self.phases(of: endpoint, always, under: $0, plan, from: now) }
        var first: Date?
        var apps: Set<Int> = []
        var end: Date?
        for (index, instant) in instants.enumerated() where instant >= stolen {
            let fooled = plan.apps.indices.filter { app in
                possiblePolicies(ofApp: app, at: index).contains { policy in
                    phases[policy].last(before: instant).map { phases[policy][$0].decision?.isTrusted == true } ?? false
                }
            }
            apps.formUnion(fooled)
            if !fooled.isEmpty {
                first = first ?? instant
                end = nil
            } else if first != nil, end == nil {
                end = instant
            }
        }
        guard let first else { return nil }
        return Exposure(
            server: server, certificate: certificate, key: key, from: first, until: end, apps: apps.sorted())
    }
}
