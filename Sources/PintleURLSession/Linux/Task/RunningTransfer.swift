/// A transfer and the transport that runs it.
struct RunningTransfer: Equatable, Sendable {
    let transport: CurlTransport
    let transfer: Transfer

    static func == (one: RunningTransfer, other: RunningTransfer) -> Bool { one.transfer === other.transfer }
}

extension TaskStateMachine<RunningTransfer> {
    /// Returns the carrier of a transfer, or `nil` if it is not the current transfer of a live task.
    func carrier(of transfer: Transfer) -> RunningTransfer? {
        carrier.flatMap { $0.transfer === transfer ? $0 : nil }
    }
}
