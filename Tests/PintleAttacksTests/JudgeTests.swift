import Testing

@testable import PintleAttacks
@testable import PintleTestKit

/// The one judge of a scenario, for clients that the tool runs and for clients that the user starts. No server runs.
@Suite("Attacks: judge")
struct JudgeTests {
    /// One case of the judge.
    struct Case: Sendable, CustomTestStringConvertible {
        let claim: String
        let scenario: String
        let connections: [Server.Connection]
        /// `nil` for a client that the user starts.
        var process: Observation.ClientEnd?
        var control = sending
        /// The connections of the runs before.
        var earlier: [[Server.Connection]] = []
        let verdict: Outcome.Verdict
        var remark: String?

        var testDescription: String { claim }
    }

    // MARK: Observations

    /// A connection with a finished handshake, and a number of request bytes.
    private static func connection(
        _ byteCount: Int = 0, _ role: Server.Connection.Role = .attack, over name: String? = nil
    ) -> Server.Connection {
        var record = TLSConnectionRecord()
        (record.hasBegunHandshake, record.isHandshakeComplete) = (true, true)
        (record.requestByteCount, record.applicationProtocol) = (byteCount, name)
        return Server.Connection(record: record, role: role)
    }

    /// A connection with a certificate of the client, or only its signature, and a number of request bytes.
    private static func identified(_ byteCount: Int = 0, hasCertificate: Bool = true) -> Server.Connection {
        var record = TLSConnectionRecord()
        (record.hasBegunHandshake, record.isHandshakeComplete) = (true, true)
        (record.requestByteCount, record.hasClientSignature) = (byteCount, !hasCertificate)
        record.clientCertificates = hasCertificate ? [[0x30, 0]] : []
        return Server.Connection(record: record, role: .attack)
    }

    /// A connection that the client ended within the handshake by an alert: 42 refuses the certificate, 80 is an
    /// internal error.
    private static func refusal(alert code: UInt8 = 42) -> Server.Connection {
        var record = TLSConnectionRecord()
        record.hasBegunHandshake = true
        record.alertsReceived = [.init(isFatal: true, code: code)]
        return Server.Connection(record: record, role: .attack)
    }

    private static let silent = Server.Connection(record: TLSConnectionRecord(), role: .attack)
    /// A connection that the server ended.
    private static let silence: Server.Connection = {
        var record = TLSConnectionRecord()
        (record.hasBegunHandshake, record.wasGivenUp) = (true, true)
        return Server.Connection(record: record, role: .attack)
    }()
    private static let once = "it ended without an alert about the certificate"
    private static let clear = Server.Connection(plainByteCount: 60)

    private static func observation(_ connections: [Server.Connection], _ process: Observation.ClientEnd?)
        -> Observation
    {
        var observation = Observation()
        for connection in connections { observation.add(connection) }
        observation.process = process
        return observation
    }

    // MARK: Controls

    private static func control(_ connection: Server.Connection, _ end: GuardedProcess.End) -> ControlBehavior? {
        ControlBehavior(observation([connection], .init(end)))
    }

    /// A client that sends a request and ends with exit code 0.
    private static let sending = control(connection(80), .exited(0))
    private static let sendingHTTP2 = control(connection(80, over: "h2"), .exited(0))
    /// A client that shows its certificate, sends a request and ends with exit code 0.
    private static let identifying = control(identified(80), .exited(0))
    /// A client that only makes a handshake.
    private static let handshake = control(connection(), .exited(0))
    /// A client that sends a request and waits for ever.
    private static let endless = control(connection(80), .timedOut)
    private static let device: ControlBehavior? = .device

    // MARK: Cases

