internal import CCurl

/// Content that libcurl decodes. A few bytes of it can stand for very many.
extension Transfer {
    /// Bytes of coded content that may come without any decoded content. The largest block that a zstd decoder has to have
    /// as a whole is 128 KiB (RFC 8878 section 3.1.1.2.4); gzip, deflate and br give out what they have.
    static let silentDecodingLimit: Int64 = 256 << 10

    /// Has libcurl report how much has come, for ``noteProgress(_:)``.
    ///
    /// CURLOPT_BUFFERSIZE stays what it was: libcurl forbids a change while a transfer runs, and versions before 8.7 refuse
    /// it. So what libcurl reads at once, 64 KiB at most, is also what it may decode beyond the share of a turn: a transfer
    /// can be paused between two pieces, not within one.
    func watchDecoder() {
        guard let handle else { return }
        attempt.isCoded = true
        // A connection without TLS carries one transfer at a time.
        attempt.decoding = attempt.connectionJudge?.decoding ?? DecodingBudget(countedBy: counter)
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

    /// Counts decoded content; returns `false` where the rest has to wait for the next turn.
    func mayDecode(_ count: Int) -> Bool {
        attempt.hasDecoded = true
        guard attempt.decoding?.take(count) == true else {
            gathering?.yield(self, behindOthers: attempt.decodingTurn == counter.turn)
            return false
        }
        attempt.decodingTurn = counter.turn
        return true
    }
}
