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

    private struct State {
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

    init(hasRuns: Bool) { self.hasRuns = hasRuns }

    /// Returns whether the host is surveyed. Hosts beyond the limit are counted only.
    func hasRoom(for endpoint: Endpoint) -> Bool { state.withLock { $0.hasRoom(for: endpoint) } }

    /// Returns the authority that the client's connection meets. All connections of a round meet the same one, because
    /// two stacks of a client would otherwise each meet only one.
    func next(at endpoint: Endpoint, _ hello: ClientHello) -> SurveyAuthorities.Issuer {
        state.withLock { state in
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
    /// - Parameter accepted: the hosts at which the client accepted the right server, as ``SurveyedHost/authority``.
    package func hosts(acceptingRightServer accepted: Set<String> = []) -> [SurveyedHost] {
        let hosts = state.withLock { state in state.order.compactMap { state.entries[$0]?.host } }
        // The names of the first two hosts at which a stack accepted the known authority.
        var accepting: [ClientHello: Set<String>] = [:]
        for host in hosts {
            for (hello, stack) in host.stacks where stack.meetings.letThrough > 0 {
                if accepting[hello, default: []].count < 2 { accepting[hello, default: []].insert(host.name) }
            }
        }
        return hosts.map { host in
            var host = host
            let refusing = host.stacks.filter { $0.value.meetings.refused > 0 }
            let knowAuthority =
                refusing.values.reduce(0) { $0 + $1.meetings.refused } == host.known.refused
                && !refusing.values.contains(where: \.doesNotKnowAuthority)
            if knowAuthority, accepted.contains(host.authority) {
                // A client that sends the right server a request, and an interceptor nothing, has refused it.
                host.trustProof = .rightServer
            } else if knowAuthority, !refusing.isEmpty,
                refusing.keys.allSatisfy({ accepting[$0, default: []].contains { $0 != host.name } })
            {
                host.trustProof = .otherHost
            }
            return host
        }
    }
}
