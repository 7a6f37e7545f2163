internal import PintleTestKit

/// The TLS connections of a survey, and the answers that follow from all of them together.
struct SurveyVisits: Sendable {
    /// One connection.
    struct Visit: Sendable {
        let endpoint: SurveyLog.Endpoint
        /// `nil` for a connection that was not TLS.
        let hello: ClientHello?
        /// `nil` for a host that was answered by its right server, or not over TLS.
        let issuer: SurveyAuthorities.Issuer?
        /// The run of the client.
        let round: Int
        let span: ConnectionSpan
        let isAnswered: Bool
        let end: ConnectionEnd
        /// The time until the first byte of a request, in seconds.
        var decision: Double?

        var words: String {
            if isAnswered { return "let through" }
            if end.manner == .silence { return "nothing after the handshake" }
            guard case .alert(let code) = end.manner else { return "ended without an alert or a request" }
            return (end.isRefusal ? "refused" : "ended")
                + ", alert \(LoopbackTLSServer.Alert(isFatal: true, code: code))"
        }
    }

    /// The result of one connection, after a look at the others.
    enum Result {
        case letThrough
        /// The client refused the certificate.
        case refused
        /// The client ended the connection, and nothing shows that it refused the certificate.
        case givenUp
        /// Nothing shows that the client would have sent a request, or that it ended the connection.
        case silent
    }

    private var visits: [Visit] = []
    /// The most connections that are kept, so that a client cannot fill the memory.
    private static let limit = 20_000

    mutating func append(_ visit: Visit) {
        if visits.count < Self.limit { visits.append(visit) }
    }

    /// Fills in what the connections show about hosts.
    ///
    /// - Parameters:
    ///   - hasRuns: `true` if each round is a run of the client.
    ///   - accepted: The hosts whose right server got a request, as ``SurveyedHost/authority``.
    func complete(_ hosts: inout [SurveyLog.Endpoint: SurveyedHost], hasRuns: Bool, accepted: Set<String>) {
        let byHost = Dictionary(grouping: visits.indices.filter { visits[$0].issuer != nil }) { visits[$0].endpoint }
        let byRound = Dictionary(grouping: visits.indices) { hasRuns ? visits[$0].round : 0 }
        let habits = self.habits
        // The names of the first two hosts at which a stack accepted the known authority.
        var accepting: [ClientHello: Set<String>] = [:]
        for visit in visits where visit.isAnswered && visit.issuer == .known {
            guard let hello = visit.hello, accepting[hello, default: []].count < 2 else { continue }
            accepting[hello, default: []].insert(visit.endpoint.name)
        }
        for (endpoint, indices) in byHost {
            guard var host = hosts[endpoint] else { continue }
            let isAccepted = accepted.contains(host.authority)
            let stacks = Dictionary(grouping: indices) { Key(hello: visits[$0].hello, issuer: visits[$0].issuer) }
            for (key, indices) in stacks {
                guard let hello = key.hello, let issuer = key.issuer else { continue }
                let sends = isAccepted || accepting[hello, default: []].contains { $0 != endpoint.name }
                let trials = self.trials(indices, byRound, hasRuns)
                let doubt = Self.doubt(about: trials, habits[hello] ?? ClientHabit(), sends: sends)
                for index in indices {
                    host.add(visits[index], result(of: visits[index], doubt, hasTrials: !trials.isEmpty), hello, issuer)
                }
                if !trials.isEmpty, let doubt { host.doubts[issuer, default: []].append(doubt) }
            }
            host.trustProof = Self.proof(host, isAccepted: isAccepted, accepting)
            hosts[endpoint] = host
        }
    }

    private struct Key: Hashable {
        let hello: ClientHello?
        let issuer: SurveyAuthorities.Issuer?
    }

    /// The known decisions of each stack. The unknown authority is the one that a client must refuse.
    private var habits: [ClientHello: ClientHabit] {
        var habits: [ClientHello: ClientHabit] = [:]
        for visit in visits {
            guard let hello = visit.hello else { continue }
            if let seconds = visit.decision {
                habits[hello, default: .init()].add(acceptance: seconds)
            } else if case .alert(let code) = visit.end.manner, visit.issuer == .unknown || visit.end.isRefusal {
                habits[hello, default: .init()].add(refusal: visit.span.seconds, alert: code)
            }
        }
        return habits
    }

