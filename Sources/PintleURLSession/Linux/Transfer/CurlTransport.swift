internal import Foundation
internal import Synchronization

/// Carries transfers for one policy generation: one thread, one multi handle, and with it one pool of
/// connections, so that none is ever used under another policy than it was judged by.
///
/// When the last reference goes, running transfers end normally and the thread with them.
final class CurlTransport: Sendable {
    struct Options: Sendable {
        /// Connections for one host and port; more requests wait.
        var connectionsPerHost = 6
        /// Other limits than the default only in tests.
        var readLimits = ReadLimits()
        /// The instant at which verdicts are checked for being over.
        var now: @Sendable () -> Date = { Date() }
        /// Another value than the default only in tests of the second gate, which then has to stop the request.
        var receipts = HandshakeJudge.Receipts.written
        /// `HOST:PORT:ADDRESS`, only in tests: names that lead to this machine without a name service.
        var addresses: [String] = []
    }

    let generation: PolicyGeneration
    private let options: Options
    private let loop: CurlLoop
    /// The counter of the loop. Tests read it.
    let counter: TurnCounter

    init(_ generation: PolicyGeneration, options: Options) throws(SessionRefusal) {
        if let refusal = CurlLibrary.refusal { throw refusal }
        guard let loop = CurlLoop(connectionsPerHost: options.connectionsPerHost) else {
            throw SessionRefusal(.unsuitableLibrary, "libcurl has no memory for connections")
        }
        self.generation = generation
        self.options = options
        self.loop = loop
        counter = loop.counter
        let thread = Thread { loop.run() }
        thread.name = "pintle.transport"
        thread.start()
    }

    deinit {
        loop.send(.finish)
    }

    /// Makes a transfer. It sends no event before ``start(_:)``, so that the caller can store it first.
    func make(_ request: TransferRequest, events: any TransferEvents) -> Transfer {
        Transfer(request, in: generation, options: options, countedBy: counter, events: events)
    }

    func start(_ transfer: Transfer) { loop.send(.start(transfer)) }

    /// Ends the transfers that have not started, because another policy is in force.
    func retire() { loop.send(.retire) }

    func cancel(_ transfer: Transfer) { loop.send(.cancel(transfer)) }
    func hold(_ transfer: Transfer, _ hold: TransferHold) { loop.send(.hold(transfer, hold)) }
    func release(_ transfer: Transfer, _ hold: TransferHold) { loop.send(.release(transfer, hold)) }
}
