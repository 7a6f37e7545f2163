/// The transfers of a loop that have gathered content since it last looked. Belongs to the transport's thread.
final class Gathering {
    private var transfers: [Transfer] = []
    private var yielding: [Transfer] = []
    /// The transfers that go on after those of ``yielding``.
    private var yieldingLast: [Transfer] = []
    /// A Boolean value that indicates whether the next turn has work that no socket reports.
    var hasYielding: Bool { !yielding.isEmpty || !yieldingLast.isEmpty }

    /// Notes a transfer that goes on in the next turn of the loop.
    ///
    /// - Parameter behindOthers: whether the transfer had a share of this turn: those that had none go first.
    func yield(_ transfer: Transfer, behindOthers: Bool) {
        if behindOthers { yieldingLast.append(transfer) } else { yielding.append(transfer) }
    }

    func removeYielding() -> [Transfer] {
        defer { (yielding, yieldingLast) = ([], []) }
        return yielding + yieldingLast
    }

    func add(_ transfer: Transfer) { transfers.append(transfer) }

    func removeAll() -> [Transfer] {
        defer { transfers.removeAll(keepingCapacity: true) }
        return transfers
    }
}
