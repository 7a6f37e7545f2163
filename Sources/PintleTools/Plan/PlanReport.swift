internal import FoundationEssentials
internal import Pintle
internal import PintleUpdates

/// What a plan leads to, in sentences: for people, for scripts and for the page alike.
struct PlanReport {
    let simulation: PlanSimulation
    let tolerance: UserShare
    let lockOuts: [LockOut]
    let exposures: [Exposure]
    let advice: [PlanAdvice]
    /// The most users that any server loses at a time, and when and which.
    let worst: (share: UserShare, at: Date, server: Int)?

    var plan: RotationPlan { simulation.plan }
    /// Whether a server loses more users than are tolerated.
    var isLockedOut: Bool { worst.map { $0.share > tolerance } ?? false }

    init(_ simulation: PlanSimulation, tolerance: UserShare) {
        self.simulation = simulation
        self.tolerance = tolerance
        lockOuts = simulation.lockOuts()
        exposures = simulation.exposures()
        let losses = Set(lockOuts.map(\.server)).sorted().map { server in
            var worst = (share: UserShare.none, at: simulation.now, server: server)
            for (index, instant) in simulation.instants.enumerated() {
                let share = simulation.lockedOut(
                    ofServer: server, apps: simulation.plan.apps.indices, during: index)
                if share > worst.share { (worst.share, worst.at) = (share, instant) }
            }
            return worst
        }
        // The first of them, where several lose as many.
        worst = losses.reduce(nil) { worst, loss in loss.share > worst?.share ?? .none ? loss : worst }
        let serious = Set(losses.filter { $0.share > tolerance }.map(\.server))
        advice = PlanAdviser(simulation, tolerance: tolerance)
            .advice(lockOuts.filter { serious.contains($0.server) }, exposures)
    }

    // MARK: Sentences

    /// `2026-11-20 to 2027-12-01`
    var span: String { "\(PlanTime.day(simulation.now)) to \(PlanTime.text(plan.until))" }

    /// `from 2027-03-01, 12.4 % of users (versions 2.1, 2.2) cannot connect to api.example.com`
    func sentence(_ lockOut: LockOut) -> String {
        let span = span(from: lockOut.from, until: lockOut.until)
        let peak =
            lockOut.peak.description == lockOut.share.description
            ? "" : ", up to \(lockOut.peak) on \(PlanTime.text(lockOut.peakAt)),"
        return "\(span), \(lockOut.share) of users\(peak) (\(versions(lockOut.victims.map(\.app)))) "
            + "cannot connect to \(plan.servers[lockOut.server].name)"
    }

    /// Why: `pin-mismatch: the server shows "summer" with the key "next", which they do not pin`
    func reason(_ lockOut: LockOut) -> String {
        let certificate = plan.certificates[lockOut.certificate]
        let served = "\"\(certificate.name)\""
        let source = lockOut.update.map { "with update \(plan.updates[$0].version) " } ?? ""
        let what =
            switch (lockOut.rejection, lockOut.pathFailure) {
            case (.pinMismatch, _):
                "the server shows \(served), and \(source)they pin no key on its path: "
                    + certificate.keys.map { "\"\(plan.keys[$0].name)\"" }.joined(separator: ", ")
            case (_, .expired): "the server still shows \(served), which ended \(PlanTime.text(certificate.notAfter))"
            case (_, .notYetValid):
                "the server shows \(served), which is not valid before \(PlanTime.text(certificate.notBefore))"
            case (_, .untrustedRoot): "the server shows \(served), whose root is none of their anchors"
            case (.pinsExpired, _): "their pins are past their date, and the policy then refuses"
            case (.hostNotAllowed, _): "their policy has no rule for the server, and refuses such hosts"
            case (.unknownHost, _): "their policy has no rule for the server, and asks the user about such hosts"
            case (.invalidPath, _):
                "the server shows \(served)" + (lockOut.issuerKey.map { issuer(certificate, $0) } ?? "")
            }
        return (lockOut.pathFailure.map { "\(lockOut.reason) (\($0.rawValue))" } ?? lockOut.reason) + ": " + what
    }

    /// `, issued by the key "root", and their rule's issuerKey is sha256/... (key "old root")`
    private func issuer(_ certificate: RotationPlan.Certificate, _ required: PublicKeyPin) -> String {
        let served = certificate.keys.dropFirst().first.map { ", issued by the key \"\(plan.keys[$0].name)\"," } ?? ""
        let name = plan.keys.first { $0.pin == required }.map { " (key \"\($0.name)\")" } ?? ""
        return "\(served) and their rule's issuerKey is \(required)\(name)"
    }

