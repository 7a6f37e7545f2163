internal import PintleTestKit
internal import Synchronization

/// One connection of a surveyed client to a host.
struct SurveySession: Sendable {
    let endpoint: SurveyLog.Endpoint
    let log: SurveyLog
    let authorities: SurveyAuthorities
    let answers: SurveyAnswers
    let service: TLSService

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
            let met = facts.meet(hello, endpoint.named(serverName)) { log.next(at: $0, hello) }
            return authorities.credential(for: met.endpoint.name, serverName, by: met.issuer)
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
        add(record, met, facts.requests)
    }

    /// Returns `true` if the survey has ended the connection, and not the client.
    private func isCut(_ connection: TCPConnection) -> Bool { log.isCutting || connection.hasRunOutOfTime.reading }

    private func addUnfinished(at endpoint: SurveyLog.Endpoint) {
        log.update(endpoint, "still open, without a request") { $0.unfinishedCount += 1 }
    }

    private func addOther(_ name: String, at endpoint: SurveyLog.Endpoint) {
        log.update(endpoint, "no TLS: \(name)") { $0.otherProtocols.append(name, limit: SurveyedHost.limit) }
    }

    private func add(_ record: TLSConnectionRecord, _ met: SurveyFacts.Meeting, _ requests: [String]) {
        let alert = record.alertsReceived.last(where: \.isFatal)
        let ending = SurveyedHost.Ending(record)
        let words = ending.words + (ending == .refused ? alert.map { ", alert \($0)" } ?? "" : "")
        log.update(met.endpoint, "\(met.issuer.rawValue) authority: \(words)") { host in
            host.add(requests, byteCount: record.requestByteCount)
            guard met.issuer == .known else { return host.unknown.add(ending) }
            host.known.add(ending)
            if ending == .refused {
                if record.isHandshakeComplete { host.lateRefusalCount += 1 }
                if let alert { host.alerts.append(alert, limit: SurveyedHost.limit) }
            }
            guard host.stacks[met.hello] != nil || host.stacks.count < SurveyedHost.limit else { return }
            host.stacks[met.hello, default: .init()].add(ending, alert)
        }
    }

    private func answer(_ request: HTTPRequest, _ facts: SurveyFacts) -> HTTPResponse {
        facts.add(MaskedRequest(request).text)
        return HTTPResponse.closedWebSocket(request)
            ?? answers.response(to: request, at: (facts.met?.endpoint ?? endpoint).name)
    }
}

/// The facts that become known while a connection is served.
private final class SurveyFacts: Sendable {
    /// The host, the stack and the authority of a connection over TLS.
    struct Meeting {
        let endpoint: SurveyLog.Endpoint
        let hello: ClientHello
        let issuer: SurveyAuthorities.Issuer
    }

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
    /// - Parameter issuer: Chooses the authority.
    func meet(
        _ hello: ClientHello, _ endpoint: SurveyLog.Endpoint,
        _ issuer: (SurveyLog.Endpoint) -> SurveyAuthorities.Issuer
    ) -> Meeting {
        state.withLock { state in
            let met = state.met ?? Meeting(endpoint: endpoint, hello: hello, issuer: issuer(endpoint))
            state.met = met
            return met
        }
    }
}

extension SurveyedHost {
    fileprivate mutating func add(_ requests: [String], byteCount: Int) {
        requestByteCount += byteCount
        for request in requests { self.requests.append(request, limit: Self.limit) }
    }
}

extension SurveyedHost.Ending {
    /// Judges a connection as ``Observation`` does. A client refuses if it does not finish the handshake, or finishes
    /// it and then sends an alert, as clients do that compare pins after the handshake.
    fileprivate init(_ record: TLSConnectionRecord) {
        if record.requestByteCount > 0 {
            self = .letThrough
        } else if record.isHandshakeComplete {
            self = record.alertsReceived.isEmpty ? .silent : .refused
        } else {
            self = record.handshakeFailure == StreamError.tooSlow.reason ? .silent : .refused
        }
    }

    fileprivate var words: String {
        switch self {
        case .letThrough: "let through"
        case .refused: "refused"
        case .silent: "nothing after the handshake"
        }
    }
}

extension Array where Element: Equatable {
    /// Appends an element that is not there yet, unless the array is full.
    fileprivate mutating func append(_ element: Element, limit: Int) {
        if count < limit, !contains(element) { append(element) }
    }
}
