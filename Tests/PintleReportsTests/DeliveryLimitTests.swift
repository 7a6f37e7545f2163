import FoundationEssentials
import Glibc
import PintleStorage
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintleReports

/// The lifetime of a report and the pauses of an address.
@Suite("Limits of delivery")
struct DeliveryLimitTests {
    private let scene: ReportScene
    private let now = ReportScene.now
    private static let day: Double = 86_400

    init() throws {
        scene = try ReportScene()
    }

    private func deliver(_ reporter: PinReporter, after seconds: Double = 0) async -> ReportDelivery {
        await reporter.deliver(at: now.addingTimeInterval(seconds))
    }

    private func hinder() {
        // Makes writing the state fail, because a file cannot be renamed onto a folder.
        unlink("\(scene.folder)/state.json")
        mkdir("\(scene.folder)/state.json", 0o700)
    }

    @Test("Reports to a dead collector expire after 30 days and make room for others")
    func moved() async throws {
        let (old, new) = ("https://old.example.net/", "https://new.example.net/")
        let collector = ScriptedCollector { ReportResponse(status: $0.url == old ? 503 : 204) }
        let reporter = try scene.reporter(collector)
        let (before, after) = (try scene.policy(to: [old]), try scene.policy(to: [new]))
        for port in 1...8 {
            #expect(reporter.record(try scene.failure(port: UInt16(port), by: before)) == .kept)
        }
        #expect(await deliver(reporter) == .done(delivered: 0, failed: 1))
        let early = now.addingTimeInterval(29 * Self.day)
        #expect(reporter.record(try scene.failure(by: after, at: early)) == .hostIsFull)
        #expect(await reporter.deliver(at: early) == .done(delivered: 0, failed: 1))
        let late = now.addingTimeInterval(30 * Self.day + 1)
        #expect(reporter.record(try scene.failure(by: after, at: late)) == .kept)
        #expect(reporter.waiting == 1 && reporter.counts.expired == 8)
        #expect(await reporter.deliver(at: late) == .done(delivered: 1, failed: 0))
        #expect(collector.requests.map(\.url) == [old, old, new] && reporter.waiting == 0)
        #expect(reporter.counts.expired == 8)
    }

