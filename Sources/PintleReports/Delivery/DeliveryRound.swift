internal import Pintle
package import PintleStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// One pass over what is in the spool: which request is to be made next, and what its answer means.
///
/// Only one round sends at a time, among all processes. Where this process is suspended in the midst of a request for
/// longer than the ``DeliveryLease`` lasts, another process goes on, and this round ends.
package struct DeliveryRound {
    private let spool: ReportSpool
    private let options: ReportOptions
    private let overrun: Locked<PinReporter.Overrun?>
    private let clock: @Sendable () -> Date
    private let startedAt: Milliseconds
    /// When the request that is under way was made, or its answer came.
    private var now: Date
    private let lease: DeliveryLease
    private var names: ArraySlice<SpoolName>
    private var current: Current?
    private var closed: Set<String> = []
    /// Reports that an address has taken.
    package private(set) var delivered = 0
    /// Addresses that have failed.
    package private(set) var failed = 0

    /// The report that is being sent, and the address that is next, or under way.
    private struct Current {
        let name: SpoolName
        let report: SpooledReport
        var place = 0
    }

    private var time: Milliseconds { Milliseconds(now) }

    /// In milliseconds: then others may send, and what has come to be due meanwhile is seen.
    private static let longest: Int64 = 300_000

    /// - Parameter clock: is asked before each request and after it.
    /// - Throws: `busy` where another round is sending.
    package init(_ reporter: PinReporter, clock: @escaping @Sendable () -> Date) throws(StorageError) {
        spool = reporter.spool
        options = reporter.options
        overrun = reporter.overrun
        self.clock = clock
        now = clock()
        let time = Milliseconds(now)
        lease = try spool.lease(timeout: options.timeout, at: time)
        startedAt = time
        spool.dropExpired(at: time)
        names = spool.names().filter { $0.isDue(at: time) && !SpoolState.isExpired($0.createdAt, at: time) }[...]
    }

    /// Returns the next request to send, or `nil` when there are no more. Pass its answer to ``receive(_:)`` before asking again.
    package mutating func next() -> ReportRequest? {
        while true {
            now = clock()
            guard abs(time.count - startedAt.count) < Self.longest else { return nil }
            guard var current = current ?? nextReport() else { return nil }
            while current.place < current.report.addresses.count {
                self.current = current
                if isOpen(current), let request = request(current) { return lease.renew(at: time) ? request : nil }
                current.place += 1
            }
            self.current = nil
        }
    }

    /// Settles the last request by its answer, and goes on to the next address.
    ///
    /// - Parameter response: `nil` where there was no answer.
    package mutating func receive(_ response: ReportResponse?) {
        guard let current else { return }
        let sentAt = time
        now = clock()
        // A request takes less time than the lease. Without an answer after that time the process was suspended, and the
        // address has not failed. Another process may be sending by now. A transport of the app's own may break its time
        // limit instead: it does so again, and the second time in a row is a failure.
        let isOver = response == nil && lease.isOver(after: sentAt, at: time)
        let request = PinReporter.Overrun(id: current.name.id, place: current.place)
        let isFirst = overrun.withLock { last in
            defer { last = isOver ? request : nil }
            return last != request
        }
        if isOver, isFirst {
            self.current = nil
            names = []
            return
        }
        let outcome = ReportOutcome(response, at: now)
        settle(current, outcome)
        switch outcome {
        case .delivered: delivered += 1
        case .refused, .tooLarge: break
        case .gone: closed.insert(current.report.addresses[current.place])
        case .later:
            closed.insert(current.report.addresses[current.place])
            failed += 1
        }
        self.current?.place += 1
    }

    private mutating func nextReport() -> Current? {
        while let name = names.popFirst() {
            // Gone meanwhile, or broken.
            guard let report = spool.read(name) else { continue }
            // A process was ended before it had removed the file.
            if spool.removeIfFinished(name, report) { continue }
            return Current(name: name, report: report)
        }
        return nil
    }

    private func isOpen(_ current: Current) -> Bool {
        let url = current.report.addresses[current.place]
        let state = spool.state()
        guard state.finished[current.name.id]?.contains(current.place) != true,
            !spool.wasSent(current.name, place: current.place)
        else { return false }
        guard let address = state.addresses[url] else { return !closed.contains(url) }
        if !address.isOpen(at: time) {
            // Nobody will ever take it there.
            if address.isGone { settle(current, .gone) }
            return false
        }
        return !closed.contains(url)
    }

    /// `nil` for a report that cannot be brought below the limit in this encoding: it is dropped.
    private func request(_ current: Current) -> ReportRequest? {
        let url = current.report.addresses[current.place]
        let encoding = options.encodings[url] ?? .rfc7469
        let age = max(0, time.count - current.name.createdAt.count)
        let (spooled, id) = (current.report, current.name.id)
        let body = encoding.body(of: spooled.report, id: id, age: age, isRefused: spooled.isRefused)
        guard let body else {
            settle(current, .tooLarge)
            return nil
        }
        // A request that outlasted the lease could be sent by another process as well.
        let timeout = options.timeout > DeliveryLease.longestRequest ? DeliveryLease.longestRequest : options.timeout
        return ReportRequest(url: url, contentType: encoding.contentType, body: body, id: id, timeout: timeout)
    }

    private func settle(_ current: Current, _ outcome: ReportOutcome) {
        let (now, time, options) = (now, time, options)
        let url = current.report.addresses[current.place]
        spool.settle(current.name, current.report, place: current.place, at: time) { state in
            var address = state.addresses[url] ?? SpoolState.Address(askedAt: time, notBefore: time)
            defer { state.addresses[url] = address }
            switch outcome {
            case .later(let retryAfter):
                address.failures = min(address.failures + 1, 1_000)
                let wait = options.wait(afterFailures: address.failures, jitter: Double.random(in: 0...1))
                address.askedAt = time
                address.notBefore = Milliseconds(now.addingTimeInterval(max(wait, retryAfter ?? 0)))
                return false
            case .delivered:
                state.counts.delivered += 1
                address = SpoolState.Address(askedAt: time, notBefore: time)
            case .refused: state.counts.refused += 1
            case .tooLarge: state.counts.lost += 1
            case .gone:
                state.counts.gone += 1
                // Not where nobody asked, because the address is known to be gone.
                if !address.isGone || address.isOpen(at: time) { address.askedAt = time }
                address.isGone = true
            }
            return true
        }
    }
}
