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
