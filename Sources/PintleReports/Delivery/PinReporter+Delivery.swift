internal import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
    @discardableResult
    public func deliver(at now: Date = Date()) async -> ReportDelivery {
        var round: DeliveryRound
        do {
            round = try DeliveryRound(self, at: now)
        } catch {
            return error.code == .busy ? .elsewhere : .unusable(error)
        }
        while !Task.isCancelled, let request = round.next() {
            let response = try? await transport.send(request)
            // Whoever cancels has not found out anything about the address.
            if response == nil, Task.isCancelled { break }
            round.take(response)
        }
        return .done(delivered: round.delivered, failed: round.failed)
    }

    /// Sends what is due, when it is due, until its task is cancelled.
    public func keepDelivering() async {
        while !Task.isCancelled {
            await deliver()
            // Looked at again every five minutes at the latest: clocks are set, and other processes report too.
            let wait = nextDelivery().map { $0.timeIntervalSinceNow } ?? 300
            try? await Task.sleep(nanoseconds: UInt64(min(max(wait, 1), 300) * 1e9))
        }
    }

    /// When the next report is due; `nil` where none waits.
    public func nextDelivery(at now: Date = Date()) -> Date? {
        let time = Milliseconds(now)
        let state = spool.state()
        return spool.names().compactMap { name -> Milliseconds? in
            guard let report = spool.read(name) else { return nil }
            let own = name.isDue(at: time) ? time : name.notBefore
            let places = report.addresses.enumerated().filter { state.finished[name.id]?.contains($0.offset) != true }
            return places.map { _, url in
                guard let address = state.addresses[url], !address.isGone, !address.isOpen(at: time) else { return own }
                return max(own, address.notBefore)
            }.min()
        }.min()?.date
    }
}
