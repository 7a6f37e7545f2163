/// A limit on the decoded content that one connection may produce in one turn of the loop.
///
/// A few compressed bytes can expand to very many, and HTTP/2 carries a hundred responses over one connection. All
/// transfers of a connection share one budget. Once the budget is used up, ``ReadBudget`` also stops reading from the
/// connection for the rest of the turn, so the other responses have nothing to decode.
///
/// Use it only on the transport's thread.
final class DecodingBudget {
    /// The bytes of decoded content that a connection may produce in one turn of the loop.
    ///
    /// The last piece may exceed the limit by up to 128 KiB. libcurl keeps further decoded content until the next turn,
    /// up to 64 MiB for each transfer; beyond that the transfer fails.
    static let perTurn = 32 << 20

    private let counter: TurnCounter
    private var turn = -1
    private var usedInTurn = 0

    init(countedBy counter: TurnCounter) {
        self.counter = counter
    }

    /// A Boolean value that indicates whether the connection has used up its budget for this turn.
    var isUsedUp: Bool { turn == counter.turn && usedInTurn >= Self.perTurn }

    /// Counts decoded content. Returns `false` if the content has to wait for the next turn.
    func spend(_ count: Int) -> Bool {
        guard !isUsedUp else { return false }
        if turn != counter.turn { (turn, usedInTurn) = (counter.turn, 0) }
        usedInTurn += count
        counter.countDecoded(count)
        return true
    }
}
