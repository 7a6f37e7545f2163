internal import PintleTestKit
internal import Synchronization

/// The servers of one host, which the connections through a proxy meet one after another. Threads may share it.
package struct ServerSequence: Sendable {
    package let host: AttackedHost
    package let log: ConnectionLog
    private let order: ConnectionOrder
    private let control: Server
    /// One for each scenario of the host.
    private let servers: [Server]

    /// Starts the servers.
    /// - Parameters:
    ///   - timeLimit: The time limit of each connection in seconds.
    ///   - traffic: The connections to the hosts of all sequences.
    package init(_ host: AttackedHost, timeLimit: Double, traffic: Traffic) throws {
        let log = ConnectionLog(traffic)
        let order = ConnectionOrder(host.scenarios) { log.outcome(of: host.scenarios[$0]).isUndecided }
        func start(_ scenario: Scenario, isReplaced: @escaping @Sendable () -> Bool) throws -> Server {
            let isControl = scenario.id == host.catalogue.control.id
            return try Server(
                scenario, timeLimit: timeLimit, clientPort: host.clientPort, isReplaced: isReplaced
            ) { connection in
                log.add(connection, to: scenario.id)
                // Bytes without TLS are no request to the right server.
                if isControl, (connection.record?.requestByteCount ?? 0) > 0 { order.acceptControl() }
            }
        }
        (self.host, self.order, self.log) = (host, order, log)
        control = try start(host.catalogue.control) { order.hasNext }
        servers = try host.scenarios.map { try start($0) { true } }
    }

    /// Starts a proxy that answers for the hosts of several sequences.
    package static func proxy(for sequences: [ServerSequence], at address: Proxy.Address) throws -> Proxy {
        try Proxy(
            at: address, hosts: sequences.map(\.host.name),
            server: { name, port in
                for sequence in sequences { if let server = sequence.server(name, port) { return server } }
                return nil
            },
            isPlain: { name, port in sequences.contains { $0.redirectTarget(name, port) != nil } },
            clear: { name, count in sequences.first { $0.host.name.lowercased() == name }?.countClear(count) })
    }

    /// Returns the server for a host and port, or `nil` if they do not belong to this host.
    private func server(_ name: String, _ port: UInt16) -> UInt16? {
        if name == host.name.lowercased(), port == host.clientPort {
            return order.next().map { servers[$0].port } ?? control.port
        }
        return redirectTarget(name, port)
    }

    /// Returns the server of a place that a scenario redirects to, or `nil` if no scenario redirects there. The next
    /// scenario may have begun meanwhile, on another connection.
    private func redirectTarget(_ name: String, _ port: UInt16) -> UInt16? {
        for number in order.begun.reversed() {
            let route = servers[number].routes.dropFirst().first { $0.host.lowercased() == name && $0.port == port }
            if let route { return route.server }
        }
        return nil
    }

    /// Counts bytes that the client sent to the host without TLS, for the scenario of its last connection.
    private func countClear(_ count: Int) {
        let scenario = order.begun.last.map { host.scenarios[$0] } ?? host.catalogue.control
        log.add(Server.Connection(plainByteCount: count), to: scenario.id)
    }

    package var allServers: [Server] { [control] + servers }

    /// The outcome at the right server, and those of the scenarios.
    package var outcomes: (control: Outcome, scenarios: [Outcome]) {
        let isPlainHTTP = log.outcome(of: host.catalogue.control).wasPlainHTTP
        func outcome(_ scenario: Scenario, _ connection: Int?) -> Outcome {
            var outcome = log.outcome(of: scenario)
            (outcome.host, outcome.connection) = (host.authority, connection)
            guard outcome.verdict == .notRun else { return outcome }
            if isPlainHTTP {
                outcome.remark = Outcome.plainHTTP
            } else if order.isUnused {
                outcome.remark = Outcome.notAsked
            } else if !order.isControlAccepted {
                (outcome.verdict, outcome.remark) = (.inconclusive, "it sent the right server no request")
            }
            return outcome
        }
        return (
            outcome(host.catalogue.control, nil),
            host.scenarios.enumerated().map { outcome($1, order.connection(of: $0)) }
        )
    }
}

/// The order in which the connections to one host meet its servers: the right server until it has received a request,
/// then one scenario after the other, then the right server again. Safe to use from any thread.
///
/// A scenario that the client may only have given up comes again, after the right server and at most twice. Each
/// connection counts, a client's retry too, so that each result stands on a known connection.
final class ConnectionOrder: Sendable {
    private struct State {
        var connections = 0
        var isControlAccepted = false
        /// The indices of the scenarios that come before the right server.
        var waiting: [Int]
        /// The number of connections that still belong to the last scenario.
        var left = 0
        /// The indices of the scenarios that connections have met, in the order in which they last began.
        var begun: [Int] = []
        var rounds = 1
        /// A Boolean value that indicates whether the right server was met after the scenarios.
        var hasPaused = false
        /// The number of the first connection of each scenario, by its index.
        var firstConnections: [Int: Int] = [:]
    }

    private let state: Mutex<State>
    /// The number of connections that each scenario takes.
    private let lengths: [Int]
    private let isUndecided: @Sendable (Int) -> Bool
    private static let roundLimit = 3

    /// - Parameters:
    ///   - scenarios: The scenarios in their order.
    ///   - isUndecided: Returns `true` if a scenario, by its index, needs another connection.
    init(_ scenarios: [Scenario], isUndecided: @escaping @Sendable (Int) -> Bool = { _ in false }) {
        // Only the second connection meets the interceptor.
        lengths = scenarios.map(\.connectionCount)
        self.isUndecided = isUndecided
        state = Mutex(State(waiting: Array(scenarios.indices)))
    }

    /// Returns the scenario of the next connection, by its index, or `nil` for the right server.
    func next() -> Int? {
        state.withLock { state in
            state.connections += 1
            guard state.isControlAccepted else { return nil }
            if state.left > 0 {
                state.left -= 1
                return state.begun.last
            }
            if state.waiting.isEmpty {
                let again = undecided(state)
                guard !again.isEmpty else { return nil }
                state.hasPaused.toggle()
                if state.hasPaused { return nil }
                (state.waiting, state.rounds) = (again, state.rounds + 1)
            }
            let next = state.waiting.removeFirst()
            state.firstConnections[next] = state.connections
            state.left = lengths[next] - 1
            state.begun.removeAll { $0 == next }
            state.begun.append(next)
            return next
        }
    }

    private func undecided(_ state: State) -> [Int] {
        state.rounds < Self.roundLimit ? lengths.indices.filter(isUndecided) : []
    }

    /// A Boolean value that indicates whether no connection came.
    var isUnused: Bool { state.withLock { $0.connections == 0 } }

    /// Notes that the right server has received a request, so that scenarios may begin.
    func acceptControl() { state.withLock { $0.isControlAccepted = true } }

    /// A Boolean value that indicates whether the right server has received a request.
    var isControlAccepted: Bool { state.withLock { $0.isControlAccepted } }

    /// A Boolean value that indicates whether there are scenarios that a further connection must meet.
    var hasNext: Bool { state.withLock { !$0.waiting.isEmpty || !undecided($0).isEmpty } }

    /// The indices of the scenarios that connections have met, the last one at the end.
    var begun: [Int] { state.withLock { $0.begun } }

    /// Returns the number of the connection that a scenario last began with, from 1.
    func connection(of attack: Int) -> Int? { state.withLock { $0.firstConnections[attack] } }
}
