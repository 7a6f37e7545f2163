internal import Pintle
internal import PintleSystem

/// A pin of a server, and the observations that it matched.
struct PinStatus {
    enum State: String {
        /// The newest observation shows the pinned key or certificate.
        case alive
        /// An earlier observation shows it, and the newest does not.
        case died
        /// An earlier observation shows it, and the newest was decided without it. Only without a policy.
        case retired
        /// No observation shows it. Only with a policy.
        case unseen
    }

    let pin: Pin
    /// A Boolean value that indicates whether the policy has it as a backup; `nil` without a policy.
    let isBackup: Bool?
    /// The rule that has the pin.
    let rule: String?
    let state: State
    /// The first and the last observation that shows it.
    let firstSeen: Date?
    let lastSeen: Date?
    /// The observation after ``lastSeen``; `nil` for a pin that is alive.
    let missingSince: Date?

    /// Judges a pin by every observation.
    ///
    /// - Parameter isPolicy: `true` for a pin of a policy, which dies as soon as it is gone. A pin of earlier results
    ///   dies
    ///   only if the newest result with another path found no pin of its rule.
    fileprivate init(_ pin: Pin, isBackup: Bool?, rule: String?, isPolicy: Bool, _ observations: [KeyObservation]) {
        (self.pin, self.isBackup, self.rule) = (pin, isBackup, rule)
        var shown: (first: Int, last: Int)?
        var isShown = false
        var path: ObservedPath?
        for (index, observation) in observations.enumerated() {
            if observation.path !== path { isShown = observation.path.shows(pin) }
            path = observation.path
            if isShown { shown = (shown?.first ?? index, index) }
        }
        firstSeen = shown.map { observations[$0.first].instant }
        lastSeen = shown.map { observations[$0.last].instant }
        guard let shown else {
            (state, missingSince) = (.unseen, nil)
            return
        }
        let next = shown.last + 1
        missingSince = observations.indices.contains(next) ? observations[next].instant : nil
        if missingSince == nil {
            state = .alive
        } else {
            state = isPolicy || observations.last?.isMismatch == true ? .died : .retired
        }
    }
}

/// The pins of one server, judged by its history.
struct PinStatuses {
    /// In the policy's order, or without a policy in the order in which they first matched.
    let pins: [PinStatus]
    /// The rule of the policy; `nil` without one.
    let rule: String?
    /// A Boolean value that indicates whether the newest observation shows enough pins to be trusted.
    let isServed: Bool

    var died: [PinStatus] { pins.filter { $0.state == .died } }

    /// The pins of earlier results that are judged without a policy, at most: the newest ones of a server.
    static let mostPins = 100

    /// Judges the pins of the policy's rule; without a policy, the pins that matched in the history itself.
    init(_ history: KeyHistory, by policy: PinningPolicy?) {
        let observations = history.observations
        guard let policy else {
            var matches: [KeyObservation.Match] = []
            for match in observations.reversed().compactMap(\.match) where matches.last !== match {
                if matches.count < Self.mostPins, !matches.contains(where: { $0.pin == match.pin }) {
                    matches.append(match)
                }
            }
            pins = matches.reversed().map {
                PinStatus($0.pin, isBackup: nil, rule: $0.rule, isPolicy: false, observations)
            }
            rule = nil
            isServed = observations.last?.isMismatch != true
            return
        }
        guard let matched = policy.rule(for: history.server.endpoint) else {
            (pins, rule, isServed) = ([], nil, true)
            return
        }
        let host = policy.hosts[matched.index]
        rule = matched.pattern
        pins = (host.pins.map { ($0, false) } + host.backupPins.map { ($0, true) }).map { pin, isBackup in
            PinStatus(pin, isBackup: isBackup, rule: matched.pattern, isPolicy: true, observations)
        }
        let alive = pins.filter { $0.state == .alive }
        switch host.requires {
        case .anyPin: isServed = pins.isEmpty || !alive.isEmpty
        case .leafAndCA:
            let path = observations.last?.path
            isServed =
                alive.contains { path?.shows(Pin($0.pin.subject, at: .leaf)) == true && $0.pin.position != .ca }
                && alive.contains { path?.shows(Pin($0.pin.subject, at: .ca)) == true && $0.pin.position != .leaf }
        }
    }
}
