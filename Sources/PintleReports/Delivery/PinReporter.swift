package import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps reports of failures on the disk, and sends them to the addresses that the policy's rules name.
///
///     let reporter = try PinReporter(folder: folder)            // PintleURLSession brings the transport
///     let session = URLSession.pinned(to: policy, observer: reporter)
///     Task { await reporter.keepDelivering() }
///
/// Nothing is sent without one of these, nor for a rule without `reportTo`. A report is on the disk before it is sent, and
/// stays there until each address has taken it, for 30 days at most, whatever ends the process. Several processes may
/// share a folder. Safe to use from any thread.
public final class PinReporter: TrustFailureObserver {
    let spool: ReportSpool
    let options: ReportOptions
    let transport: any ReportTransport
    let alarm = DeliveryAlarm()
    /// The last request, if it ended after its lease and without an answer.
    let overrun = Locked<Overrun?>(nil)

    /// A report on its way to one of its addresses.
    struct Overrun: Sendable, Equatable {
        let id: String
        let place: Int
    }

    /// - Parameters:
    ///   - folder: of its own, mode 0700; made where it is not there, in one that is.
    /// - Throws: why the folder cannot be used.
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

    /// Keeps the report of a verdict. Writes to the disk: sessions and observed evaluators call it outside of handshakes.
    public func observe(_ event: TrustFailureEvent) {
        if case .verdict(let failure) = event { record(failure) }
    }

    /// What became of failures, since the folder was made.
    public var counts: ReportCounts { spool.counts }

    /// Reports that no address is done with yet.
    public var waiting: Int { spool.names().count }

    /// Waits until every event that was there by now is on the disk.
    public func settle() async { await TrustFailureFeed.shared.settle() }

    /// Writes a report of the failure to the spool.
    ///
    /// - Returns: `nil` for what is not reported at all: no rule, no address, not of the sample, or redacted away.
    @discardableResult
    package func record(_ failure: TrustFailure) -> ReportSpool.Outcome? {
        guard let rule = failure.rule, rule.index < failure.policy.hosts.count else { return nil }
        let addresses = addresses(failure, rule)
        guard !addresses.isEmpty, spool.draw < options.sampling else { return nil }
        guard !spool.isKnown(SpoolName.key(of: failure, rule), at: Milliseconds(failure.instant)) else {
            return .duplicate
        }
        guard var report = TrustFailureReport(failure, app: options.app) else { return nil }
        if let redact = options.redact {
            guard let redacted = redact(report) else { return nil }
            report = redacted
        }
        guard report.fit(size: { $0.json().count }) else {
            spool.count { $0.lost += 1 }
            return nil
        }
        let name = SpoolName(
            failure, rule, notBefore: Milliseconds(failure.instant.addingTimeInterval(options.delay)))
        let isRefused = !failure.decision.isTrusted
        let outcome = spool.add(SpooledReport(addresses: addresses, report: report, isRefused: isRefused), as: name)
        if outcome == .kept { alarm.ring() }
        return outcome
    }

    /// Those that the rule names and no rule covers. A policy has no others; this holds for what comes to be one.
    private func addresses(_ failure: TrustFailure, _ rule: MatchedRule) -> [String] {
        let urls = failure.policy.hosts[rule.index].reportTo.filter { url in
            ServerEndpoint(httpsURL: url).map { failure.policy.rule(for: $0) == nil } ?? false
        }
        return Array(urls.prefix(SpooledReport.maximumAddresses))
    }
}

/// What came of sending.
public enum ReportDelivery: Sendable, Hashable {
    /// So many reports were taken by an address, and so many addresses failed.
    case done(delivered: Int, failed: Int)
    /// Another process, or another call, is sending.
    case elsewhere
    /// The folder cannot be used.
    case unusable(StorageError)
}

extension PinReporter {
    /// Sends what is due, each report to each of its addresses.
    ///
    /// An address that fails is left alone for a while, longer each time, and at least as long as its `Retry-After` asks.
    /// After five minutes it ends, whatever is left.
    @discardableResult
    public func deliver() async -> ReportDelivery { await deliver { Date() } }

    /// As if it were then.
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
            // Whoever cancels has not found out anything about the address.
            if response == nil, Task.isCancelled { break }
            round.receive(response)
        }
        return .done(delivered: round.delivered, failed: round.failed)
    }

    /// Sends each report when it is due, until the task that calls this is cancelled.
    ///
    /// A report that this object keeps meanwhile wakes it, so the report goes out once its own random delay of at most
    /// ``ReportOptions/longestDelay`` is over. It looks into the folder once a second at most, and every five minutes for
    /// reports of other processes.
    public func keepDelivering() async {
        while !Task.isCancelled {
            let count = alarm.count
            let result = await deliver()
            await alarm.sleep(pause(after: result, at: Date()), since: count)
            // Many reports at once are sent in one round.
            if alarm.count != count { try? await Task.sleep(nanoseconds: 1_000_000_000) }
        }
    }

    /// In seconds. Looked at again every five minutes at the latest: clocks are set, and other processes report too. Where
    /// nothing could be sent, a minute passes at least.
    func pause(after result: ReportDelivery, at now: Date) -> Double {
        let shortest: Double = if case .done = result { 1 } else { 60 }
        let wait = nextDelivery(at: now).map { $0.timeIntervalSince(now) } ?? 300
        return min(max(wait, shortest), 300)
    }

    /// When the next report is due; `nil` where none waits.
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
