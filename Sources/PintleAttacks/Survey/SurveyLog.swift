internal import Pintle
internal import PintleTestKit
internal import Synchronization

/// The hosts that a client asked for in a survey, and the interceptors that its next connections meet. Threads may
/// share it.
package final class SurveyLog: Sendable {
    /// A host and port.
    struct Endpoint: Sendable, Hashable {
        /// As a ``ServerName`` spells it, or else in lower case, without a dot at its end.
        let name: String
        let port: UInt16

        init(_ host: String, _ port: UInt16) {
            name = (try? ServerName(host))?.description ?? Proxy.normalized(host)
            self.port = port
        }

        /// Returns the host of a connection. A client that looks names up by itself asks a proxy for an address, and
        /// tells the name only in its ClientHello.
        func named(_ serverName: String?) -> Endpoint {
            guard let serverName, case .ip = CertificateTemplate.GeneralName.host(name) else { return self }
            return Endpoint(serverName, port)
        }
    }

    /// The turns of one host with the interceptors, or of one stack there.
    private struct Turns {
        var round = -1
        var issuer = SurveyAuthorities.Issuer.known
        var counts: [SurveyAuthorities.Issuer: Int] = [:]

        /// The interceptor of the next round. First the known authority, so that a client of a single connection meets
        /// it, and at the end too, so that the client's flow goes on.
        var next: SurveyAuthorities.Issuer {
            counts[.known, default: 0] >= SurveyedHost.quota && counts[.unknown, default: 0] < SurveyedHost.quota
                ? .unknown : .known
        }

        var areOver: Bool {
            SurveyAuthorities.Issuer.allCases.allSatisfy { counts[$0, default: 0] >= SurveyedHost.quota }
        }
    }

    private struct Entry {
        var host: SurveyedHost
        var turns: [ClientHello?: Turns] = [:]
    }

    /// The server that a connection over TLS meets.
    struct Meeting: Sendable {
        let endpoint: Endpoint
        let hello: ClientHello
        /// The authority of the interceptor; `nil` for the right server.
        let issuer: SurveyAuthorities.Issuer?
        let round: Int
    }

    /// The only host of a run that meets an interceptor, and its authority.
    private struct Target: Hashable {
        let endpoint: Endpoint
        let issuer: SurveyAuthorities.Issuer
    }

    private struct State {
        var visits = SurveyVisits()
        /// `nil` if every host meets an interceptor.
        var target: Target?
        /// The number of runs with each target.
        var targetCounts: [Target: Int] = [:]
        var entries: [Endpoint: Entry] = [:]
        /// The endpoints in the order in which the client asked for them.
        var order: [Endpoint] = []
        /// The hashes of endpoints that are not in ``entries``.
        var others: Set<Int> = []
        var round = 0
        /// A Boolean value that indicates whether a host met an interceptor in this round that it still had to meet.
        var madeProgress = false
        var events: [Event] = []
        var unreadableCount = 0
        var isEnding = false
        var isCutting = false

        mutating func hasRoom(for endpoint: Endpoint) -> Bool {
            if entries[endpoint] != nil || entries.count < SurveyLog.hostLimit { return true }
            if others.count < SurveyLog.otherLimit { others.insert(endpoint.hashValue) }
            return false
        }

        /// Returns what is known of a host; `nil` if there are too many.
        mutating func entry(for endpoint: Endpoint) -> Entry? {
            guard hasRoom(for: endpoint) else { return nil }
            if let entry = entries[endpoint] { return entry }
            order.append(endpoint)
            return Entry(host: SurveyedHost(name: endpoint.name, port: endpoint.port))
        }
    }

    /// One finished connection, to be printed.
    package struct Event: Sendable {
        package let authority: String
        package let words: String
    }

    /// The most hosts that are surveyed.
    package static let hostLimit = 1_000
    /// The most other hosts that are told apart.
    private static let otherLimit = 100_000
    private static let eventLimit = 1_000
    /// A Boolean value that indicates whether each run of the client is a round. Without runs, each connection is one,
    /// and the stacks of a host take turns of their own.
    private let hasRuns: Bool
    private let state = Mutex(State())
    /// The named hosts, which have right servers.
    private let named: Set<Endpoint>
    /// The most runs in which only one host meets an interceptor of one authority.
    private static let targetLimit = 2

    init(hasRuns: Bool, named: Set<Endpoint> = []) { (self.hasRuns, self.named) = (hasRuns, named) }

    /// Returns whether the host is surveyed. Hosts beyond the limit are counted only.
    func hasRoom(for endpoint: Endpoint) -> Bool { state.withLock { $0.hasRoom(for: endpoint) } }

    /// Returns the authority that the client's connection meets. All connections of a round meet the same one, because
    /// two stacks of a client would otherwise each meet only one.
    func next(at endpoint: Endpoint, _ hello: ClientHello) -> Meeting {
        state.withLock { state in
            let issuer =
                if let target = state.target {
                    target.endpoint == endpoint ? target.issuer : named.contains(endpoint) ? nil : .known
                } else {
                    nextIssuer(at: endpoint, hello, &state)
                }
            return Meeting(endpoint: endpoint, hello: hello, issuer: issuer, round: state.round)
        }
    }

    private func nextIssuer(
        at endpoint: Endpoint, _ hello: ClientHello, _ state: inout State
    ) -> SurveyAuthorities.Issuer? {
        guard var entry = state.entry(for: endpoint) else { return .unknown }
        let isFull = entry.turns.count >= SurveyedHost.limit && entry.turns[hello] == nil
        let stack = hasRuns || isFull ? nil : hello
        var turns = entry.turns[stack] ?? Turns()
        if !hasRuns || turns.round != state.round {
            if !turns.areOver { state.madeProgress = true }
            (turns.round, turns.issuer) = (state.round, turns.next)
            turns.counts[turns.issuer, default: 0] += 1
        }
        entry.turns[stack] = turns
        state.entries[endpoint] = entry
        return turns.issuer
    }

    /// A Boolean value that indicates whether the client's next connection to a host meets another authority.
    func isReplaced(at endpoint: Endpoint) -> Bool {
        // In a run, all connections meet the same authority.
        !hasRuns && state.withLock { $0.entries[endpoint]?.turns.values.contains { !$0.areOver } ?? false }
    }

    /// Begins the next run of the client. Returns `false` if the last one brought nothing that was still missing.
    package func beginRound() -> Bool {
        state.withLock { state in
            defer { (state.round, state.madeProgress) = (state.round + 1, false) }
            state.isCutting = false
            return state.round == 0
                || state.madeProgress && state.entries.values.contains { $0.turns.values.contains { !$0.areOver } }
        }
    }

    /// Begins a run in which only one host meets an interceptor: one whose connections the client may have given up, or
    /// not begun, because it was refused another host. Named hosts meet their right server then, and others the known
    /// authority.
    ///
    /// - Returns: `false` if there is no such host.
    package func beginTargetedRound(
        acceptingRightServer accepted: Set<String> = [], inSilence silent: Set<String> = []
    ) -> Bool {
        let hosts = hosts(acceptingRightServer: accepted, inSilence: silent)
        return state.withLock { state in
            let unmet = named.filter { host in
                state.entries[host] == nil && accepted.contains(Proxy.authority(host.name, host.port))
            }
            let targets =
                hosts.flatMap { host in
                    SurveyAuthorities.Issuer.allCases.filter(host.isUndecided).map {
                        Target(endpoint: Endpoint(host.name, host.port), issuer: $0)
                    }
                } + unmet.map { Target(endpoint: $0, issuer: .known) }
            let counts = state.targetCounts
            guard let target = targets.first(where: { counts[$0, default: 0] < Self.targetLimit }) else { return false }
            state.targetCounts[target, default: 0] += 1
            (state.target, state.round, state.isCutting) = (target, state.round + 1, false)
            return true
        }
    }

    /// Marks that the tool kills the client of this round. Connections that end from now on say nothing about it.
    package func cutRound() { state.withLock { $0.isCutting = true } }

    func update(_ endpoint: Endpoint, _ words: String, _ change: (inout SurveyedHost) -> Void) {
        state.withLock { state in
            guard var entry = state.entry(for: endpoint) else { return }
            change(&entry.host)
            state.entries[endpoint] = entry
            guard !state.isEnding, state.events.count < Self.eventLimit else { return }
            state.events.append(Event(authority: Proxy.authority(endpoint.name, endpoint.port), words: words))
        }
    }

    /// Adds a connection over TLS.
    func add(_ record: TLSConnectionRecord, _ met: Meeting, _ requests: [String]) {
        let (end, span) = (ConnectionEnd(record), ConnectionSpan(record))
        var visit = SurveyVisits.Visit(
            endpoint: met.endpoint, hello: met.hello, issuer: met.issuer, round: met.round, span: span,
            isAnswered: record.requestByteCount > 0, end: end)
        if let begin = record.begin, let first = record.firstRequest {
            visit.decision = begin.duration(to: first) / .seconds(1)
        }
        state.withLock { $0.visits.append(visit) }
        guard let issuer = met.issuer else { return }
        update(met.endpoint, "\(issuer.rawValue) authority: \(visit.words)") { host in
            host.add(requests, byteCount: record.requestByteCount)
        }
    }

    /// Adds a connection without an answer that was not TLS, or that the tool ended.
    func addUnanswered(at endpoint: Endpoint, since begin: ContinuousClock.Instant) {
        state.withLock { state in
            state.visits.append(
                SurveyVisits.Visit(
                    endpoint: endpoint, hello: nil, issuer: nil, round: state.round,
                    span: ConnectionSpan(begin: begin, end: .now), isAnswered: false,
                    end: ConnectionEnd(manner: .silence, isAfterFinished: false)))
        }
    }

    /// Adds a request that the client sent to the proxy itself.
    func add(_ request: LoopbackProxy.ClearRequest) {
        let endpoint = Endpoint(request.host, request.port)
        update(endpoint, "a request for \(request.scheme.prefix(16)) without TLS") { host in
            host.plainCount += 1
            host.requestByteCount += request.byteCount
        }
    }

    func addUnreadable() { state.withLock { $0.unreadableCount += 1 } }

    /// The number of requests to the proxy itself that name no host it understands.
    package var unreadableCount: Int { state.withLock { $0.unreadableCount } }

    /// Returns the events since the last call.
    package func removeEvents() -> [Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Marks the end. Connections without a result that end from now on were ended by the survey.
    package func end() { state.withLock { $0.isEnding = true } }

    /// A Boolean value that indicates whether connections end because of the tool, and not because of the client.
    var isCutting: Bool { state.withLock { $0.isEnding || $0.isCutting } }

    /// The number of hosts that were asked for and not surveyed, because there were too many.
    package var unsurveyedCount: Int { state.withLock { $0.others.count } }

    /// Returns the hosts in the order in which the client asked for them first.
    ///
    /// - Parameters:
    ///   - accepted: The hosts at which the client accepted the right server, as ``SurveyedHost/authority``.
    ///   - silent: Those of them whose right server got no request.
    ///   - refused: The hosts at which it did not accept the right server.
    package func hosts(
        acceptingRightServer accepted: Set<String> = [], inSilence silent: Set<String> = [],
        notAccepting refused: Set<String> = []
    ) -> [SurveyedHost] {
        let (visits, order, entries) = state.withLock { ($0.visits, $0.order, $0.entries) }
        var hosts = entries.mapValues(\.host)
        for (endpoint, host) in hosts {
            hosts[endpoint]?.isHandshakeOnly = silent.contains(host.authority)
            hosts[endpoint]?.hasFailedControl = refused.contains(host.authority)
        }
        visits.complete(&hosts, hasRuns: hasRuns, accepted: accepted)
        return order.compactMap { hosts[$0] }
    }
}