    private static let refused: [Case] = [
        Case(
            claim: "a request at an attack is let through", scenario: "expired", connections: [connection(80)],
            process: .init(.exited(0)), verdict: .letThrough),
        Case(
            claim: "a request decides, however the client ends", scenario: "expired",
            connections: [refusal(), connection(80)], process: .init(.timedOut), verdict: .letThrough),
        Case(
            claim: "an alert refuses", scenario: "expired", connections: [refusal()], process: .init(.exited(60)),
            verdict: .blocked),
        Case(
            claim: "a request in the clear is let through, whatever the scenario expects", scenario: "renewed-same-key",
            connections: [connection(80), clear], process: .init(.exited(0)), verdict: .letThrough,
            remark: "sent in the clear"),
        Case(
            claim: "a client that did not connect has no verdict", scenario: "expired", connections: [],
            process: .init(.exited(7)), verdict: .inconclusive, remark: "the client did not connect"),
        Case(
            claim: "a client that avoids the proxy has no verdict", scenario: "expired", connections: [],
            process: .init(.exited(7), isProxied: true), verdict: .inconclusive, remark: "it did not use the proxy"),
        Case(
            claim: "a client that is too slow to connect has no verdict", scenario: "expired", connections: [],
            process: .init(.timedOut, timeout: 2.5), verdict: .inconclusive,
            remark: "the client was ended after 2.5 s before it connected; give it more time with --timeout"),
        Case(
            claim: "a client that is killed at its connection has no verdict", scenario: "expired",
            connections: [refusal()], process: .init(.timedOut), verdict: .inconclusive,
            remark: "killed after 5 s; no verdict"),
        Case(
            claim: "a client that ends at the right server and is killed after a refusal may try again",
            scenario: "expired", connections: [refusal()], process: .init(.timedOut, wasOverWhenKilled: true),
            verdict: .inconclusive, remark: "ended by --timeout; it may have tried again"),
        Case(
            claim: "a client that never ends is judged by its connections", scenario: "expired",
            connections: [refusal()], process: .init(.timedOut, wasOverWhenKilled: true), control: endless,
            verdict: .blocked),
        Case(
            claim: "an open connection allows no verdict", scenario: "expired", connections: [refusal()],
            process: .init(.exited(60), isQuiet: false), verdict: .inconclusive, remark: "a connection was still open"),
        Case(
            claim: "a crash is no refusal", scenario: "expired", connections: [refusal(alert: 80)],
            process: .init(.exited(139)), verdict: .inconclusive, remark: "ended by signal 11"),
        Case(
            claim: "a crash after a refusal of every certificate is a refusal", scenario: "expired",
            connections: [refusal(), refusal()], process: .init(.exited(133)), verdict: .blocked),
        Case(
            claim: "success without a request is let through if the client never sends one", scenario: "expired",
            connections: [connection()], process: .init(.exited(0)), control: handshake, verdict: .letThrough,
            remark: "it reports success"),
        Case(
            claim: "success without a request is no refusal once, if the client sends one to the right server",
            scenario: "expired", connections: [connection()], process: .init(.exited(0)), verdict: .inconclusive,
            remark: once),
        Case(
            claim: "success without a request is a refusal twice, if the client sends one to the right server",
            scenario: "expired", connections: [connection()], process: .init(.exited(0)), earlier: [[connection()]],
            verdict: .blocked),
        Case(
            claim: "a client must only give up at a server that stalls", scenario: "stall-mid-handshake",
            connections: [silent], process: .init(.exited(28)), verdict: .blocked),
        Case(
            claim: "a client that the server gives up on has not given up", scenario: "stall-mid-handshake",
            connections: [silence], process: .init(.exited(28)), verdict: .inconclusive,
            remark: "it began the handshake and fell silent"),
    ]

    private static let asked: [Case] = [
        Case(
            claim: "a certificate is let through without a request", scenario: asking, connections: [identified()],
            process: .init(.exited(90)), control: identifying, verdict: .letThrough,
            remark: "it showed its certificate"),
        Case(
            claim: "a signature is let through", scenario: asking, connections: [identified(hasCertificate: false)],
            process: .init(.exited(90)), control: identifying, verdict: .letThrough,
            remark: "it showed its certificate"),
        Case(
            claim: "a certificate on one of several connections decides, however the client ends", scenario: asking,
            connections: [identified(), refusal()], process: .init(.timedOut), control: identifying,
            verdict: .letThrough, remark: "it showed its certificate"),
        Case(
            claim: "a request without a certificate is let through", scenario: asking, connections: [connection(80)],
            process: .init(.exited(0)), control: identifying, verdict: .letThrough),
        Case(
            claim: "a refusal without a certificate is blocked", scenario: asking, connections: [refusal()],
            process: .init(.exited(60)), control: identifying, verdict: .blocked),
        Case(
            claim: "other attacks are judged without the certificate", scenario: "trusted-interceptor",
            connections: [identified()], process: .init(.exited(90)), control: identifying,
            earlier: [[identified()]], verdict: .blocked),
    ]
    private static let asking = "interceptor-asks-for-identity"

