package import PintleTestKit

/// The facts about a client at one scenario: what the servers received, and how the client ended.
package struct Observation: Sendable {
    /// The number of connections to any of the servers.
    package private(set) var connectionCount = 0
    /// The number of connections that reached the attack. At the end of the servers, only those with a request count.
    private(set) var attackCount = 0
    /// The number of decrypted request bytes at the place of the attack, and of bytes without TLS at any of the
    /// servers. At the right server, all request bytes.
    package private(set) var exposedByteCount = 0
    /// The number of those bytes that came without TLS: after a redirect to plain HTTP, or from a client that fell back
    /// to it.
    private(set) var clearByteCount = 0
    /// The number of decrypted request bytes at servers that only lead to the attack.
    private(set) var leadingByteCount = 0
    /// A Boolean value that indicates whether a connection went on to the place of the attack.
    private(set) var wasFollowed = false
    /// The number of connections whose handshake the client finished.
    private(set) var completedHandshakeCount = 0
    /// A Boolean value that indicates whether the client showed its certificate at the place of the attack, or signed
    /// the handshake there.
    package private(set) var hasClientCertificate = false
    /// The protocol that ALPN selected: `h2` if any connection used it, because some attacks need that.
    package private(set) var applicationProtocol: String?
    /// The last fatal alert from the client.
    package private(set) var alert: LoopbackTLSServer.Alert?
    private var firstExposing: Int?
    private var otherEndCount = 0
    /// The number of connections with a request to servers that only lead to the attack.
    private(set) var leadingCount = 0
    /// The number of connections that brought no byte of a request.
    private(set) var unansweredCount = 0
    /// The ends of connections to the attack without a request, oldest first. Of many, only the last are kept.
    private(set) var ends: [End] = []
    private static let endLimit = 256
    /// The longest time from a ClientHello to the first byte of a request, in seconds.
    private(set) var decisionSeconds: Double?
    /// A Boolean value that indicates whether the client's connections to other servers, if there were any, were
    /// answered.
    var isAlone = true

    /// The end of a client that the tool ran; `nil` for clients that the user starts.
    package var process: ClientEnd?

    /// The number of connections to the attack without a request that were open when the servers ended.
    private(set) var openAtEndCount = 0
    /// A Boolean value that indicates whether a connection to the attack was open when the servers ended.
    private(set) var isHeldAtEnd = false
    /// A Boolean value that indicates whether the server ended a connection to the attack because it took too long.
    private(set) var wasGivenUp = false

    /// The end of a client that the tool ran.
    package struct ClientEnd: Sendable {
        package let end: GuardedProcess.End
        /// A Boolean value that indicates whether the client had ended its connections when it was killed.
        let wasOverWhenKilled: Bool
        /// A Boolean value that indicates whether all connections had ended when they were observed.
        let isQuiet: Bool
        /// The time limit of the client, in seconds.
        package let timeout: Double
        /// A Boolean value that indicates whether a proxy is the only way to the servers.
        let isProxied: Bool

        package init(
            _ end: GuardedProcess.End, wasOverWhenKilled: Bool = false, isQuiet: Bool = true, timeout: Double = 5,
            isProxied: Bool = false
        ) {
            (self.end, self.wasOverWhenKilled, self.isQuiet) = (end, wasOverWhenKilled, isQuiet)
            (self.timeout, self.isProxied) = (timeout, isProxied)
        }

        /// The exit status, or 128 plus the number of the signal that ended the client; `nil` if it was killed.
        package var exitCode: Int32? {
            if case .exited(let status) = end { status } else { nil }
        }
    }

    package init() {}

    /// Adds a connection, or over HTTP/2 the part of it until a response.
    ///
    /// - Parameter isEnding: `true` if the server ended the connection, because the run is over.
    package mutating func add(_ connection: Server.Connection, isEnding: Bool = false) {
        let (record, byteCount) = (connection.record, connection.requestByteCount)
        connectionCount += 1
        if record?.isHandshakeComplete == true { completedHandshakeCount += 1 }
        if let fatal = record?.alertsReceived.last(where: \.isFatal) { alert = fatal }
        if applicationProtocol != "h2", let name = record?.applicationProtocol { applicationProtocol = name }
        let isRefusal = record?.alertsReceived.contains(where: \.refusesCertificate) == true && byteCount == 0
        if !isRefusal { otherEndCount += 1 }
        if byteCount == 0 { unansweredCount += 1 }
        if let begin = record?.begin, let first = record?.firstRequest {
            decisionSeconds = max(decisionSeconds ?? 0, begin.duration(to: first) / .seconds(1))
        }
        if connection.role != .leading { wasFollowed = true }
        guard connection.role == .attack else {
            leadingByteCount += byteCount
            if connection.role == .leading, byteCount > 0 { leadingCount += 1 }
            return
        }
        if let record, !record.clientCertificates.isEmpty || record.hasClientSignature { hasClientCertificate = true }
        if isEnding { isHeldAtEnd = true }
        if record?.wasGivenUp == true { wasGivenUp = true }
        guard !isEnding || byteCount > 0 else {
            openAtEndCount += 1
            return
        }
        attackCount += 1
        exposedByteCount += byteCount
        clearByteCount += connection.clearByteCount
        if byteCount > 0 {
            firstExposing = firstExposing ?? connectionCount
        } else if let record {
            if ends.count == Self.endLimit { ends.removeFirst() }
            ends.append(End(record))
        }
    }

    /// The end of one connection to the attack.
    struct End: Sendable {
        let end: ConnectionEnd
        let span: ConnectionSpan
        let seconds: Double

        init(_ record: TLSConnectionRecord) {
            (end, span) = (ConnectionEnd(record), ConnectionSpan(record))
            seconds = span.seconds
        }
    }

    /// This run of the client as one trial.
    var trial: Trial {
        // One of several connections at the same time may have been given up because of another.
        let overlap = ends.indices.contains { first in
            ends[(first + 1)...].contains { $0.span.overlaps(ends[first].span) }
        }
        return Trial(
            Set(ends.map(\.end)), isAlone: isAlone && !overlap, seconds: ends.map(\.seconds).max() ?? 0,
            process: process?.end)
    }

    /// Adds bytes that came to a proxy without TLS.
    mutating func addClear(_ count: Int) {
        exposedByteCount += count
        clearByteCount += count
    }

    /// The number of the connection that decides, from 1: the first that exposed bytes, or else the last. Connections
    /// to the place of a redirect come after those to the first server.
    var decisiveConnection: Int? { firstExposing ?? (connectionCount > 0 ? connectionCount : nil) }

    /// A Boolean value that indicates whether the client ended every connection by an alert that refuses the
    /// certificate, and sent no byte of a request on any of them.
    var refusedEveryCertificate: Bool { connectionCount > 0 && otherEndCount == 0 }

    /// Returns `true` if the client reached the attack, or the response that leads to it.
    package func wasTried(_ scenario: Scenario) -> Bool {
        scenario.needsRequest ? leadingByteCount + exposedByteCount > 0 : attackCount > 0
    }

    /// Returns `true` if the client ended by itself at the right server that leads to the attack, and sent it nothing.
    func hasFailedOnTheWay(to scenario: Scenario) -> Bool {
        scenario.needsRequest && connectionCount > 0 && !wasTried(scenario)
            && process.map { $0.end != .timedOut } == true
    }
}
