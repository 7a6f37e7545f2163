internal import Pintle
package import PintleStorage
package import PintleSystem

/// A pass over the spool. It chooses the next request to send, and evaluates its answer.
///
/// Only one round sends at a time, among all processes. If this process is suspended during a request for longer than
/// the ``DeliveryLease`` lasts, another process may continue, and this round ends.
package struct DeliveryRound {
    private let spool: ReportSpool
    private let options: ReportOptions
    private let overrun: Locked<PinReporter.Overrun?>
    private let clock: @Sendable () -> Date
    private let startedAt: Milliseconds
    /// The time at which the current request was made or answered.
    private var now: Date
    private let lease: DeliveryLease
    private var names: ArraySlice<SpoolName>
    private var current: Current?
    private var closed: Set<String> = []
    /// The number of reports that an address has accepted.
    package private(set) var delivered = 0
    /// The number of addresses that have failed.
    package private(set) var failed = 0

    /// The current report, and the index of the next or current address.
    private struct Current {
        let name: SpoolName
        let report: SpooledReport
        var place = 0
    }

    private var time: Milliseconds { Milliseconds(now) }

    /// The longest duration of a round in milliseconds. Then other processes may send, and reports that became due are
    /// found.
    private static let longest: Int64 = 300_000

    /// - Parameters:
    ///   - reporter: the reporter whose spool is sent.
    ///   - clock: called before and after each request.
    /// - Throws: `busy` if another round is sending.
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

    /// Returns the next request to send; `nil` at the end. Pass its answer to ``receive(_:)`` before the next call.
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

    /// Records the answer to the last request, and continues with the next address.
    ///
    /// - Parameter response: the answer; `nil` without one.
    package mutating func receive(_ response: ReportResponse?) {
        guard let current else { return }
        let sentAt = time
        now = clock()
        // A request takes less time than the lease. If there is no answer after that time, the process was probably
        // suspended, so this does not count as a failure of the address; another process may be sending by now. A
        // custom transport may also ignore its time-out. It would do so again, so the second time in a row counts as a
        // failure.
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
            // The report was removed in the meantime, or cannot be read.
            guard let report = spool.read(name) else { continue }
            // An earlier process ended before it removed the file.
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
            // The address accepts no more reports.
            if address.isGone { settle(current, .gone) }
            return false
        }
        return !closed.contains(url)
    }

    /// Returns the request; `nil` if the report cannot be shortened to the limit in this encoding. The report is then
    /// dropped.
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
        // If a request took longer than the lease, another process could send the report too.
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
                // Unless the address was known to be gone, and was not asked now.
                if !address.isGone || address.isOpen(at: time) { address.askedAt = time }
                address.isGone = true
            }
            return true
        }
    }
}
