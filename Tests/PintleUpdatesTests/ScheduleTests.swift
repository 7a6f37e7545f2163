import FoundationEssentials
import Testing

@testable import PintleUpdates

@Suite("The schedule of fetches")
struct ScheduleTests {
    private let now = Publication.now
    private let hour = 3_600.0
    private let day = 86_400.0

    private func wait(
        _ history: UpdateSchedule.History, expiresIn: Double? = nil, isLost: Bool = false, phase: Double = 0.5,
        jitter: Double = 1
    ) -> Double {
        UpdateSchedule().next(
            after: history, expiresAt: expiresIn.map { now.addingTimeInterval($0) }, isLost: isLost, phase: phase,
            jitter: jitter, now: now
        ).timeIntervalSince(now)
    }

    private func history(success: Double? = 0, attempt: Double = 0, failures: Int = 0) -> UpdateSchedule.History {
        var history = UpdateSchedule.History()
        history.lastAttempt = now.addingTimeInterval(attempt)
        history.lastSuccess = success.map { now.addingTimeInterval($0) }
        history.failures = failures
        return history
    }

    @Test("A fetch is due at once before the first attempt, after a loss, and after the clock was set back")
    func atOnce() {
        #expect(wait(UpdateSchedule.History()) <= 0)
        #expect(wait(history(), isLost: true) <= 0)
        #expect(wait(history()) > 0)
        #expect(wait(history(success: day, attempt: day)) <= 0)
        #expect(wait(history(success: day, attempt: -1)) <= 0)
    }

    @Test("Installs are spread evenly over the day, each with its own time")
    func spread() {
        var hours: Set<Int> = []
        for step in 0..<240 {
            let next = wait(history(), phase: Double(step) / 240)
            #expect(next >= day / 2 && next <= day * 1.5)
            let time = now.addingTimeInterval(next).timeIntervalSince1970.truncatingRemainder(dividingBy: day)
            #expect(abs(time - Double(step) / 240 * day) < 1)
            hours.insert(Int(time / hour))
        }
        #expect(hours.count == 24)
    }

    @Test("An install fetches at the same time every day")
    func daily() {
        let first = wait(history())
        let late = wait(history(success: -600, attempt: -600))
        #expect(abs(first - late) < 1)
    }

    @Test("Fetches become more frequent towards the expiry, and hourly after it")
    func expiry() {
        let waits = [30 * day, 8 * day, 4 * day, day, 8 * hour, hour, -hour, -30 * day].map {
            wait(history(), expiresIn: $0)
        }
        #expect(waits[0] >= day / 2)
        for (earlier, later) in zip(waits.dropFirst(2), waits.dropFirst(3)) { #expect(later <= earlier) }
        #expect(waits[3] <= 3 * hour)
        for stale in waits.suffix(2) { #expect(stale >= hour * 0.75 && stale <= hour) }
    }

    @Test("The retry pause doubles with each failure, has jitter, and is never skipped")
    func backOff() {
        for failures in 1...60 {
            let longest = wait(history(success: -day, failures: failures), jitter: 1)
            let shortest = wait(history(success: -day, failures: failures), jitter: 0)
            #expect(longest == min(day, 300 * Double(1 << min(failures - 1, 20))))
            #expect(shortest == longest / 2)
            // Even after a loss, the app must not flood a server that is down.
            #expect(wait(history(success: nil, failures: failures), isLost: true, jitter: 0) == shortest)
        }
        #expect(wait(history(failures: .max)) == day)
        #expect(wait(history(success: -day, failures: 20), expiresIn: -1) == hour)
    }

    @Test(
        "With any interval, the next fetch is at a finite time and at least half a second away",
        arguments: [0, -1, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Double])
    func anyInterval(value: Double) {
        let parts: [WritableKeyPath<UpdateSchedule, Double>] = [
            \.intervalSeconds, \.shortestIntervalSeconds, \.firstRetrySeconds,
        ]
        for part in parts {
            var schedule = UpdateSchedule()
            schedule[keyPath: part] = value
            for (failures, expiry) in [(0, nil), (0, -day), (0, day), (1, nil), (60, nil)] as [(Int, Double?)] {
                let wait = schedule.next(
                    after: history(failures: failures), expiresAt: expiry.map { now.addingTimeInterval($0) },
                    isLost: false, phase: 0.5, jitter: 0, now: now
                ).timeIntervalSince(now)
                #expect(wait >= 0.499 && wait < 20 * 365 * day, "\(part) \(failures)")
            }
        }
    }

    @Test("Mismatches cause at most one fetch in ten minutes")
    func mismatches() {
        let limit = MismatchLimit()
        #expect(limit.allows(at: 100))
        #expect(!limit.allows(at: 100) && !limit.allows(at: 699.9))
        #expect(limit.allows(at: 700) && !limit.allows(at: 701))
    }
}
