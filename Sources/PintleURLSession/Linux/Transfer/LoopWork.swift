/// The work that the transfers of a loop leave for the loop. Use it only on the transport's thread.
final class LoopWork {
    private var gathered: [Transfer] = []
    private var streams: [Transfer] = []
    private var broken: [HandshakeJudge] = []

    /// Records a transfer that has gathered content, or has more to decode.
    func addGathered(_ transfer: Transfer) { gathered.append(transfer) }
    var hasGathered: Bool { !gathered.isEmpty }

    func removeGathered() -> [Transfer] {
        defer { gathered.removeAll(keepingCapacity: true) }
        return gathered
    }

    /// Records a transfer whose connection turned out to carry several at a time, so that queued ones may start.
    func addStream(_ transfer: Transfer) { streams.append(transfer) }

    func removeStreams() -> [Transfer] {
        defer { streams.removeAll(keepingCapacity: true) }
        return streams
    }

    /// Records a connection whose other transfers must end.
    func addBroken(_ connection: HandshakeJudge) { broken.append(connection) }

    func removeBroken() -> [HandshakeJudge] {
        defer { broken.removeAll() }
        return broken
    }
}