    /// Returns the trials of one stack at one host and authority, oldest first: each run, or without runs each
    /// connection.
    private func trials(_ indices: [Int], _ byRound: [Int: [Int]], _ hasRuns: Bool) -> [Trial] {
        let ended = indices.filter { !visits[$0].isAnswered }
        let rounds = Dictionary(grouping: ended) { hasRuns ? visits[$0].round : $0 }
        return rounds.sorted { $0.key < $1.key }.map { _, indices in
            Trial(
                Set(indices.map { visits[$0].end }), isAlone: indices.allSatisfy { isAlone($0, byRound, hasRuns) },
                seconds: indices.map { visits[$0].span.seconds }.max() ?? 0)
        }
    }

    /// Returns `true` if no connection without an answer can have made the client end this one. In a run, that may also
    /// be one that ended before, because the client then may not go on.
    private func isAlone(_ index: Int, _ byRound: [Int: [Int]], _ hasRuns: Bool) -> Bool {
        let visit = visits[index]
        if visit.end.isRefusal { return true }
        return byRound[hasRuns ? visit.round : 0, default: []].allSatisfy { other in
            let another = visits[other]
            if other == index || another.isAnswered { return true }
            let isSameStack = another.endpoint == visit.endpoint && another.hello == visit.hello
            guard hasRuns, !isSameStack else { return !another.span.overlaps(visit.span) }
            guard let begin = another.span.begin, let end = visit.span.end else { return true }
            return begin > end
        }
    }

    /// Returns the reason why the last trials are no refusal, or `nil` if they are one.
    ///
    /// - Parameter sends: `true` if the client is known to send requests. If not, it may only make handshakes, unless
    ///   it ends the TLS session itself.
    private static func doubt(about trials: [Trial], _ habit: ClientHabit, sends: Bool) -> Evidence.Doubt? {
        if let doubt = Evidence.doubt(about: trials, habit: habit) { return doubt }
        let isUnknown = { (end: ConnectionEnd) in end.isAfterFinished && end.manner == .finish }
        return !sends && trials.last?.ends.contains(where: isUnknown) == true ? .silent(isAfterFinished: true) : nil
    }

    private func result(of visit: Visit, _ doubt: Evidence.Doubt?, hasTrials: Bool) -> Result {
        if visit.isAnswered { return .letThrough }
        if visit.end.isRefusal || doubt == nil { return .refused }
        if visit.end.manner == .silence { return .silent }
        if case .silent = doubt { return .silent }
        return .givenUp
    }

    private static func proof(
        _ host: SurveyedHost, isAccepted: Bool, _ accepting: [ClientHello: Set<String>]
    ) -> SurveyedHost.TrustProof? {
        let refusing = host.stacks.filter { $0.value.meetings.refused > 0 }
        guard !refusing.isEmpty,
            refusing.values.reduce(0, { $0 + $1.meetings.refused }) == host.known.refused,
            !refusing.values.contains(where: \.doesNotKnowAuthority)
        else { return nil }
        // A client that sends the right server a request, and an interceptor nothing, has refused it.
        if isAccepted || host.isHandshakeOnly && host.alertRefusalCount == host.known.refused { return .rightServer }
        // A client that gives up at the right server too proves nothing by giving up.
        guard !host.hasFailedControl else { return nil }
        return refusing.keys.allSatisfy { accepting[$0, default: []].contains { $0 != host.name } } ? .otherHost : nil
    }
}

extension SurveyedHost {
    fileprivate mutating func add(
        _ visit: SurveyVisits.Visit, _ result: SurveyVisits.Result, _ hello: ClientHello,
        _ issuer: SurveyAuthorities.Issuer
    ) {
        guard issuer == .known else { return unknown.add(result) }
        known.add(result)
        var alert: LoopbackTLSServer.Alert?
        if case .alert(let code) = visit.end.manner { alert = .init(isFatal: true, code: code) }
        if case .refused = result {
            if visit.end.isAfterFinished { lateRefusalCount += 1 }
            if visit.end.isRefusal { alertRefusalCount += 1 }
            if let alert { alerts.append(alert, limit: Self.limit) }
        }
        guard stacks[hello] != nil || stacks.count < Self.limit else { return }
        stacks[hello, default: .init()].add(result, alert)
    }
}
