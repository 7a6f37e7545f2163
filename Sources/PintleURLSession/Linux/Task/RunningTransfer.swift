/// A transfer, with the transport that carries it.
struct RunningTransfer: Equatable, Sendable {
    let transport: CurlTransport
    let transfer: Transfer

    static func == (one: RunningTransfer, other: RunningTransfer) -> Bool { one.transfer === other.transfer }
}

extension TaskStateMachine<RunningTransfer> {
    /// Returns the carrier of a transfer, while that is the transfer of a live task.
    func carrier(of transfer: Transfer) -> RunningTransfer? {
        carrier.flatMap { $0.transfer === transfer ? $0 : nil }
    }
}
