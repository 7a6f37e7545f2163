internal import PintleTestKit
internal import Synchronization

/// The servers of one host, which the connections through a proxy meet one after another. Threads may share it.
package struct ServerSequence: Sendable {
    package let host: AttackedHost
    package let log = ConnectionLog()
    private let order: ConnectionOrder
    private let control: Server
    /// One for each scenario of the host.
    private let servers: [Server]

    /// Starts the servers.
    /// - Parameter timeLimit: The time limit of each connection in seconds.
    package init(_ host: AttackedHost, timeLimit: Double) throws {
        let (order, log) = (ConnectionOrder(host.scenarios), log)
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
        (self.host, self.order) = (host, order)
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
        for server in servers.prefix(order.begun).reversed() {
            let route = server.routes.dropFirst().first { $0.host.lowercased() == name && $0.port == port }
            if let route { return route.server }
        }
        return nil
    }

    /// Counts bytes that the client sent to the host without TLS, for the scenario of its last connection.
    private func countClear(_ count: Int) {
        let scenario = order.begun > 0 ? host.scenarios[order.begun - 1] : host.catalogue.control
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
/// Each connection counts, a client's retry too, so that each result stands on a known connection.
final class ConnectionOrder: Sendable {
    private struct State {
        var connections = 0
        var isControlAccepted = false
        /// The index of the scenario of the next connection.
        var next = 0
        /// The number of connections that still belong to the scenario before ``next``.
        var left = 0
        /// The number of the first connection of each scenario, by its index.
        var firstConnections: [Int: Int] = [:]
    }

    private let state = Mutex(State())
    /// The number of connections that each scenario takes.
    private let lengths: [Int]

    /// - Parameter scenarios: The scenarios in their order.
    init(_ scenarios: [Scenario]) {
        // Only the second connection meets the interceptor.
        lengths = scenarios.map(\.connectionCount)
    }

    /// Returns the scenario of the next connection, by its index, or `nil` for the right server.
    func next() -> Int? {
        state.withLock { state in
            state.connections += 1
            guard state.isControlAccepted else { return nil }
            if state.left > 0 {
                state.left -= 1
                return state.next - 1
            }
            guard lengths.indices.contains(state.next) else { return nil }
            state.firstConnections[state.next] = state.connections
            state.left = lengths[state.next] - 1
            state.next += 1
            return state.next - 1
        }
    }

    /// A Boolean value that indicates whether no connection came.
    var isUnused: Bool { state.withLock { $0.connections == 0 } }

    /// Notes that the right server has received a request, so that scenarios may begin.
    func acceptControl() { state.withLock { $0.isControlAccepted = true } }

    /// A Boolean value that indicates whether the right server has received a request.
    var isControlAccepted: Bool { state.withLock { $0.isControlAccepted } }

    /// A Boolean value that indicates whether there are scenarios that no connection has met.
    var hasNext: Bool { begun < lengths.count }

    /// The number of scenarios that connections have met.
    var begun: Int { state.withLock { $0.next } }

    /// Returns the number of the connection that a scenario began with, from 1.
    func connection(of attack: Int) -> Int? { state.withLock { $0.firstConnections[attack] } }
}