    private static let accepted: [Case] = [
        Case(
            claim: "a request is accepted", scenario: "renewed-same-key", connections: [connection(80)],
            process: .init(.exited(0)), verdict: .accepted),
        Case(
            claim: "a request and another end than at the right server have no verdict", scenario: "renewed-same-key",
            connections: [connection(80)], process: .init(.exited(3)), verdict: .inconclusive,
            remark: "it sent its request, but ended with exit code 3"),
        Case(
            claim: "exit code 0 needs no comparison", scenario: "renewed-same-key", connections: [connection(80)],
            process: .init(.exited(0)), control: endless, verdict: .accepted),
        Case(
            claim: "no request and an alert lock the client out", scenario: "renewed-same-key",
            connections: [refusal()], process: .init(.exited(60)), verdict: .blocked),
        Case(
            claim: "no request without an alert does not lock the client out", scenario: "renewed-same-key",
            connections: [connection()], process: .init(.exited(28)), verdict: .inconclusive, remark: once),
        Case(
            claim: "success without a request is accepted if the client never sends one", scenario: "renewed-same-key",
            connections: [connection()], process: .init(.exited(0)), control: handshake, verdict: .accepted),
    ]

    private static let ended: [Case] = [
        Case(
            claim: "a client that ends by itself has ended, with a request too", scenario: "name-constraint-bomb",
            connections: [connection(80)], process: .init(.exited(0)), verdict: .ended),
        Case(
            claim: "a client that is killed was held", scenario: "name-constraint-bomb", connections: [connection()],
            process: .init(.timedOut), verdict: .held, remark: "the client was ended after 5 s"),
        Case(
            claim: "a client that never ends cannot be held", scenario: "name-constraint-bomb",
            connections: [connection()], process: .init(.timedOut), control: endless, verdict: .notRun,
            remark: "this client never ends by itself"),
    ]

    private static let followed: [Case] = [
        Case(
            claim: "a client that does not follow a redirect refuses", scenario: "redirect-to-http",
            connections: [connection(80, .leading)], process: .init(.exited(0)), verdict: .blocked,
            remark: "it did not follow"),
        Case(
            claim: "a client that fails after a redirect has not refused it once", scenario: "redirect-to-http",
            connections: [connection(80, .leading)], process: .init(.exited(28)), verdict: .inconclusive,
            remark: "it has not followed yet"),
        Case(
            claim: "a client that fails after a redirect twice has not followed", scenario: "redirect-to-http",
            connections: [connection(80, .leading)], process: .init(.exited(28)),
            earlier: [[connection(80, .leading)]], verdict: .blocked, remark: "it did not follow"),
        Case(
            claim: "a client that follows and sends nothing refuses", scenario: "redirect-to-unpinned-host",
            connections: [connection(80, .leading), refusal()], process: .init(.exited(60)), verdict: .blocked),
        Case(
            claim: "a client that uses a connection of its own for the other host refuses",
            scenario: "coalesced-connection",
            connections: [connection(80, .leading, over: "h2"), connection(80, .following, over: "h2")],
            process: .init(.exited(0)), control: sendingHTTP2, verdict: .blocked),
        Case(
            claim: "without a request nothing leads to the attack", scenario: "redirect-to-http",
            connections: [connection(0, .leading)], process: .init(.exited(0)), control: handshake, verdict: .notRun,
            remark: "this client sends no request"),
        Case(
            claim: "an attack over HTTP/2 does not reach a client of HTTP/1.1", scenario: "goaway-moves-request",
            connections: [connection(80, .leading, over: "http/1.1")], process: .init(.exited(0)),
            control: sendingHTTP2, verdict: .notRun, remark: "this client speaks HTTP/1.1"),
    ]

