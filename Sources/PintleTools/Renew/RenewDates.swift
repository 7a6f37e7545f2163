internal import Pintle
internal import PintleSystem

/// The dates of a proposal, from simulations of small plans: `pintle plan` decides, with the certificate that the
/// server shows now and one that it may show before or after it.
struct RenewDates {
    private let rule: PinnedHost
    private let server: MatchedServer
    private let now: Date

    /// - Parameter rule: the rule of the current policy.
    init(_ rule: PinnedHost, _ server: MatchedServer, now: Date) {
        (self.rule, self.server, self.now) = (rule, server, now)
    }

    private var validity: Validity { server.leaf.validity }

    /// Returns the day by which to publish an update with another pin. Apps with the current policy then have it when
    /// the server's certificate ends. The result is `nil` if they would connect without the pin.
    ///
    /// - Throws: an error if libcrypto makes no certificates.
    func publication(of pin: PublicKeyPin) throws(ToolError) -> Date? {
        guard rule.enforcement == .enforce else { return nil }
        let start = max(now, validity.notAfter.startOfDay)
        let next = RotationPlan.Certificate(
            name: "next", keys: [], notBefore: now, notAfter: start.addingDays(Self.days))
        let simulation = try simulation(
            of: rule, keys: [pin], other: next, switches: [(validity.notBefore, false), (start, true)], from: now,
            until: next.notAfter)
        let lockOuts = simulation.lockOuts()
        let advice = PlanAdviser(simulation).advice(lockOuts, [])
        if let by = advice.first(where: { $0.kind == .publishUpdate && $0.pin == pin })?.by { return by }
        // The adviser builds no update for a rule that requires two kinds of pins. The time to reach users is the same.
        return lockOuts.first.map { max(now, $0.from.addingDays(-RotationPlan.defaultDaysToFetch).startOfDay) }
    }

    /// Returns the first day on which a pin that matches nothing on the server's path is not needed any more.
    ///
    /// A certificate that this one replaced was renewed after two thirds of its life, as ACME clients do. So it has
    /// ended a third of a life after this one began, and no machine of the server shows it any more.
    ///
    /// - Parameter next: the rule without the pin.
    /// - Returns: `nil` if apps without the pin would still be locked out then.
    func removal(of pin: Pin, leaving next: PinnedHost) throws(ToolError) -> Date? {
        let life = validity.notAfter.wholeSeconds - validity.notBefore.wholeSeconds
        let end = Date(wholeSeconds: validity.notBefore.wholeSeconds + max(0, life) / 3)
        let previous = RotationPlan.Certificate(
            name: "previous", keys: [], notBefore: validity.notBefore.addingDays(-Self.days), notAfter: end)
        guard let key = pin.key else { return PlanAdviser.withdrawalDay(after: end) }
        let simulation = try simulation(
            of: next, keys: [key], other: previous,
            switches: [(previous.notBefore, true), (end, false)], from: validity.notBefore,
            until: max(validity.notAfter, end.addingDays(1)))
        let lockOuts = simulation.lockOuts()
        guard lockOuts.allSatisfy({ $0.until != nil }) else { return nil }
        return PlanAdviser.withdrawalDay(after: lockOuts.compactMap(\.until).max() ?? end)
    }

    /// The days that a plan goes on after the certificate's end.
    private static let days = 60

    /// Simulates a rule with one version of the app and two certificates: that of the server, and another.
    ///
    /// - Parameters:
    ///   - keys: the path of the other certificate. Authorities are left out, so that only its own key can match.
    ///   - switches: the instants, each with `true` for the other certificate.
    private func simulation(
        of rule: PinnedHost, keys: [PublicKeyPin], other: RotationPlan.Certificate, switches: [(Date, Bool)],
        from start: Date, until end: Date
    ) throws(ToolError) -> PlanSimulation {
        var host = PinnedHost(unchecked: rule.host)
        (host.port, host.includesSubdomains) = (rule.port, rule.includesSubdomains)
        (host.pins, host.backupPins, host.requires) = (rule.pins, rule.backupPins, rule.requires)
        host.backupRequirement = rule.backupPins.isEmpty ? .noneAccepted : .required
        let policy: PinningPolicy
        do {
            policy = try PinningPolicy(hosts: [host])
        } catch {
            throw ToolError(error, file: "policy")
        }
        var pins: [PublicKeyPin] = []
        func index(_ pin: PublicKeyPin) -> Int {
            if let known = pins.firstIndex(of: pin) { return known }
            pins.append(pin)
            return pins.count - 1
        }
        let shown = RotationPlan.Certificate(
            name: "current", keys: server.path.compactMap { $0.certificate?.publicKeyPin }.map(index),
            notBefore: validity.notBefore, notAfter: max(validity.notAfter, end),
            fingerprint: server.path.first.map { CertificatePin(certificate: $0.der) })
        var second = other
        second.keys = keys.map(index)
        let plan = RotationPlan(
            until: end,
            keys: pins.enumerated().map { RotationPlan.Key(name: "key \($0)", pin: $1) },
            certificates: [shown, second],
            servers: [
                RotationPlan.Server(
                    endpoint: server.endpoint, switches: switches.map { .init(from: $0, certificate: $1 ? 1 : 0) })
            ],
            apps: [
                RotationPlan.App(
                    version: "current", released: start.addingDays(-1), policy: 0, fetchesUpdates: true,
                    share: ShareCurve(points: [.init(at: start, share: .all)]))
            ], updates: [], policies: [policy])
        return try PlanSimulation(plan, now: start)
    }
}
