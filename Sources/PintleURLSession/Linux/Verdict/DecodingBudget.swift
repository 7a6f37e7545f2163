/// Limits how much decoded content one connection may bring in one turn of the loop.
///
/// A few bytes of coded content stand for very many, and HTTP/2 carries a hundred responses over one connection. All
/// transfers of a connection share one budget. Once it is used up, ``ReadBudget`` reads nothing more from the connection
/// in this turn either, so that the other responses have nothing to decode.
///
/// Everything happens on the transport's thread.
final class DecodingBudget {
    /// Bytes of decoded content that a connection may bring in one turn of the loop; what is handed over at once, 128 KiB
    /// at most, may go beyond it. libcurl keeps what else it makes of the bytes that it has read, 64 MiB of each transfer at
    /// most, until the next turn; beyond that the transfer fails.
    static let perTurn = 32 << 20

    private let counter: TurnCounter
    private var turn = -1
    private var usedInTurn = 0

    init(countedBy counter: TurnCounter) {
        self.counter = counter
    }

    /// A Boolean value that indicates whether the connection may bring nothing more in this turn.
    var isUsedUp: Bool { turn == counter.turn && usedInTurn >= Self.perTurn }

    /// Counts decoded content; returns `false` where it has to wait for the next turn.
    func spend(_ count: Int) -> Bool {
        guard !isUsedUp else { return false }
        if turn != counter.turn { (turn, usedInTurn) = (counter.turn, 0) }
        usedInTurn += count
        counter.countDecoded(count)
        return true
    }
}