    /// The same scenarios with a client whose end the tool does not see.
    private static let devices: [Case] = [
        Case(
            claim: "device: a request at an attack is let through", scenario: "expired", connections: [connection(80)],
            control: device, verdict: .letThrough),
        Case(
            claim: "device: an alert refuses", scenario: "expired", connections: [refusal()], control: device,
            verdict: .blocked),
        Case(
            claim: "device: no client came", scenario: "expired", connections: [], control: device, verdict: .notRun,
            remark: "no client came"),
        Case(
            claim: "device: a connection without a byte allows no verdict", scenario: "expired", connections: [silent],
            control: device, verdict: .inconclusive, remark: "it ended before it was shown a certificate"),
        Case(
            claim: "device: a finished handshake without a request allows no verdict", scenario: "expired",
            connections: [connection()], control: device, verdict: .inconclusive, remark: once),
        Case(
            claim: "device: a second finished handshake without a request is a refusal", scenario: "expired",
            connections: [connection()], control: device, earlier: [[connection()]], verdict: .blocked),
        Case(
            claim: "device: a request is accepted", scenario: "renewed-same-key", connections: [connection(80)],
            control: device, verdict: .accepted),
        Case(
            claim: "device: one client in the clear does not spoil another's request", scenario: "renewed-same-key",
            connections: [connection(80), clear], control: device, verdict: .accepted),
        Case(
            claim: "device: a request in the clear only is let through", scenario: "renewed-same-key",
            connections: [clear], control: device, verdict: .letThrough, remark: "sent in the clear"),
        Case(
            claim: "device: a client that does not follow twice refuses", scenario: "redirect-to-http",
            connections: [connection(80, .leading), connection(80, .leading)], control: device, verdict: .blocked,
            remark: "it did not follow"),
        Case(
            claim: "device: a client that does not follow once may have been interrupted", scenario: "redirect-to-http",
            connections: [connection(80, .leading)], control: device, verdict: .inconclusive,
            remark: "it has not followed yet"),
        Case(
            claim: "device: an attack over HTTP/2 does not reach a client of HTTP/1.1",
            scenario: "goaway-moves-request",
            connections: [connection(80, .leading, over: "http/1.1")], control: device, verdict: .notRun,
            remark: "this client speaks HTTP/1.1"),
        Case(
            claim: "device: a client that ended its connection has ended", scenario: "name-constraint-bomb",
            connections: [connection()], control: device, verdict: .ended),
    ]

    /// Minted once, because the cases need only the scenarios' properties.
    private static let catalogue = Result { try Catalogue() }

    @Test(
        "The verdict follows from the scenario, the observation and the right server",
        arguments: refused + asked + accepted)
    func server(_ row: Case) throws { try check(row) }

    @Test("A client that must only end, or go on to another server, is judged there", arguments: ended + followed)
    func place(_ row: Case) throws { try check(row) }

    @Test("Clients that the user starts are judged by the same rules", arguments: devices)
    func device(_ row: Case) throws { try check(row) }

    private func check(_ row: Case) throws {
        let scenario = try #require(try Self.catalogue.get()[row.scenario])
        let outcome = Outcome(
            scenario, Self.observation(row.connections, row.process), beside: try #require(row.control),
            trials: (row.earlier + [row.connections]).map { Self.observation($0, row.process).trial })
        #expect(
            outcome.verdict == row.verdict && outcome.remark == row.remark, "\(outcome.verdict) \(outcome.remark ?? "")"
        )
    }

    @Test("A client that refuses the right server, or sends nothing and fails, gives no control")
    func control() throws {
        #expect(Self.control(Self.refusal(), .exited(60)) == nil && Self.control(Self.connection(), .exited(1)) == nil)
        #expect(Self.control(Self.clear, .exited(0)) == nil)
        #expect(Self.control(Self.connection(80), .exited(1))?.endsWell == false)
    }

    @Test("A scenario that proves nothing about a client is left out, with the reason")
    func obstacles() throws {
        let catalogue = try Self.catalogue.get()
        let sending = try #require(Self.sending)
        let http2 = try #require(Self.sendingHTTP2)
        func obstacle(
            _ id: String, _ control: ControlBehavior?, hasSecondPin: Bool = false, hasIdentity: Bool = false
        ) throws -> String? {
            try #require(control).obstacle(
                to: try #require(catalogue[id]), hasSecondPin: hasSecondPin, hasIdentity: hasIdentity)
        }
        #expect(try obstacle("expired", Self.handshake) == nil)
        #expect(try obstacle("redirect-to-http", Self.handshake) == "this client sends no request")
        #expect(try obstacle("goaway-moves-request", sending) == "this client speaks HTTP/1.1")
        #expect(try obstacle("goaway-moves-request", http2) == nil)
        #expect(try obstacle("coalesced-connection", http2)?.contains("{other-pin}") == true)
        #expect(try obstacle("coalesced-connection", http2, hasSecondPin: true) == nil)
        #expect(try obstacle(Self.asking, Self.identifying)?.contains("{identity}") == true)
        #expect(
            try obstacle(Self.asking, sending, hasIdentity: true)
                == "this client showed the right server no certificate")
        #expect(try obstacle(Self.asking, Self.identifying, hasIdentity: true) == nil)
    }
}