    func sentence(_ exposure: Exposure) -> String {
        let span = span(from: exposure.from, until: exposure.until)
        let left = exposure.until == nil ? ", at the end still \(exposure.lastShare)," : ""
        return "\(span), \(exposure.share) of users\(left) (\(versions(exposure.apps))) take whoever has the stolen "
            + "key \"\(plan.keys[exposure.key].name)\" for \(plan.servers[exposure.server].name)"
    }

    func versions(_ apps: [Int]) -> String {
        let names = apps.map { plan.apps[$0].version }
        return (names.count == 1 ? "version " : "versions ") + names.joined(separator: ", ")
    }

    private func span(from start: Date, until end: Date?) -> String {
        let from = start == simulation.now ? "already on \(PlanTime.day(start))" : "from \(PlanTime.text(start))"
        return end.map { "\(from) until \(PlanTime.text($0))" } ?? from
    }
}

/// Where nobody is locked out because nothing is looked at: that is no rehearsal of a rotation.
extension PlanReport {
    /// The verdict where it is good.
    var fineWords: String {
        let rest = lockOuts.isEmpty ? "nobody is locked out" : "no more than \(tolerance) of users"
        return gaps.isEmpty ? rest : "\(rest), but not everything is checked: see the notes"
    }

    /// By server: what is served too late, what no rule covers, what has expired, what is reported only.
    var gaps: [String] {
        plan.servers.indices.flatMap { server in
            [unserved(server)].compactMap(\.self) + unchecked(server)
        }
    }

    private func unserved(_ server: Int) -> String? {
        guard let first = plan.servers[server].switches.first?.from, first > simulation.now else { return nil }
        let name = plan.servers[server].name
        return first < plan.until
            ? "nothing is served by \(name) before \(PlanTime.text(first)): nothing is said about it until then"
            : "nothing is served by \(name) in the plan: it begins on \(PlanTime.text(first)), after the end"
    }

    /// Whom the server is not pinned for, in the order of time.
    private func unchecked(_ server: Int) -> [String] {
        struct Gap: Hashable {
            let reason: String
            let meaning: String
            let from: Date
        }
        var apps: [Gap: [Int]] = [:]
        var updates: [Gap: [Int]] = [:]
        for policy in plan.policies.indices {
            let users = plan.apps.indices.filter { index in
                plan.apps[index].policy == policy && plan.apps[index].share.points.contains { $0.share > .none }
            }
            let bringers = plan.updates.indices.filter { plan.updates[$0].policy == policy }
            var reasons: Set<String> = []
            for phase in simulation.phases[server][policy] {
                guard case .trusted(let basis) = phase.decision, let meaning = Self.meaning(of: basis),
                    reasons.insert(basis.reason).inserted
                else { continue }
                let gap = Gap(reason: basis.reason, meaning: meaning, from: phase.from)
                if !users.isEmpty { apps[gap, default: []] += users }
                if !bringers.isEmpty { updates[gap, default: []] += bringers }
            }
        }
        return Set(apps.keys).union(updates.keys).sorted { ($0.from, $0.reason) < ($1.from, $1.reason) }.map { gap in
            let who =
                (apps[gap].map { [versions($0.sorted())] } ?? [])
                + (updates[gap] ?? []).sorted().map { "update \(plan.updates[$0].version)" }
            let since = gap.from == simulation.now ? "" : "from \(PlanTime.text(gap.from)) on, "
            return "\(since)\(who.joined(separator: " and ")): \(gap.meaning) \(plan.servers[server].name)"
        }
    }

    /// Returns what it means for a rotation that a server is trusted for this reason; `nil` where its pins were looked at
    /// and one matched, or a person has approved it.
    private static func meaning(of basis: TrustBasis) -> String? {
        switch basis {
        case .hostNotPinned: "no rule, so that any key passes for"
        case .pinsExpired: "pins that have expired, so that any key passes for"
        case .mismatchReportedOnly: "a rule that only reports, so that a key which is not pinned passes for"
        case .pinMatched, .userApproved: nil
        }
    }

    /// A day as `notAfter` is its first second; people who write one mean its last.
    var lastDays: [String] {
        plan.servers.flatMap { server in
            zip(server.switches, server.switches.dropFirst()).compactMap { before, after in
                let certificate = plan.certificates[before.certificate]
                let end = certificate.notAfter
                guard end == end.startOfDay, after.from >= end, after.from <= end.addingDays(1), end >= simulation.now
                else { return nil }
                let day = PlanTime.day(end)
                return
                    "\"\(certificate.name)\" ends with the first second of \(day), and \(server.name) switches from it on "
                    + "\(PlanTime.text(after.from)): if that day is its last good one, write \"\(day)T23:59:59Z\""
            }
        }
    }
}

