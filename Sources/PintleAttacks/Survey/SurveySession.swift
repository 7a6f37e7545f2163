internal import PintleTestKit
internal import Synchronization

/// One connection of a surveyed client to a host.
struct SurveySession: Sendable {
    let endpoint: SurveyLog.Endpoint
    let log: SurveyLog
    let authorities: SurveyAuthorities
    let answers: SurveyAnswers
    let service: TLSService
    /// The credentials of the right servers of named hosts.
    let rightServers: [SurveyLog.Endpoint: TLSCredential]
    private let begin = ContinuousClock.now

    /// The content type of a TLS handshake record (RFC 8446 section 5.1).
    private static let handshake: UInt8 = 0x16

    /// Serves the connection to its end.
    func serve(_ connection: TCPConnection, _ firstBytes: [UInt8]) {
        var bytes = firstBytes
        // The client may end the connection, or wait for the server to speak first.
        while ForeignProtocol.isUndecided(bytes), let more = try? connection.read(upTo: 4_096), !more.isEmpty {
            bytes += more
        }
        if isCut(connection), ForeignProtocol.lacksWord(bytes) { return addUnfinished(at: endpoint) }
        guard let first = bytes.first else {
            return log.update(endpoint, "gave up before TLS") { $0.emptyCount += 1 }
        }
        if first == Self.handshake { return serveTLS(connection, bytes) }
        if ForeignProtocol.isHTTP2(bytes) {
            return log.update(endpoint, "HTTP/2 without TLS") { host in
                host.plainCount += 1
                host.add(["HTTP/2"], byteCount: bytes.count)
            }
        }
        guard ForeignProtocol.isHTTP(bytes) else { return addOther(ForeignProtocol.name(bytes), at: endpoint) }
        let facts = SurveyFacts()
        let stream = TalliedStream(connection, ByteTally(keeping: 0))
        HTTPService { answer($0, facts) }.serveOnce(stream, firstBytes: bytes)
        log.update(endpoint, "a request without TLS") { host in
            host.plainCount += 1
            host.add(facts.requests, byteCount: bytes.count + stream.count)
        }
    }

    private func serveTLS(_ connection: TCPConnection, _ bytes: [UInt8]) {
        let facts = SurveyFacts()
        let record = service.serve(connection, firstBytes: bytes) { hello, serverName in
            let met = facts.meet(endpoint.named(serverName)) { log.next(at: $0, hello) }
            guard let issuer = met.issuer else { return rightServers[met.endpoint] }
            return authorities.credential(for: met.endpoint.name, serverName, by: issuer)
        } application: { stream in
            ServerBehavior.answers { answer($0, facts) }.serve(stream) {
                log.isReplaced(at: facts.met?.endpoint ?? endpoint)
            }
        }
        guard let met = facts.met else {
            return isCut(connection)
                ? addUnfinished(at: endpoint) : addOther("a ClientHello that OpenSSL cannot read", at: endpoint)
        }
        if let alert = record.alertsSent.last(where: \.isFatal), record.requestByteCount == 0 {
            return addOther("TLS that this survey does not speak, \(alert.name)", at: met.endpoint)
        }
        if isCut(connection), record.requestByteCount == 0, record.alertsReceived.isEmpty {
            return addUnfinished(at: met.endpoint)
        }
        log.add(record, met, facts.requests)
    }

    /// Returns `true` if the survey has ended the connection, and not the client.
    private func isCut(_ connection: TCPConnection) -> Bool { log.isCutting || connection.hasRunOutOfTime.reading }

    private func addUnfinished(at endpoint: SurveyLog.Endpoint) {
        log.addUnanswered(at: endpoint, since: begin)
        log.update(endpoint, "still open, without a request") { $0.unfinishedCount += 1 }
    }

    private func addOther(_ name: String, at endpoint: SurveyLog.Endpoint) {
        log.addUnanswered(at: endpoint, since: begin)
        log.update(endpoint, "no TLS: \(name)") { $0.otherProtocols.append(name, limit: SurveyedHost.limit) }
    }

    private func answer(_ request: HTTPRequest, _ facts: SurveyFacts) -> HTTPResponse {
        facts.add(MaskedRequest(request).text)
        return HTTPResponse.closedWebSocket(request)
            ?? answers.response(to: request, at: (facts.met?.endpoint ?? endpoint).name)
    }
}

/// The facts that become known while a connection is served.
private final class SurveyFacts: Sendable {
    typealias Meeting = SurveyLog.Meeting

    private struct State {
        var met: Meeting?
        var requests: [String] = []
    }

    private let state = Mutex(State())

    var met: Meeting? { state.withLock { $0.met } }

    /// The different requests, masked.
    var requests: [String] { state.withLock { $0.requests } }

    func add(_ request: String) { state.withLock { $0.requests.append(request, limit: SurveyedHost.limit) } }

    /// Returns the meeting of the connection, which stays the same.
    ///
    /// - Parameter meet: Chooses the server.
    func meet(
        _ endpoint: SurveyLog.Endpoint, _ meet: (SurveyLog.Endpoint) -> Meeting
    ) -> Meeting {
        state.withLock { state in
            let met = state.met ?? meet(endpoint)
            state.met = met
            return met
        }
    }
}

extension SurveyedHost {
    mutating func add(_ requests: [String], byteCount: Int) {
        requestByteCount += byteCount
        for request in requests { self.requests.append(request, limit: Self.limit) }
    }
}
