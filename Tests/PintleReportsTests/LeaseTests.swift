import FoundationEssentials
import PintleTestKit
import PintleTestPeers
import Testing

@testable import Pintle
@testable import PintleReports

/// The right to send is a lease that expires, so a suspended process cannot keep it, and no lock is held while sending.
@Suite("The lease for sending")
struct LeaseTests {
    let scene: ReportScene

    init() throws {
        scene = try ReportScene()
    }

    @Test("The reporter holds no lock while a transport runs")
    func locks() async throws {
        let held = Locked<[[String]]>([])
        let folder = scene.folder
        let reporter = try scene.reporter(
            ScriptedCollector { _ in
                held.withLock { $0.append(LockProbe.heldLocks(in: folder)) }
                return ReportResponse(status: 204)
            })
        let policy = try scene.policy(to: ["https://one.example.net/", "https://two.example.net/"])
        #expect(reporter.record(try scene.failure(by: policy)) == .kept)
        #expect(await reporter.deliver(at: ReportScene.now) == .done(delivered: 2, failed: 0))
        #expect(held.withLock { $0 } == [[], []])
        // Counter-check: the lock files exist, and a held lock would be detected.
        let lock = try #require(LockProbe(folder + "/state.json.lock"))
        #expect(LockProbe.heldLocks(in: folder) == ["state.json.lock"])
        withExtendedLifetime(lock) {}
    }

    @Test("After a process ends while it sends, others can send once its lease expires")
    func takenOver() async throws {
        let collector = ScriptedCollector()
        let (first, second) = (try scene.reporter(collector), try scene.reporter(collector))
        try record(first, 2)
        let clock = Locked(ReportScene.now)
        var round = try DeliveryRound(first) { clock.withLock { $0 } }
        let asked = round.next()
        let request = try #require(asked)
        // The first process is suspended, or has ended without releasing its lease.
        for seconds in [0.0, 1, 59] {
            #expect(await second.deliver(at: ReportScene.now.addingTimeInterval(seconds)) == .elsewhere)
        }
        #expect(collector.requests.isEmpty)
        let later = ReportScene.now.addingTimeInterval(61)
        #expect(await second.deliver(at: later) == .done(delivered: 2, failed: 0))
        // The first process resumes. It records the report that it has sent, and sends no more.
        clock.withLock { $0 = later }
        round.receive(ReportResponse(status: 204))
        let next = round.next()
        #expect(next == nil && round.delivered == 1)
        #expect(collector.requests.count == 2 && Set(collector.requests.map(\.id)).contains(request.id))
        #expect(first.waiting == 0)
    }

    @Test("A slow round keeps its lease, because each request renews it")
    func renewed() async throws {
        let (first, second) = (try scene.reporter(), try scene.reporter())
        try record(first, 4)
        let clock = Locked(ReportScene.now)
        var round = try DeliveryRound(first) { clock.withLock { $0 } }
        for _ in 0..<4 {
            let request = round.next()
            #expect(request != nil)
            clock.withLock { $0 = $0.addingTimeInterval(50) }
            #expect(await second.deliver(at: clock.withLock { $0 }) == .elsewhere)
            round.receive(ReportResponse(status: 204))
        }
        let next = round.next()
        #expect(next == nil && round.delivered == 4)
    }

