internal import Synchronization

/// The connections of clients that the user starts. Threads may share it.
package final class ConnectionLog: Sendable {
    /// One finished connection, or over HTTP/2 the part of it until a response.
    package struct Event: Sendable {
        package let id: String
        package let connection: Server.Connection
    }

    private struct State {
        var observations: [String: Observation] = [:]
        var events: [Event] = []
        var lost = 0
        var isEnding = false
    }

    private let state = Mutex(State())
    /// The limit of events that wait to be printed, so that a flood of connections cannot fill the memory.
    private static let eventLimit = 1_000

    package init() {}

    /// Adds a connection to a server of the scenario with this id.
    package func add(_ connection: Server.Connection, to id: String) {
        state.withLock { state in
            state.observations[id, default: Observation()].add(connection, isEnding: state.isEnding)
            if state.isEnding { return }
            if state.events.count < Self.eventLimit {
                state.events.append(Event(id: id, connection: connection))
            } else {
                state.lost += 1
            }
        }
    }

    /// Returns the events to print, and the number of those that were dropped.
    package func removeEvents() -> (events: [Event], lost: Int) {
        state.withLock { state in
            defer { (state.events, state.lost) = ([], 0) }
            return (state.events, state.lost)
        }
    }

    /// Marks the end. From now on the servers end connections, not the clients.
    package func end() { state.withLock { $0.isEnding = true } }

    /// Returns the outcome of a scenario so far.
    package func outcome(of scenario: Scenario) -> Outcome {
        Outcome(scenario, state.withLock { $0.observations[scenario.id] } ?? Observation(), beside: .device)
    }
}
