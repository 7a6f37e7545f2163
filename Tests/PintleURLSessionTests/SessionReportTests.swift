import Foundation
import FoundationNetworking
import PintleReports
import PintleTestKit
import PintleUpdates
import Synchronization
import Testing

@testable import PintleEvents
@testable import PintlePolicyFile
@testable import PintleRemote
@testable import PintleURLSession

/// Reports from a failure in a handshake to the collector, over real connections.
@Suite("Pinned sessions: failure reports")
struct SessionReportTests {
    private let fixture: SessionFixture
    private let directory: TemporaryDirectory

    init() throws {
        fixture = try SessionFixture()
        directory = try TemporaryDirectory()
    }

    /// Returns a policy with a rule for `localhost` whose reports go to 127.0.0.1.
    private func policy(
        to collectors: LoopbackTLSServer..., rightPin: Bool = false, enforcement: Enforcement = .enforce,
        expiry: PinExpiry = .never
    ) throws -> PinningPolicy {
        let key = rightPin ? fixture.identity.certificate.spkiDER : try PrivateKey().spkiDER
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))
        let root = try Certificate(der: fixture.root.certificate.der)
        return try PinningPolicy(hosts: [
            try PinnedHost(
                "localhost", pins: [pin], backup: .noneAccepted, expiry: expiry, enforcement: enforcement,
                anchors: .only([root]), reportTo: try collectors.map { try address(of: $0) })
        ])
    }

    private func address(of collector: LoopbackTLSServer) throws -> String {
        try collector.address("pins", host: "127.0.0.1").absoluteString
    }

    private func reporter(_ change: (inout ReportOptions) -> Void = { _ in }) throws -> PinReporter {
        var options = ReportOptions()
        options.longestDelay = 0
        change(&options)
        return try PinReporter(
            folder: directory.path(of: "reports"), options: options,
            transport: SystemTrustTransport(policy: try fixture.unpinned(["127.0.0.1"])))
    }

    private func refused(_ session: PinnedURLSession, _ server: LoopbackTLSServer) async throws {
        let address = try server.address()
        let error = await #expect(throws: URLError.self) { try await session.data(from: address) }
        #expect(TrustRejection(underlying: try #require(error)) != nil)
    }

    private func objects(_ collector: LoopbackTLSServer) throws -> [JSONValue] {
        try collector.requests.map { try JSONDocument($0.body).root }
    }

    @Test("A mismatch report has the served and validated chains and the pins, and nothing of the request")
    func mismatch() async throws {
        let server = try fixture.server()
        let collector = try fixture.server { _ in HTTPResponse(status: 204) }
        let reporter = try reporter { $0.app = ["name": "Test", "version": "1"] }
        let policy = try policy(to: collector)
        let session = URLSession.pinned(to: policy, configuration: .ephemeral, observer: reporter)
        let before = Date(timeIntervalSinceNow: -1)
        try await refused(session, server)
        await reporter.waitForEvents()
        #expect(reporter.waiting == 1 && collector.connectionCount == 0)
        #expect(await reporter.deliver() == .done(delivered: 1, failed: 0))
        #expect(reporter.waiting == 0 && reporter.counts.delivered == 1)

        let request = try #require(collector.requests.first)
        #expect(request.method == "POST" && request.target == "/pins")
        #expect(request["content-type"] == "application/json" && request["user-agent"] == "pintle-reports")
        #expect(request["cookie"] == nil && request["authorization"] == nil && request["referer"] == nil)
        #expect(request["idempotency-key"]?.utf8.count == 34)
        let report = try #require(try objects(collector).first)
        let keys = try #require(report.members).map { $0.key.string ?? "" }
        #expect(
            keys == [
                "date-time", "hostname", "port", "effective-expiration-date", "include-subdomains", "noted-hostname",
                "served-certificate-chain", "validated-certificate-chain", "known-pins", "age", "enforcement", "reason",
                "policy-version", "app",
            ])
        let date = try RFC3339.date(from: report["date-time"]?.string ?? "")
        #expect(before <= date && date <= Date())
        #expect(report["hostname"]?.string == "localhost" && report["noted-hostname"]?.string == "localhost")
        #expect(report["port"]?.integer == Int64(server.port) && report["include-subdomains"]?.boolean == false)
        #expect(report["effective-expiration-date"]?.isNull == true)
        #expect(report["reason"]?.string == "pin-mismatch" && report["enforcement"]?.string == "enforce")
        #expect(report["policy-version"]?.integer == 0 && report["app"]?["name"]?.string == "Test")
        let served = try #require(report["served-certificate-chain"]?.elements).map { $0.string ?? "" }
        let validated = try #require(report["validated-certificate-chain"]?.elements).map { $0.string ?? "" }
        // The server does not send its root.
        #expect(served == [fixture.identity.certificate.pem])
        #expect(validated == [fixture.identity.certificate.pem, fixture.root.certificate.pem])
        let wanted = try #require(policy.hosts.first?.pins.first?.description.dropFirst("sha256/".count))
        #expect(report["known-pins"]?.elements?.map(\.string) == ["pin-sha256=\"\(wanted)\""])
    }

    @Test("A matching pin is not reported; expired pins, report-only mismatches and invalid paths are")
    func reasons() async throws {
        let server = try fixture.server()
        let stranger = try SessionFixture().server()
        let collector = try fixture.server { _ in HTTPResponse(status: 204) }
        let yesterday = Date(timeIntervalSinceNow: -86_400)
        let reporter = try reporter()
        let recorder = TrustEventRecorder()
        func session(_ policy: PinningPolicy) -> PinnedURLSession {
            .pinned(to: policy, configuration: .ephemeral, observer: TrustEventObservers(reporter, recorder))
        }
        _ = try await session(policy(to: collector, rightPin: true)).data(from: server.address())
        await recorder.waitForEvents()
        #expect(recorder.events.isEmpty && reporter.waiting == 0)

        _ = try await session(policy(to: collector, enforcement: .reportOnly)).data(from: server.address())
        _ = try await session(policy(to: collector, expiry: .systemTrust(after: yesterday))).data(
            from: server.address())
        try await refused(
            session(policy(to: collector, rightPin: true, expiry: .rejecting(after: yesterday))), stranger)
        await recorder.waitForEvents()
        #expect(recorder.reports.map(\.reason) == ["mismatch-reported-only", "pins-expired", "invalid-path"])
        #expect(recorder.events.map(\.level) == [.warning, .warning, .error])
        #expect(recorder.reports.map(\.pathFailure) == [nil, nil, "untrusted-root"])
        #expect(recorder.reports[2].validatedCertificateChain.isEmpty)
        #expect(await reporter.deliver() == .done(delivered: 3, failed: 0))
        let sent = try objects(collector).compactMap { $0["reason"]?.string }
        #expect(sent.sorted() == ["invalid-path", "mismatch-reported-only", "pins-expired"])
    }

    @Test("No report is lost while the collector is down, and each is delivered once when it is up")
    func down() async throws {
        let server = try fixture.server()
        let collector = try fixture.server { _ in HTTPResponse(status: 204) }
        let policy = try policy(to: collector)
        collector.close()
        do {
            let reporter = try reporter()
            let session = URLSession.pinned(to: policy, configuration: .ephemeral, observer: reporter)
            for _ in 0..<5 { try await refused(session, server) }
            await reporter.waitForEvents()
            #expect(reporter.waiting == 1 && reporter.counts.duplicates == 4)
            #expect(await reporter.deliver() == .done(delivered: 0, failed: 1))
            // The report is not sent again before its next attempt is due.
            #expect(await reporter.deliver() == .done(delivered: 0, failed: 0))
            #expect(reporter.waiting == 1)
        }
        // The next process, an hour later.
        let answers = Atomic(0)
        let again = try fixture.server { _ in
            HTTPResponse(status: answers.add(1, ordering: .relaxed).newValue == 1 ? 503 : 204)
        }
        let moved = try Redirecting(to: again, SystemTrustTransport(policy: fixture.unpinned(["127.0.0.1"])))
        let reporter = try PinReporter(folder: directory.path(of: "reports"), transport: moved)
        #expect(await reporter.deliver(at: Date(timeIntervalSinceNow: 3_600)) == .done(delivered: 0, failed: 1))
        #expect(await reporter.deliver(at: Date(timeIntervalSinceNow: 7_200)) == .done(delivered: 1, failed: 0))
        #expect(await reporter.deliver(at: Date(timeIntervalSinceNow: 10_800)) == .done(delivered: 0, failed: 0))
        #expect(Set(again.requests.map { $0["idempotency-key"] }).count == 1 && again.requests.count == 2)
        #expect(reporter.waiting == 0 && reporter.counts.delivered == 1)
        let age = try #require(try objects(again).last?["age"]?.integer)
        #expect((7_190_000...7_800_000).contains(age))
    }

    @Test("No redirect is followed, and a collector that the system does not trust gets nothing")
    func redirects() async throws {
        let server = try fixture.server()
        let elsewhere = try fixture.server { _ in HTTPResponse(status: 204) }
        let target = try elsewhere.address("pins", host: "127.0.0.1").absoluteString
        let collector = try fixture.server { _ in .redirect(to: target, status: 307) }
        let reporter = try reporter()
        let session = URLSession.pinned(to: try policy(to: collector), configuration: .ephemeral, observer: reporter)
        try await refused(session, server)
        await reporter.waitForEvents()
        #expect(await reporter.deliver() == .done(delivered: 0, failed: 1))
        #expect(collector.requests.count == 1 && elsewhere.connectionCount == 0 && reporter.waiting == 1)

        // With only the system's trust.
        let request = ReportRequest(
            url: try address(of: elsewhere), contentType: "application/json", body: [0x7B, 0x7D], id: "0", timeout: 30)
        let untrusted = await #expect(throws: URLError.self) { try await SystemTrustTransport().send(request) }
        #expect(untrusted?.pathFailure?.code == .untrustedRoot)
        #expect(elsewhere.requestByteCount == 0)
        let plain = ReportRequest(
            url: "http" + request.url.dropFirst(5), contentType: "", body: [], id: "0", timeout: 30)
        let connections = elsewhere.connectionCount
        let unsupported = await #expect(throws: URLError.self) { try await SystemTrustTransport().send(plain) }
        #expect(unsupported?.code == .unsupportedURL && elsewhere.connectionCount == connections)
        let trusting = SystemTrustTransport(policy: try fixture.unpinned(["127.0.0.1"]))
        #expect(try await trusting.send(request).status == 204)
    }

    @Test(
        "A request of a task that is already cancelled ends at once; one of another task completes",
        arguments: [true, false])
    func cancelled(isCancelled: Bool) async throws {
        let server = try fixture.server { _ in HTTPResponse(status: 204) }
        let policy = try fixture.unpinned(["127.0.0.1"])
        let url = try address(of: server)
        let report = Task { () async throws -> Int in
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            let request = ReportRequest(url: url, contentType: "application/json", body: [], id: "0", timeout: 30)
            return try await SystemTrustTransport(policy: policy).send(request).status
        }
        let update = Task { () async throws -> UpdateResponse in
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            let request = UpdateRequest(
                url: try #require(URL(string: url)), entityTag: nil, maximumBytes: 10, timeoutSeconds: 30)
            return try await SystemTrustTransport(policy: policy).fetch(request)
        }
        let (status, answer) = (await report.result, await update.result)
        // A status of 204 is neither an update nor "not modified", so the transport fails.
        let error = #expect(throws: URLError.self) { try answer.get() }
        #expect(error?.code == (isCancelled ? .cancelled : .badServerResponse))
        #expect(error?.isAboutTrust == false)
        if isCancelled {
            let error = #expect(throws: URLError.self) { try status.get() }
            #expect(error?.code == .cancelled)
            #expect(error?.isAboutTrust == false)
        } else {
            #expect(try status.get() == 204 && server.requests.count == 2)
        }
    }

    @Test("A report that fails at the collector's certificate causes no further report")
    func noLoop() async throws {
        let server = try fixture.server()
        // The transport refuses this collector, because it has another authority.
        let collector = try SessionFixture().server { _ in HTTPResponse(status: 204) }
        let reporter = try reporter()
        let recorder = TrustEventRecorder()
        let session = URLSession.pinned(
            to: try policy(to: collector), configuration: .ephemeral,
            observer: TrustEventObservers(reporter, recorder))
        try await refused(session, server)
        await reporter.waitForEvents()
        for hour in 0..<3 {
            #expect(
                await reporter.deliver(at: Date(timeIntervalSinceNow: Double(hour) * 86_400 * 2))
                    == .done(delivered: 0, failed: 1))
        }
        await recorder.waitForEvents()
        #expect(recorder.events.count == 1 && reporter.waiting == 1 && collector.requestByteCount == 0)
    }

    @Test(
        "Certificates that cannot be parsed, or are too many, are reported with the rule of the requested host",
        arguments: [PathFailure.Code.malformedCertificate, .limitsExceeded])
    func unreadable(code: PathFailure.Code) async throws {
        let garbage = [[UInt8](repeating: 0x30, count: 200)]
        let many = fixture.identity.chain + Array(repeating: fixture.root.certificate.der, count: 200)
        let chain = code == .malformedCertificate ? garbage : many
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(chain: chain, key: fixture.identity.key)))
        let collector = try fixture.server { _ in HTTPResponse(status: 204) }
        let recorder = TrustEventRecorder()
        let session = URLSession.pinned(to: try policy(to: collector), configuration: .ephemeral, observer: recorder)
        try await refused(session, server)
        await recorder.waitForEvents()
        #expect(recorder.reports.map(\.pathFailure) == [code.rawValue])
        #expect(recorder.reports.map(\.notedHostname) == ["localhost"])
        #expect(recorder.reports.allSatisfy { $0.servedCertificateChain.isEmpty })
    }

    @Test("No handshake and no task waits for an observer")
    func slowObserver() async throws {
        struct Slow: TrustEventObserver {
            let gate = DispatchSemaphore(value: 0)
            func observe(_ event: TrustEvent) { _ = gate.wait(timeout: .now() + 300) }
        }
        let server = try fixture.server()
        let slow = Slow()
        defer { for _ in 0..<100 { slow.gate.signal() } }
        for _ in 0..<3 {
            // A new session, so a new connection and a new event.
            let session = URLSession.pinned(
                to: try policy(to: server, enforcement: .reportOnly), configuration: .ephemeral, observer: slow)
            let (_, response) = try await session.data(from: server.address())
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    @Test("A problem with updates is an event")
    func updates() async throws {
        let recorder = TrustEventRecorder()
        recorder.observe(PolicyStoreEvent.stale(version: 7, since: Date(timeIntervalSince1970: 0)))
        recorder.observe(PolicyStoreEvent.notFetched(from: "https://updates.example.net/", description: "a\nb\u{202E}"))
        await recorder.waitForEvents()
        let events = recorder.events.compactMap { event -> UpdateEvent? in
            if case .update(let event) = event { event } else { nil }
        }
        #expect(events.map(\.kind) == [.stale, .notFetched] && events.first?.version == 7)
        #expect(events.last?.text == "a\\nb\\u202e" && recorder.reports.isEmpty)
    }
}

/// A transport that sends to another server, as if the collector had moved.
private struct Redirecting: ReportTransport {
    let url: String
    let transport: SystemTrustTransport

    init(to server: LoopbackTLSServer, _ transport: SystemTrustTransport) throws {
        url = try server.address("pins", host: "127.0.0.1").absoluteString
        self.transport = transport
    }

    func send(_ request: ReportRequest) async throws -> ReportResponse {
        try await transport.send(
            ReportRequest(
                url: url, contentType: request.contentType, body: request.body, id: request.id,
                timeout: request.timeout))
    }
}
