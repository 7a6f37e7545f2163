internal import PintleTestKit
internal import Synchronization

/// The order in which the connections to one host meet its servers: the right server until it has received a request, then one
/// attack after the other, then the right server again. Safe to use from any thread.
///
/// Each connection counts, a client's retry too, so that each result stands on a known connection.
final class AttackSequence: Sendable {
    private struct State {
        var connections = 0
        var isControlAccepted = false
        /// The index of the attack of the next connection.
        var next = 0
        /// The number of connections that still belong to the attack before ``next``.
        var left = 0
        /// The number of the first connection of each attack, by its index.
        var firstConnections: [Int: Int] = [:]
    }

    private let state = Mutex(State())
    /// The number of connections that each attack takes.
    private let lengths: [Int]

    /// - Parameter attacks: The attacks in their order.
    init(_ attacks: [Attack]) {
        // Only the second connection meets the interceptor.
        lengths = attacks.map(\.connectionCount)
    }

    /// Returns the attack of the next connection, by its index, or `nil` for the right server.
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

    /// Notes that the right server has received a request, so that attacks may begin.
    func acceptControl() { state.withLock { $0.isControlAccepted = true } }

    /// A Boolean value that indicates whether the right server has received a request.
    var isControlAccepted: Bool { state.withLock { $0.isControlAccepted } }

    /// A Boolean value that indicates whether there are attacks that no connection has met.
    var hasNext: Bool { begun < lengths.count }

    /// The number of attacks that connections have met.
    var begun: Int { state.withLock { $0.next } }

    /// Returns the number of the connection that an attack began with, from 1.
    func connection(of attack: Int) -> Int? { state.withLock { $0.firstConnections[attack] } }
}