/// What else whoever reads the report should know.
extension PlanReport {
    /// What an app does with each update: `update 8, published 2027-02-15: taken by versions 2.1, 2.2`
    var updateLines: [String] {
        plan.updates.enumerated().map { number, update in
            let takers = plan.apps.indices.filter { simulation.refusals[$0][number] == nil }
            var parts = [takers.isEmpty ? "no version takes it" : "taken by \(versions(takers))"]
            var reasons: [String: [Int]] = [:]
            for app in plan.apps.indices {
                guard let refusal = simulation.refusals[app][number] else { continue }
                reasons[Self.text(of: refusal), default: []].append(app)
            }
            parts += reasons.sorted { $0.value[0] < $1.value[0] }.map { "not by \(versions($0.value)): \($0.key)" }
            return "update \(update.version), published \(PlanTime.text(update.published)): "
                + parts.joined(separator: "; ")
        }
    }

    static func text(of refusal: PlanSimulation.UpdateRefusal) -> String {
        switch refusal {
        case .fetchesNone: "fetches none"
        case .failure(let failure): "\(failure.code), \(failure)"
        case .replaced: "replaced before the release"
        }
    }

    var notes: [String] {
        gaps + lastDays + stolenSpares
            + [unnamedUsers, unknownCertificatePins, stolenAuthorities, restOfAdvice].compactMap(\.self)
    }

    /// Whoever has the key of an authority makes certificates that no plan knows of.
    private var stolenAuthorities: String? {
        let leaves = Set(plan.certificates.compactMap(\.keys.first))
        let authorities = Set(plan.certificates.flatMap { $0.keys.dropFirst() }).subtracting(leaves)
        let names = authorities.sorted().filter { plan.keys[$0].compromised != nil }
            .map { "\"\(plan.keys[$0].name)\"" }
        guard !names.isEmpty else { return nil }
        return "\(names.joined(separator: ", ")): what a stolen key signs is not played through, only what it serves"
    }

    /// Stolen keys that no certificate of the plan is for, and that are pinned.
    private var stolenSpares: [String] {
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
                + "\(versions(apps)) \(apps.count == 1 ? "pins" : "pin") it: leave it out of the pins, and never serve it"
        }
    }

    private var restOfAdvice: String? {
        let rest = lockOuts.count - PlanAdviser.maximumLockOuts
        return isLockedOut && rest > 0
            ? "advice is given about the first \(PlanAdviser.maximumLockOuts) lock-outs, not about the last \(rest)"
            : nil
    }

    private var unnamedUsers: String? {
        var most: (share: UserShare, at: Date)?
        for instant in simulation.instants {
            let sum = plan.apps.reduce(UserShare.none) { $0 + $1.share(at: instant) }
            if sum.rest > most?.share ?? .none { most = (sum.rest, instant) }
        }
        guard let most, most.share.units >= 100 else { return nil }
        return "up to \(most.share) of users, on \(PlanTime.text(most.at)), have versions that the plan does not name: "
            + "nothing is said about them"
    }

    /// Pins of whole certificates can only be followed where the plan has their fingerprints.
    private var unknownCertificatePins: String? {
        let known = Set(plan.certificates.compactMap(\.fingerprint))
        let apps = plan.apps.indices.filter { index in
            let policy = plan.policies[plan.apps[index].policy]
            return plan.servers.contains { server in
                guard let rule = policy.rule(for: server.endpoint) else { return false }
                let host = policy.hosts[rule.index]
                return (host.pins + host.backupPins).contains { pin in
                    guard case .certificate(let pin) = pin.subject else { return false }
                    return !known.contains(pin)
                }
            }
        }
        guard !apps.isEmpty else { return nil }
        return
            "\(versions(apps)): pins of certificates that the plan has no \"fingerprint\" of are taken to match nothing"
    }
}

/// How many users of each version a server is refused to, over the time of a simulation.
struct PlanLosses {
    /// By app and sample: two of these for each instant, at it and half-way to the next.
    let shares: [[UserShare]]

    private func total(_ sample: Int) -> UserShare { shares.reduce(.none) { $0 + $1[sample] } }

    /// The most of all versions together from an instant to the next.
    func total(during index: Int) -> UserShare { max(total(2 * index), total(2 * index + 1)) }

    /// Whether some lose less than in `other`, and none more.
    func isBetter(than other: PlanLosses) -> Bool { !isWorse(than: other) && other.isWorse(than: self) }

    /// Whether a version loses more at some time than it does in `other`.
    func isWorse(than other: PlanLosses) -> Bool {
        zip(shares, other.shares).contains { own, other in zip(own, other).contains { $0 > $1 } }
    }

    /// Versions that lose more than they do in `other` while all together lose more than is tolerated.
    func losers(against other: PlanLosses, tolerance: UserShare) -> [Int] {
        let serious = (shares.first ?? []).indices.filter { total($0) > tolerance }
        return shares.indices.filter { app in serious.contains { shares[app][$0] > other.shares[app][$0] } }
    }
}
