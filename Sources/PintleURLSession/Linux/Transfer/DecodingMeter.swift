/// A meter for the encoded content of one response. A few bytes of it can expand to very many.
///
/// Use it only on the transport's thread; only the last reference may be released on another one.
final class DecodingMeter {
    /// The number of encoded bytes that may come without any decoded content. Decoders for gzip, deflate and br produce
    /// output as they go.
    static let silentLimit: Int64 = 256 << 10
    /// The largest window of br (RFC 7932 section 9.1). libcurl does not enable larger ones. Decoders for gzip and
    /// deflate keep 32 KiB.
    private static let brotliWindow = 16 << 20

    private let counter: TurnCounter
    /// The budget of the connection.
    private let budget: DecodingBudget
    /// The largest window in bytes that the decoder may have.
    private var window: Int
    /// The bytes of decoded content.
    private var decoded = 0
    private var hasDecoded = false
    /// The encoded bytes that had come when libcurl last delivered decoded content.
    private var encodedBefore: Int64 = 0
    /// The turn of the loop in which libcurl last delivered decoded content, and the bytes of it in this turn.
    private var turn = -1
    private var decodedInTurn = 0
    /// The bytes that are counted in ``TurnCounter/decodingMemory``.
    private var memory = 0

    init(of head: ResponseHead, within budget: DecodingBudget, countedBy counter: TurnCounter) {
        self.counter = counter
        self.budget = budget
        window = head.usesBrotli ? Self.brotliWindow : 0
    }

    deinit {
        counter.countDecodingMemory(-memory)
    }

    /// Looks for encoded content that keeps coming but decodes to nothing.
    ///
    /// - Parameter encoded: The encoded bytes of the content so far.
    /// - Returns: The reason why the transfer has to fail; `nil` if there is none.
    func check(encoded: Int64) -> String? {
        if hasDecoded { (hasDecoded, encodedBefore) = (false, encoded) }
        guard encoded - encodedBefore > Self.silentLimit else { return nil }
        return "more than \(Self.silentLimit >> 10) KiB of coded content decode to nothing"
    }

    /// Counts decoded content that will be gathered.
    ///
    /// - Parameter gathered: The bytes of content that were gathered before.
    /// - Returns: The reason why the transfer has to fail; `nil` if there is none.
    func count(_ count: Int, gathered: Int) -> String? {
        hasDecoded = true
        if turn != counter.turn { (turn, decodedInTurn) = (counter.turn, 0) }
        decodedInTurn += count
        decoded += count
        budget.spend(count)
        countMemory(gathered: gathered + count)
        if budget.isExceeded, decodedInTurn > DecodingBudget.share {
            return "the content of the response expands to more than \(DecodingBudget.mostPerTurn >> 20) MiB at once"
        }
        if counter.decodingMemory > DecodingBudget.memory, memory > DecodingBudget.share {
            return "the encoded responses of the session need more than \(DecodingBudget.memory >> 20) MiB of memory"
        }
        return nil
    }

    /// Counts the memory of the decoder, and of decoded content that is not handed over yet. A window is counted as far
    /// as it is filled.
    func countMemory(gathered: Int) {
        let sum = min(decoded, window) + gathered
        counter.countDecodingMemory(sum - memory)
        memory = sum
    }

    /// Records that libcurl has freed the decoder.
    func endDecoder(gathered: Int) {
        window = 0
        countMemory(gathered: gathered)
    }
}