    @Test("A report is sent until it is 30 days old, and then dropped", arguments: [0.0, 1])
    func age(beyond: Double) async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector)
        #expect(reporter.record(try scene.failure()) == .kept)
        let isExpired = beyond > 0
        let time = now.addingTimeInterval(30 * Self.day + beyond)
        #expect((reporter.nextDelivery(at: time) == nil) == isExpired)
        #expect(await reporter.deliver(at: time) == .done(delivered: isExpired ? 0 : 1, failed: 0))
        #expect(collector.requests.count == (isExpired ? 0 : 1) && reporter.waiting == 0)
        #expect(reporter.counts.expired == (isExpired ? 1 : 0) && reporter.counts.lost == 0)
    }

    @Test(
        "Retry-After of a day is obeyed even if the disk cannot record it",
        arguments: [false, true])
    func retryLater(isHindered: Bool) async throws {
        let collector = ScriptedCollector { _ in ReportResponse(status: 503, retryAfter: "86400") }
        let reporter = try scene.reporter(collector)
        #expect(reporter.record(try scene.failure()) == .kept)
        if isHindered { hinder() }
        #expect(await deliver(reporter) == .done(delivered: 0, failed: 1))
        for seconds in [1, 60, 86_399] as [Double] {
            #expect(await deliver(reporter, after: seconds) == .done(delivered: 0, failed: 0))
        }
        let next = try #require(reporter.nextDelivery(at: now.addingTimeInterval(1)))
        #expect(next.timeIntervalSince(now) >= 86_400)
        #expect(await deliver(reporter, after: 86_401) == .done(delivered: 0, failed: 1))
        #expect(collector.requests.count == 2 && reporter.waiting == 1)
        #expect(reporter.spool.state().addresses[ReportScene.address]?.failures == 2)
        guard isHindered else { return }
        // The state in memory is written once the disk works again.
        rmdir("\(scene.folder)/state.json")
        #expect(await deliver(reporter, after: 200_000) == .done(delivered: 0, failed: 1))
        #expect(try scene.reporter().spool.state().addresses[ReportScene.address]?.failures == 3)
    }

    @Test("A 410 ends the reports to an address even if the disk cannot record it", arguments: [false, true])
    func gone(isHindered: Bool) async throws {
        let collector = ScriptedCollector { _ in ReportResponse(status: 410) }
        let reporter = try scene.reporter(collector)
        let policy = try scene.policy()
        for port in 1...2 { #expect(reporter.record(try scene.failure(port: UInt16(port), by: policy)) == .kept) }
        if isHindered { hinder() }
        #expect(await deliver(reporter) == .done(delivered: 0, failed: 0))
        #expect(await deliver(reporter, after: 60) == .done(delivered: 0, failed: 0))
        #expect(collector.requests.count == 1 && reporter.waiting == 0 && reporter.counts.gone == 2)
        #expect(reporter.record(try scene.failure(port: 3, by: policy)) == .gone)
        #expect(reporter.nextDelivery(at: now) == nil)
    }

    @Test("A finished report whose file could not be removed is not sent again")
    func finished() async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector)
        #expect(reporter.record(try scene.failure()) == .kept)
        let name = try #require(reporter.spool.names().first)
        let content = try scene.directory.read("reports/\(name.text)")
        hinder()
        #expect(reporter.nextDelivery(at: now) == now)
        #expect(await deliver(reporter) == .done(delivered: 1, failed: 0))
        try scene.directory.write(content, to: "reports/\(name.text)")
        chmod("\(scene.folder)/\(name.text)", 0o600)
        #expect(reporter.waiting == 1 && reporter.nextDelivery(at: now) == nil)
        #expect(await deliver(reporter) == .done(delivered: 0, failed: 0))
        #expect(collector.requests.count == 1 && reporter.waiting == 0)
    }

    @Test("If another process is sending, the loop pauses for a minute")
    func pauses() throws {
        let reporter = try scene.reporter()
        let done = ReportDelivery.done(delivered: 0, failed: 0)
        #expect(reporter.pause(after: done, at: now) == 300)
        #expect(reporter.record(try scene.failure()) == .kept)
        #expect(reporter.pause(after: done, at: now) == 1)
        #expect(reporter.pause(after: .elsewhere, at: now) == 60)
        let error = StorageError(.notWritten, at: "", message: "", hint: "")
        #expect(reporter.pause(after: .unusable(error), at: now) == 60)
    }

    @Test("A round reads the clock for each request and ends after five minutes")
    func clock() async throws {
        let time = Locked(now)
        let collector = ScriptedCollector { _ in
            time.withLock { $0 += 200 }
            return ReportResponse(status: 204)
        }
        let reporter = try scene.reporter(collector)
        let policy = try scene.policy()
        for port in 1...5 { #expect(reporter.record(try scene.failure(port: UInt16(port), by: policy)) == .kept) }
        #expect(await reporter.deliver { time.withLock { $0 } } == .done(delivered: 2, failed: 0))
        #expect(await reporter.deliver { time.withLock { $0 } } == .done(delivered: 2, failed: 0))
        let ages = try collector.requests.map { try JSONDocument($0.body).root["age"]?.integer }
        #expect(ages == [0, 200_000, 400_000, 600_000])
        // The pause counts from the time of the answer.
        let slow = ScriptedCollector { _ in
            time.withLock { $0 += 200 }
            return ReportResponse(status: 503, retryAfter: "1000")
        }
        let other = try scene.reporter(slow)
        #expect(await other.deliver { time.withLock { $0 } } == .done(delivered: 0, failed: 1))
        let next = try #require(reporter.nextDelivery(at: time.withLock { $0 }))
        #expect(next == time.withLock { $0 }.addingTimeInterval(1_000))
    }

    @Test("A duplicate does not delay the next report")
    func sliding() throws {
        let policy = try scene.policy()
        #expect(try scene.reporter().record(try scene.failure(by: policy)) == .kept)
        // Another process, which has no cache of recent failures yet.
        let reporter = try scene.reporter()
        for hours in [23.0, 23.5] {
            let failure = try scene.failure(by: policy, at: now.addingTimeInterval(hours * 3_600))
            #expect(reporter.record(failure) == .duplicate)
        }
        #expect(reporter.record(try scene.failure(by: policy, at: now.addingTimeInterval(Self.day))) == .kept)
    }

    @Test("A pause of an address ends if the clock is set back by hours, but not after a small correction")
    func correctedClock() {
        let asked = Milliseconds(now)
        func at(_ seconds: Double) -> Milliseconds { Milliseconds(now.addingTimeInterval(seconds)) }
        var address = SpoolState.Address(failures: 1, askedAt: asked, notBefore: at(60))
        for isGone in [false, true] {
            address.isGone = isGone
            #expect(!address.isOpen(at: at(0)) && !address.isOpen(at: at(-1)) && !address.isOpen(at: at(-3_600)))
            #expect(address.isOpen(at: at(-3_601)) && address.isOpen(at: at(60)) != isGone)
        }
        #expect(address.isOpen(at: at(30 * Self.day)))
        // An address without a failure can be asked at any time.
        #expect(SpoolState.Address(askedAt: asked, notBefore: asked).isOpen(at: at(-1)))
    }

    @Test(
        "A report that no encoding can shorten to the limit counts as lost and not as refused",
        arguments: [ReportEncoding.rfc7469, .otlp])
    func tooLarge(encoding: ReportEncoding) async throws {
        let collector = ScriptedCollector()
        let reporter = try scene.reporter(collector) {
            $0.encodings = [ReportScene.address: encoding]
            $0.redact = { report in
                var report = report
                // This text occurs twice in one of the encodings.
                report.hostname = String(repeating: "x", count: 40_000)
                return report
            }
        }
        #expect(reporter.record(try scene.failure()) == .kept)
        let delivered = encoding == .otlp ? 0 : 1
        #expect(await deliver(reporter) == .done(delivered: delivered, failed: 0))
        #expect(reporter.counts.lost == 1 - delivered && reporter.counts.refused == 0 && reporter.waiting == 0)
    }

    @Test("Intervals beyond the limits are clamped")
    func options() {
        var options = ReportOptions()
        for (longest, range) in [
            (Double.infinity, 0...315_360_000), (.nan, 0...0), (-1, 0...0), (10, 0...10),
        ] as [(Double, ClosedRange<Double>)] {
            options.longestDelay = longest
            #expect(range.contains(options.delay), "\(longest)")
            (options.firstRetry, options.longestRetry) = (longest, .infinity)
            #expect((0...315_360_000).contains(options.wait(afterFailures: 1_000, jitter: 1)), "\(longest)")
            (options.firstRetry, options.longestRetry) = (60, longest)
            #expect(range.contains(options.wait(afterFailures: 1_000, jitter: 1)), "\(longest)")
        }
    }
}
