package import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
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
