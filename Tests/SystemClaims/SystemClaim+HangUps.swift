internal import PintleSystem

extension SystemClaim {
    static let hangUps = [
        SystemClaim("One unread byte is no hang-up, and does not hide the one after it") { try unread(1) },
        SystemClaim("A full buffer is no hang-up, and does not hide the one after it") { try unread(1 << 20) },
        SystemClaim("A peer that ends only its own side has hung up") {
            guard let ends = StreamSocket.pair() else { throw SystemClaimError() }
            defer { for end in [ends.0, ends.1] { close(end) } }
            let watch = HangUpWatch(ends.0)
            guard !hasEnded(watch, within: 50) else { return false }
            shutdown(ends.1, CInt(SHUT_WR))
            return hasEnded(watch, within: 5_000)
        },
    ]

    private static func unread(_ count: Int) throws -> Bool {
        guard let ends = StreamSocket.pair() else { throw SystemClaimError() }
        defer { close(ends.0) }
        let watch = HangUpWatch(ends.0)
        // As many bytes as the buffer takes.
        let sent = send(ends.1, [UInt8](repeating: 1, count: count), count, StreamSocket.sendFlags)
        let isEarly = hasEnded(watch, within: 50)
        close(ends.1)
        return sent > 0 && !isEarly && hasEnded(watch, within: 5_000)
    }

    /// Returns `true` if the watch has an event within a time in milliseconds, and the event means the peer's end.
    private static func hasEnded(_ watch: borrowing HangUpWatch, within time: CInt) -> Bool {
        var entry = watch.entry
        return poll(&entry, 1, time) > 0 && watch.hasSeenEnd
    }
}
