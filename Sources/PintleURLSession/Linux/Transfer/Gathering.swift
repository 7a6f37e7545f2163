/// The transfers of a loop that have gathered content since the loop last checked. Use it only on the transport's
/// thread.
final class Gathering {
    private var transfers: [Transfer] = []
    private var streams: [Transfer] = []

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
