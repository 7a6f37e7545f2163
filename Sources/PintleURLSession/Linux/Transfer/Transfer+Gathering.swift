internal import CCurl
internal import Foundation

/// The transfers of a loop that have gathered content since it last looked. Belongs to the transport's thread.
final class Gathering {
    private var transfers: [Transfer] = []
    private var yielding: [Transfer] = []
    /// Those that go on after ``yielding``.
    private var yieldingLast: [Transfer] = []
    /// A Boolean value that indicates whether the next turn has work that no socket reports.
    var hasYielding: Bool { !yielding.isEmpty || !yieldingLast.isEmpty }

    /// Notes a transfer that goes on in the next turn of the loop.
    ///
    /// - Parameter behindOthers: whether the transfer had a share of this turn: those that had none go first.
    func yield(_ transfer: Transfer, behindOthers: Bool) {
        if behindOthers { yieldingLast.append(transfer) } else { yielding.append(transfer) }
    }

    func takeYielding() -> [Transfer] {
        defer { (yielding, yieldingLast) = ([], []) }
        return yielding + yieldingLast
    }

    func add(_ transfer: Transfer) { transfers.append(transfer) }

    func takeAll() -> [Transfer] {
        defer { transfers.removeAll(keepingCapacity: true) }
        return transfers
    }
}

/// libcurl hands content over record by record, 16 KiB at most. Who is told of it, on whatever queue, is told once of
/// what came together.
extension Transfer {
    /// What is handed over at once, however much more there is.
    private static let gatheringLimit = 256 << 10
    /// A record that is about full; others are likely to follow.
    private static let likelyFullRecord = 8 << 10

    func gather(_ bytes: UnsafeRawBufferPointer) {
        if attempt.gathered.isEmpty {
            gathering?.add(self)
            if bytes.count >= Self.likelyFullRecord { attempt.gathered.reserveCapacity(64 << 10) }
        }
        attempt.gathered.append(contentsOf: bytes)
        attempt.received += Int64(bytes.count)
        if attempt.gathered.count >= Self.gatheringLimit { handOver() }
    }

    /// Tells of what was gathered. Whoever is told may have the rest wait, or be unable to keep it: that is a loss.
    func handOver() {
        guard !attempt.gathered.isEmpty, let events else { return }
        let content = attempt.gathered
        attempt.gathered = Data()
        if let more = events.transfer(self, didReceive: content) {
            holds.formUnion(more)
        } else {
            noteLoss(CURLE_WRITE_ERROR)
        }
    }
}
