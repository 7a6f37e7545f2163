package import Pintle
public import PintleEvents
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Stores reports of failures on the disk, and sends them to the addresses in the policy's rules.
///
///     let reporter = try PinReporter(folder: folder)            // PintleRemote brings the transport
///     let session = URLSession.pinned(to: policy, observer: reporter)
///     Task { await reporter.keepDelivering() }
///
/// Without a reporter, and for a rule without `reportTo`, nothing is sent. A report is written to the disk before it is
/// sent. It stays there until every address has accepted it, for at most 30 days, even if the process ends. Several
/// processes may share a folder. Safe to use from any thread.
public final class PinReporter: TrustEventObserver {
    let spool: ReportSpool
    let options: ReportOptions
    let transport: any ReportTransport
    let alarm = DeliveryAlarm()
    /// The last request, if it took longer than its lease and had no answer.
    let overrun = Locked<Overrun?>(nil)

    /// A report and the index of one of its addresses.
    struct Overrun: Sendable, Equatable {
        let id: String
        let place: Int
    }

    /// Opens a reporter.
    ///
    /// - Parameters:
    ///   - folder: a folder of its own with mode 0700. Created if it does not exist; its parent must exist.
    ///   - options: the contents and the times of reports.
    ///   - transport: sends the reports.
    /// - Throws: the reason that the folder cannot be used.
    public convenience init(
        folder: String, options: ReportOptions = ReportOptions(), transport: some ReportTransport
    ) throws(StorageError) {
        self.init(spool: try ReportSpool(folder: folder), options: options, transport: transport)
    }

    package init(spool: ReportSpool, options: ReportOptions = ReportOptions(), transport: some ReportTransport) {
        self.spool = spool
        self.options = options
        self.transport = transport
    }

    /// Stores the report of a verdict. It writes to the disk, so sessions and observed evaluators call it outside of
    /// handshakes.
    public func observe(_ event: TrustEvent) {
        if case .verdict(let event) = event { record(event) }
    }

    /// The numbers of reports by outcome, since the folder was created.
    public var counts: ReportCounts { spool.counts }

    /// The number of reports that are not yet finished for all of their addresses.
    public var waiting: Int { spool.names().count }

    /// Waits until all events so far are on the disk.
    public func waitForEvents() async { await TrustEventFeed.shared.waitForEvents() }

    /// Writes a report of a verdict to the spool.
    ///
    /// - Parameter event: the verdict.
    /// - Returns: `nil` if the verdict is not reported. Then there is no rule or no address, the install is not in the
    ///   sample, the app has dropped the report, or the report cannot be shortened to the limit.
    @discardableResult
    package func record(_ event: VerdictEvent) -> ReportSpool.Outcome? {
        guard let rule = event.rule, rule.index < event.policy.hosts.count else { return nil }
        let addresses = addresses(event, rule)
        guard !addresses.isEmpty, spool.draw < options.sampling else { return nil }
        guard !spool.isKnown(SpoolName.key(of: event, rule), at: Milliseconds(event.instant)) else {
            return .duplicate
        }
        guard var report = TrustFailureReport(event, app: options.app) else { return nil }
        if let redact = options.redact {
            guard let redacted = redact(report) else { return nil }
            report = redacted
        }
        guard report.fit(size: { $0.json().count }) else {
            spool.count { $0.lost += 1 }
            return nil
        }
        let name = SpoolName(
            event, rule, notBefore: Milliseconds(event.instant.addingTimeInterval(options.delay)))
        let isRefused = !event.decision.isTrusted
        let outcome = spool.add(SpooledReport(addresses: addresses, report: report, isRefused: isRefused), as: name)
        if outcome == .kept { alarm.ring() }
        return outcome
    }

    /// Returns the rule's addresses whose host no rule covers. A policy allows no others, but a later version may.
    private func addresses(_ event: VerdictEvent, _ rule: MatchedRule) -> [String] {
        let urls = event.policy.hosts[rule.index].reportTo.filter { url in
            ServerEndpoint(httpsURL: url).map { event.policy.rule(for: $0) == nil } ?? false
        }
        return Array(urls.prefix(SpooledReport.maximumAddresses))
    }
}

/// The result of a delivery.
public enum ReportDelivery: Sendable, Hashable {
    /// The number of reports that an address accepted, and the number of addresses that failed.
    case done(delivered: Int, failed: Int)
    /// Another process or another call is sending.
    case elsewhere
    /// The folder cannot be used.
    case unusable(StorageError)
}

extension PinReporter {
    /// Sends the reports that are due, each to all of its addresses.
    ///
    /// After a failure, an address is not asked again for a while: longer after each failure, and at least for its
    /// `Retry-After`. The call ends after five minutes, even if reports are left.
    @discardableResult
    public func deliver() async -> ReportDelivery { await deliver { Date() } }

    /// Sends the reports that are due at this time.
    @discardableResult
    package func deliver(at now: Date) async -> ReportDelivery { await deliver { now } }

    func deliver(clock: @escaping @Sendable () -> Date) async -> ReportDelivery {
        var round: DeliveryRound
        do {
            round = try DeliveryRound(self, clock: clock)
        } catch {
            return error.code == .busy ? .elsewhere : .unusable(error)
        }
        while !Task.isCancelled, let request = round.next() {
            let response = try? await transport.send(request)
            // The caller cancelled the request, so it says nothing about the address.
            if response == nil, Task.isCancelled { break }
            round.receive(response)
        }
        return .done(delivered: round.delivered, failed: round.failed)
    }

    /// Sends each report when it is due, until the surrounding task is cancelled.
    ///
    /// A report that this object stores wakes the loop. The report is sent after its own random delay of at most
    /// ``ReportOptions/longestDelay``. The loop reads the folder at most once a second, and at least every five minutes
    /// to find reports of other processes.
    public func keepDelivering() async {
        while !Task.isCancelled {
            let count = alarm.count
            let result = await deliver()
            await alarm.sleep(pause(after: result, at: Date()), since: count)
            // Coalesce a burst of reports into one round.
            if alarm.count != count { try? await Task.sleep(nanoseconds: 1_000_000_000) }
        }
    }

    /// Returns the pause in seconds: at most five minutes, because the clock may be set and other processes may add
    /// reports. At least a minute if nothing could be sent.
    func pause(after result: ReportDelivery, at now: Date) -> Double {
        let shortest: Double = if case .done = result { 1 } else { 60 }
        let wait = nextDelivery(at: now).map { $0.timeIntervalSince(now) } ?? 300
        return min(max(wait, shortest), 300)
    }

    /// Returns the time at which the next report is due; `nil` if no report is waiting.
    public func nextDelivery(at now: Date = Date()) -> Date? {
        let time = Milliseconds(now)
        let state = spool.state()
        return spool.names().compactMap { name -> Milliseconds? in
            guard !SpoolState.isExpired(name.createdAt, at: time), let report = spool.read(name) else { return nil }
            let own = name.isDue(at: time) ? time : name.notBefore
            let places = report.addresses.enumerated().filter { place, _ in
                state.finished[name.id]?.contains(place) != true && !spool.wasSent(name, place: place)
            }
            return places.map { _, url in
                guard let address = state.addresses[url], !address.isGone, !address.isOpen(at: time) else { return own }
                return max(own, address.notBefore)
            }.min()
        }.min()?.date
    }
}
