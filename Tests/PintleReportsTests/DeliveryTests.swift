import FoundationEssentials
import Glibc
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleReports

@Suite("The delivery of reports")
struct DeliveryTests {
    private let scene: ReportScene
    private let now = ReportScene.now

    init() throws {
        scene = try ReportScene()
    }

    private func deliver(_ reporter: PinReporter, after seconds: Double = 0) async -> ReportDelivery {
        await reporter.deliver(at: now.addingTimeInterval(seconds))
    }

    private func record(_ reporter: PinReporter, _ count: Int = 1, by policy: PinningPolicy? = nil) throws {
        let policy = try policy ?? scene.policy()
        for number in 0..<count {
            try #require(reporter.record(try scene.failure("h\(number).example.com", by: policy)) == .kept)
        }
    }

    @Test("A report waits for a random delay of at most 15 minutes, or less if the clock is set back")
    func delay() async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector) { $0.longestDelay = 900 }
        try record(reporter, 40)
        let delays = reporter.spool.names().map { $0.notBefore.count - $0.createdAt.count }
        #expect(delays.allSatisfy { 0...900_000 ~= $0 } && Set(delays).count > 30)
        let last = try #require(delays.max())
        #expect(await deliver(reporter, after: Double(last - 1) / 1_000) == .done(delivered: 39, failed: 0))
        let next = try #require(reporter.nextDelivery(at: now))
        #expect(abs(next.timeIntervalSince(now) - Double(last) / 1_000) < 0.01)
        #expect(await deliver(reporter, after: -10) == .done(delivered: 1, failed: 0))
        #expect(reporter.nextDelivery(at: now) == nil)
    }

    @Test("The pause of an address grows with each failure, and a success resets it")
    func backOff() async throws {
        let isDown = Locked(true)
        let collector = ScriptedCollector { _ in
            guard !isDown.withLock({ $0 }) else { throw CollectorIsDown() }
            return ReportResponse(status: 200)
        }
        let reporter = try scene.reporter(collector)
        try record(reporter, 3)
        var (time, waits): (Double, [Double]) = (0, [])
        for _ in 0..<14 {
            // Each round sends a single request to a failing address, however many reports wait.
            #expect(await deliver(reporter, after: time) == .done(delivered: 0, failed: 1))
            let next = try #require(reporter.nextDelivery(at: now.addingTimeInterval(time)))
            let wait = next.timeIntervalSince(now) - time
            waits.append(wait)
            #expect(await deliver(reporter, after: time + wait - 1) == .done(delivered: 0, failed: 0))
            time += wait + 0.01
        }
        for (number, wait) in waits.enumerated() {
            let longest = min(60 * Double(1 << number), 86_400)
            #expect((longest / 2 - 0.01...longest + 0.01).contains(wait), "\(number): \(wait)")
        }
        #expect(collector.requests.count == 14 && reporter.waiting == 3)
        isDown.withLock { $0 = false }
        #expect(await deliver(reporter, after: time) == .done(delivered: 3, failed: 0))
        #expect(reporter.spool.state().addresses[ReportScene.address]?.failures == 0)
    }

    @Test("Setting the clock back does not prolong the pause of an address")
    func clockBack() async throws {
        let answers = Locked(0)
        let collector = ScriptedCollector { _ in
            answers.withLock { $0 += 1 }
            return ReportResponse(status: answers.withLock { $0 } == 1 ? 503 : 204)
        }
        let reporter = try scene.reporter(collector)
        try record(reporter)
        #expect(await deliver(reporter, after: 1_000_000) == .done(delivered: 0, failed: 1))
        #expect(await deliver(reporter) == .done(delivered: 1, failed: 0))
    }

    @Test(
        "Retry-After is obeyed, in seconds and as a date",
        arguments: ["7200", "Fri, 15 Jan 2027 10:00:00 GMT"])
    func retryAfter(value: String) async throws {
        let answers = Locked([ReportResponse(status: 503, retryAfter: value)])
        let collector = ScriptedCollector { _ in answers.withLock { $0.popLast() } ?? ReportResponse(status: 204) }
        let reporter = try scene.reporter(collector)
        try record(reporter)
        #expect(await deliver(reporter) == .done(delivered: 0, failed: 1))
        #expect(await deliver(reporter, after: 7_199) == .done(delivered: 0, failed: 0))
        #expect(await deliver(reporter, after: 7_201) == .done(delivered: 1, failed: 0))
    }

    @Test("Every form of Retry-After is parsed")
    func retryAfterValues() {
        // 2027-01-15T08:00:00Z
        for (text, seconds) in [
            ("0", 0), ("120", 120), ("99999999999999999999", 2_592_000), ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 2044 08:49:37 GMT", 2_592_000),
            ("Friday, 15-Jan-27 08:01:00 GMT", 60), ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
            ("Friday, 15-Jan-77 08:01:00 GMT", 2_592_000), ("Saturday, 15-Jan-78 08:01:00 GMT", 0),
            ("Fri Jan 15 08:01:00 2027", 60), ("Sun Nov  6 08:49:37 1994", 0),
        ] as [(String, Double)] { #expect(RetryAfter.seconds(text, at: now) == seconds, "\(text)") }
        for text in [
            "", "-1", "1.5", "soon", "Fri, 15 Jan 2027 08:01:00 UTC", "Fri, 30 Feb 2027 08:01:00 GMT",
            "Fri, 15 Jan 2027 24:01:00 GMT", "Fri, 15 Jan 2027 08:01 GMT", "1 2",
            "Friday, 15-Jan-2027 08:01:00 GMT", "Friday, 15-Jan-27 08:01:00 UTC", "Friday, 30-Feb-27 08:01:00 GMT",
            "Friday, 15-Jan 08:01:00 GMT", "Fri Jan 15 08:01:00 27", "Fri Jan 32 08:01:00 2027",
            "Fri Jan 15 08:61:00 2027", "Fri January 15 08:01:00 2027",
        ] { #expect(RetryAfter.seconds(text, at: now) == nil, "\(text)") }
    }

    @Test("After a 410, the address gets no more reports and the other addresses do")
    func gone() async throws {
        let collector = ScriptedCollector { request in
            ReportResponse(status: request.url.contains("one") ? 410 : 204)
        }
        let policy = try scene.policy(to: ["https://one.example.net/", "https://two.example.net/"])
        let reporter = try scene.reporter(collector)
        try record(reporter, 3, by: policy)
        #expect(await deliver(reporter) == .done(delivered: 3, failed: 0))
        #expect(collector.requests.count { $0.url.contains("one") } == 1 && reporter.waiting == 0)
        #expect(reporter.counts.gone == 3)
        let alone = try scene.policy(to: ["https://one.example.net/"])
        #expect(reporter.record(try scene.failure("x.example.com", by: alone)) == .gone)
        // A month later the address is asked once more.
        let later = now.addingTimeInterval(31 * 86_400)
        for host in ["y.example.com", "z.example.com"] {
            #expect(reporter.record(try scene.failure(host, by: alone, at: later)) == .kept)
        }
        #expect(await reporter.deliver(at: later.addingTimeInterval(1)) == .done(delivered: 0, failed: 0))
        #expect(collector.requests.count { $0.url.contains("one") } == 2 && reporter.waiting == 0)
    }

    @Test(
        "A report that a collector calls wrong is dropped, and every other refusal is retried",
        arguments: [(400, 0), (413, 0), (415, 0), (422, 0), (401, 1), (404, 1), (429, 1), (500, 1), (302, 1), (199, 1)])
    func statuses(status: Int, waiting: Int) async throws {
        let reporter = try scene.reporter(ScriptedCollector { _ in ReportResponse(status: status) })
        try record(reporter)
        #expect(await deliver(reporter) == .done(delivered: 0, failed: waiting))
        #expect(reporter.waiting == waiting && reporter.counts.refused == 1 - waiting)
    }

    @Test("Each address gets each report once, even if addresses fail at different times")
    func addresses() async throws {
        let isDown = Locked("two")
        let collector = ScriptedCollector { request in
            if request.url.contains(isDown.withLock { $0 }) { throw CollectorIsDown() }
            return ReportResponse(status: 202)
        }
        let policy = try scene.policy(to: ["https://one.example.net/", "https://two.example.net/"])
        let reporter = try scene.reporter(collector) {
            $0.encodings = ["https://two.example.net/": .otlp]
        }
        try record(reporter, 2, by: policy)
        #expect(await deliver(reporter) == .done(delivered: 2, failed: 1))
        isDown.withLock { $0 = "one" }
        #expect(await deliver(reporter, after: 100) == .done(delivered: 2, failed: 0))
        #expect(reporter.waiting == 0)
        let taken = collector.requests.filter { $0.url.contains("one") }
        #expect(taken.count == 2 && Set(taken.map(\.id)).count == 2)
        #expect(taken.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("resourceLogs") })
        let logs = collector.requests.filter { $0.url.contains("two") }
        #expect(
            logs.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("resourceLogs") } && logs.count == 3)
    }

    @Test("A disk that cannot record deliveries causes no duplicate reports")
    func fullDisk() async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector)
        try record(reporter, 2)
        // Makes writing the state fail, because a file cannot be renamed onto a folder.
        unlink("\(scene.folder)/state.json")
        mkdir("\(scene.folder)/state.json", 0o700)
        #expect(await deliver(reporter) == .done(delivered: 2, failed: 0))
        #expect(await deliver(reporter) == .done(delivered: 0, failed: 0))
        #expect(collector.requests.count == 2 && reporter.waiting == 0)
    }

    @Test("Only one delivery runs at a time, across reporters on one folder")
    func oneAtATime() async throws {
        let inside = Locked<PinReporter?>(nil)
        let other = try scene.reporter()
        let seen = Locked<[ReportDelivery]>([])
        struct Nested: ReportTransport {
            let act: @Sendable () async -> Void
            func send(_ request: ReportRequest) async throws -> ReportResponse {
                await act()
                return ReportResponse(status: 204)
            }
        }
        let reporter = try scene.reporter(
            Nested {
                let now = ReportScene.now
                let results = [await other.deliver(at: now), await inside.withLock { $0 }?.deliver(at: now)]
                seen.withLock { $0 += results.compactMap(\.self) }
            })
        inside.withLock { $0 = reporter }
        try record(reporter)
        #expect(await deliver(reporter) == .done(delivered: 1, failed: 0))
        #expect(seen.withLock { $0 } == [.elsewhere, .elsewhere])
        inside.withLock { $0 = nil }
    }

    @Test("Cancelling the task does not count as a failure of the address")
    func cancelled() async throws {
        struct Endless: ReportTransport {
            func send(_ request: ReportRequest) async throws -> ReportResponse {
                try await Task.sleep(nanoseconds: 600_000_000_000)
                return ReportResponse(status: 204)
            }
        }
        let reporter = try scene.reporter(Endless())
        try record(reporter)
        let task = Task { await deliver(reporter) }
        try await Task.sleep(nanoseconds: 50_000_000)
        task.cancel()
        #expect(await task.value == .done(delivered: 0, failed: 0))
        #expect(reporter.spool.state().addresses.isEmpty && reporter.waiting == 1)
    }

    @Test("A policy cannot report to a host that its rules cover")
    func covered() throws {
        let reporter = try scene.reporter()
        let failure = try scene.failure()
        #expect(failure.policy.rule(for: try #require(ServerEndpoint(httpsURL: ReportScene.address))) == nil)
        #expect(throws: PolicyError.self) { try scene.policy(to: ["https://a.example.com/"]) }
        #expect(reporter.record(failure) == .kept)
    }

    @Test("A new report wakes the sleeping loop and waits for its own delay", arguments: [0.0, 900])
    func wake(longestDelay: Double) async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector) { $0.longestDelay = longestDelay }
        // Without reports, the loop sleeps for five minutes.
        #expect(reporter.pause(after: .done(delivered: 0, failed: 0), at: Date()) == 300)
        let task = Task { await reporter.keepDelivering() }
        for _ in 0..<1_000 where !reporter.alarm.hasSleeper { try await Task.sleep(nanoseconds: 10_000_000) }
        #expect(reporter.record(try scene.failure(at: Date())) == .kept)
        #expect(!reporter.alarm.hasSleeper)
        if longestDelay == 0 {
            for _ in 0..<3_000 where reporter.waiting > 0 { try await Task.sleep(nanoseconds: 10_000_000) }
            #expect(collector.requests.count == 1 && reporter.waiting == 0)
        } else {
            // The loop wakes, finds that the report is not due yet, and sleeps until it is.
            let due = try #require(reporter.nextDelivery())
            for _ in 0..<1_000 where !reporter.alarm.hasSleeper { try await Task.sleep(nanoseconds: 10_000_000) }
            #expect(due <= Date() || collector.requests.isEmpty)
            #expect(reporter.alarm.hasSleeper || due <= Date())
        }
        task.cancel()
        await task.value
        #expect(!reporter.alarm.hasSleeper)
    }

    @Test("A loop sends stored reports until it is cancelled")
    func loop() async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector)
        #expect(reporter.record(try scene.failure(at: Date())) == .kept)
        let task = Task { await reporter.keepDelivering() }
        for _ in 0..<1_000 where reporter.waiting > 0 { try await Task.sleep(nanoseconds: 10_000_000) }
        task.cancel()
        await task.value
        #expect(collector.requests.count == 1 && reporter.waiting == 0)
    }
}