    @Test("Concurrent deliveries send no report twice within the lease")
    func atOnce() async throws {
        let collector = ScriptedCollector()
        let reporters = try (0..<4).map { _ in try scene.reporter(collector) }
        try record(try #require(reporters.first), 8)
        await withTaskGroup(of: Void.self) { group in
            for reporter in reporters {
                group.addTask { await reporter.deliver(at: ReportScene.now) }
            }
        }
        _ = await reporters.first?.deliver(at: ReportScene.now)
        #expect(collector.requests.count == 8 && Set(collector.requests.map(\.id)).count == 8)
    }

    @Test(
        "A lease lasts longer than a request, and at most an hour",
        arguments: [(30.0, 60), (300, 330), (1e9, 3_600)])
    func length(timeout: Double, seconds: Int) async throws {
        let (first, second) = (try scene.reporter { $0.timeout = timeout }, try scene.reporter())
        try record(first, 1)
        var round = try DeliveryRound(first) { ReportScene.now }
        let request = round.next()
        #expect(request != nil)
        let before = ReportScene.now.addingTimeInterval(Double(seconds) - 1)
        #expect(await second.deliver(at: before) == .elsewhere)
        let after = ReportScene.now.addingTimeInterval(Double(seconds) + 1)
        #expect(await second.deliver(at: after) == .done(delivered: 1, failed: 0))
        let next = round.next()
        #expect(next == nil)
    }

    @Test(
        "A request that outlasts the lease, because the process was suspended, is no failure of the address",
        arguments: [59.0, 61])
    func suspended(seconds: Double) async throws {
        let reporter = try scene.reporter()
        try record(reporter, 2)
        let clock = Locked(ReportScene.now)
        let later = ReportScene.now.addingTimeInterval(seconds)
        let isSuspended = seconds > 60
        do {
            var round = try DeliveryRound(reporter) { clock.withLock { $0 } }
            let request = round.next()
            #expect(request != nil)
            clock.withLock { $0 = later }
            round.receive(nil)
            #expect(round.failed == (isSuspended ? 0 : 1))
            let next = round.next()
            #expect(next == nil)
        }
        // After a failure the address pauses. Otherwise it gets both reports at once.
        #expect(await reporter.deliver(at: later) == .done(delivered: isSuspended ? 2 : 0, failed: 0))
    }

    @Test(
        "A transport that outlasts the lease twice in a row counts as a failure",
        arguments: [true, false])
    func overrunning(isAnsweredBetween: Bool) throws {
        let reporter = try scene.reporter()
        try record(reporter, 1)
        let clock = Locked(ReportScene.now)
        func send(seconds: Double, _ response: ReportResponse?) throws -> Int {
            var round = try DeliveryRound(reporter) { clock.withLock { $0 } }
            let request = round.next()
            #expect(request != nil)
            clock.withLock { $0 += seconds }
            round.receive(response)
            return round.failed
        }
        #expect(try send(seconds: 61, nil) == 0)
        if isAnsweredBetween {
            #expect(try send(seconds: 1, ReportResponse(status: 503)) == 1)
            clock.withLock { $0 += 86_400 }
        }
        #expect(try send(seconds: 61, nil) == (isAnsweredBetween ? 0 : 1))
    }

    @Test("A request ends before its lease does", arguments: [30, 3_570, 3_571, 1e9, .infinity])
    func requestTimeout(timeout: Double) async throws {
        let (first, second) = (try scene.reporter { $0.timeout = timeout }, try scene.reporter())
        try record(first, 1)
        var round = try DeliveryRound(first) { ReportScene.now }
        let next = round.next()
        let request = try #require(next)
        #expect(request.timeout == min(timeout, 3_570))
        let end = ReportScene.now.addingTimeInterval(request.timeout)
        #expect(await second.deliver(at: end) == .elsewhere)
        round.receive(ReportResponse(status: 204))
        #expect(round.delivered == 1)
    }

    @Test(
        "Setting the clock back does not prolong a lease, and a malformed note does not count",
        arguments: [true, false])
    func broken(isNote: Bool) async throws {
        let (first, second) = (try scene.reporter(), try scene.reporter())
        try record(first, 1)
        let ahead = ReportScene.now.addingTimeInterval(isNote ? 0 : 86_400)
        let round = try DeliveryRound(first) { ahead }
        if isNote {
            #expect(await second.deliver(at: ReportScene.now) == .elsewhere)
            try scene.directory.write(Array("no lease".utf8), to: "reports/delivery.lock")
        }
        #expect(await second.deliver(at: ReportScene.now) == .done(delivered: 1, failed: 0))
        withExtendedLifetime(round) {}
        // Another process has the lease by then, and the end of the round does not release it.
        #expect(await second.deliver(at: ReportScene.now) == .done(delivered: 0, failed: 0))
    }

    @Test("A lease truncates a longer note file", arguments: [0, 65, 66, 10_000])
    func longFile(count: Int) async throws {
        let (first, second) = (try scene.reporter(), try scene.reporter())
        try record(first, 1)
        try scene.directory.write([UInt8](repeating: 0x30, count: count), to: "reports/delivery.lock")
        var round = try DeliveryRound(first) { ReportScene.now }
        #expect(FileManager.default.contents(atPath: scene.folder + "/delivery.lock")?.count == 65)
        #expect(await second.deliver(at: ReportScene.now) == .elsewhere)
        let request = round.next()
        #expect(request != nil)
        round.receive(ReportResponse(status: 204))
        #expect(round.delivered == 1)
    }

    private func record(_ reporter: PinReporter, _ count: Int) throws {
        for number in 0..<count {
            #expect(reporter.record(try scene.failure("h\(number).example.com")) == .kept)
        }
    }
}
