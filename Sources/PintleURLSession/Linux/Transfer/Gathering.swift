/// The transfers of a loop that have gathered content since the loop last checked. Use it only on the transport's
/// thread.
final class Gathering {
    private var transfers: [Transfer] = []
    private var streams: [Transfer] = []
    private var yielding: [Transfer] = []
    /// The transfers that continue after those of ``yielding``.
    private var yieldingLast: [Transfer] = []
    /// A Boolean value that indicates whether a transfer continues in the next turn, even if no socket is ready.
    var hasYielding: Bool { !yielding.isEmpty || !yieldingLast.isEmpty }

    /// Records a transfer that continues in the next turn of the loop.
    ///
    /// - Parameter behindOthers: A Boolean value that indicates whether the transfer has already decoded content in
    ///   this turn. Transfers that have not go first.
    func yield(_ transfer: Transfer, behindOthers: Bool) {
        if behindOthers { yieldingLast.append(transfer) } else { yielding.append(transfer) }
    }

    func removeYielding() -> [Transfer] {
        defer { (yielding, yieldingLast) = ([], []) }
        return yielding + yieldingLast
    }

    /// Records a transfer whose connection turned out to carry several at a time, so that queued ones may start.
    func addStream(_ transfer: Transfer) { streams.append(transfer) }

    func removeStreams() -> [Transfer] {
        defer { streams.removeAll(keepingCapacity: true) }
        return streams
    }

    func add(_ transfer: Transfer) { transfers.append(transfer) }

    func removeAll() -> [Transfer] {
        defer { transfers.removeAll(keepingCapacity: true) }
        return transfers
    }
}
