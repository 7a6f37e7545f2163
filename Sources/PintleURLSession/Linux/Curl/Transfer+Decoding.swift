internal import CCurl

/// Content that libcurl decodes. A few bytes of it can stand for very many.
extension Transfer {
    /// Bytes of coded content that may come without any decoded content. The largest block that a zstd decoder has to have
    /// as a whole is 128 KiB (RFC 8878 section 3.1.1.2.4); gzip, deflate and br give out what they have.
    static let silentDecodingLimit: Int64 = 256 << 10
    /// Bytes of decoded content that are taken in one turn of the loop. libcurl keeps what else it makes of the bytes that
    /// it has read, 64 MiB at most, until the next turn; beyond that the transfer fails.
    static let decodedPerTurn = 32 << 20

    /// Has libcurl report how much has come, for ``noteProgress(_:)``.
    func watchDecoder() {
        guard let handle else { return }
        attempt.isCoded = true
        pintle_curl_set_progress(
            handle, { at, _, received, _, _ in Transfer.at(at)?.noteProgress(Int64(received)) ?? 1 },
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// - Parameter received: bytes of the content so far, as they came.
    /// - Returns: 0 to go on; anything else ends the transfer.
    private func noteProgress(_ received: Int64) -> CInt {
        if attempt.hasDecoded {
            attempt.hasDecoded = false
            attempt.codedBefore = received
        }
        guard received - attempt.codedBefore > Self.silentDecodingLimit else { return 0 }
        attempt.decodingFault = "more than \(Self.silentDecodingLimit >> 10) KiB of coded content decode to nothing"
        return 1
    }

    /// Counts decoded content; false where the rest has to wait for the next turn.
    func mayDecode(_ count: Int) -> Bool {
        attempt.hasDecoded = true
        if attempt.decodingTurn != counter.turn { (attempt.decodingTurn, attempt.decodedInTurn) = (counter.turn, 0) }
        guard attempt.decodedInTurn < Self.decodedPerTurn else {
            gathering?.yield(self)
            return false
        }
        attempt.decodedInTurn += count
        return true
    }
}
