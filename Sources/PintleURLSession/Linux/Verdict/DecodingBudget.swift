/// Limits on the decoded content that one connection may produce in one turn of the loop.
///
/// A few encoded bytes can expand to very many, and HTTP/2 carries a hundred responses over one connection. All
/// transfers of a connection share one budget.
///
/// Use it only on the transport's thread.
final class DecodingBudget {
    /// The bytes of decoded content after which ``ReadBudget`` reads no more from the connection in this turn.
    static let perTurn = 32 << 20
    /// The bytes of decoded content after which a response fails, because what was read before expands to even more.
    ///
    /// Content in gzip or deflate stays below the limit: it expands at most 1,032 times, and libcurl decodes less than
    /// 310 KiB of a connection in a turn. Content in br has no such bound.
    static let mostPerTurn = 320 << 20
    /// The decoded content that a response may always have. So the responses of one server, however they expand, do not
    /// end all others.
    static let share = 1 << 20
    /// The limit on the memory for encoded responses in all transfers of a loop: the windows of their decoders, and
    /// decoded content that the tasks have not taken yet.
    static let memory = 512 << 20

    private let counter: TurnCounter
    private var turn = -1
    private var usedInTurn = 0

    init(countedBy counter: TurnCounter) {
        self.counter = counter
    }

    /// A Boolean value that indicates whether the connection has used up its budget for this turn.
    var isUsedUp: Bool { turn == counter.turn && usedInTurn >= Self.perTurn }
    /// A Boolean value that indicates whether the connection has produced more than ``mostPerTurn``.
    var isExceeded: Bool { turn == counter.turn && usedInTurn > Self.mostPerTurn }

    /// Counts decoded content.
    func spend(_ count: Int) {
        if turn != counter.turn { (turn, usedInTurn) = (counter.turn, 0) }
        usedInTurn += count
        counter.countDecoded(count)
    }
}
