internal import PintleTestKit
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
    private let traffic: Traffic
    /// The limit of events that wait to be printed, so that a flood of connections cannot fill the memory.
    private static let eventLimit = 1_000

    /// - Parameter traffic: The connections of all logs, if there are several.
    package init(_ traffic: Traffic = Traffic()) { self.traffic = traffic }

    /// Adds a connection to a server of the scenario with this id.
    package func add(_ connection: Server.Connection, to id: String) {
        state.withLock { state in
            state.observations[id, default: Observation()].add(connection, isEnding: state.isEnding)
            traffic.add(connection, to: id, of: ObjectIdentifier(self), isEnding: state.isEnding)
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
        let (trials, habit) = traffic.trials(at: scenario.id, of: ObjectIdentifier(self))
        return Outcome(
            scenario, state.withLock { $0.observations[scenario.id] } ?? Observation(), beside: .device, trials: trials,
            habit: habit)
    }
}

/// The connections of clients that the user starts, to all servers. Each connection is a trial, and the others show
/// whether it was alone. Threads may share it.
package final class Traffic: Sendable {
    private struct Visit {
        let log: ObjectIdentifier
        let id: String
        let span: ConnectionSpan
        let isAnswered: Bool
        /// The end of a connection to an attack, if the client ended it without a request.
        let end: ConnectionEnd?
    }

    private struct State {
        var visits: [Visit] = []
        var habit = ClientHabit()
    }

    private let state = Mutex(State())
    /// The most connections that are kept, so that a flood of connections cannot fill the memory.
    private static let limit = 2_000

    package init() {}

    fileprivate func add(
        _ connection: Server.Connection, to id: String, of log: ObjectIdentifier, isEnding: Bool
    ) {
        guard let record = connection.record else { return }
        let (end, span) = (ConnectionEnd(record), ConnectionSpan(record))
        // Over HTTP/2, the part of a connection after a response brings no request.
        let isAnswered = record.firstRequest != nil || connection.requestByteCount > 0
        state.withLock { state in
            if let begin = record.begin, let first = record.firstRequest {
                state.habit.add(acceptance: begin.duration(to: first) / .seconds(1))
            } else if end.isRefusal, case .alert(let code) = end.manner {
                state.habit.add(refusal: span.seconds, alert: code)
            }
            if state.visits.count == Self.limit { state.visits.removeFirst() }
            let isTrial = connection.role == .attack && !isAnswered && !isEnding
            state.visits.append(
                Visit(log: log, id: id, span: span, isAnswered: isAnswered, end: isTrial ? end : nil))
        }
    }

    /// Returns the trials of a scenario, oldest first, and the known decisions of the clients.
    fileprivate func trials(at id: String, of log: ObjectIdentifier) -> (trials: [Trial], habit: ClientHabit) {
        state.withLock { state in
            let visits = state.visits
            let trials = visits.indices.compactMap { index -> Trial? in
                let visit = visits[index]
                guard visit.log == log, visit.id == id, let end = visit.end else { return nil }
                let isAlone = visits.indices.allSatisfy { other in
                    other == index || visits[other].isAnswered || !visits[other].span.overlaps(visit.span)
                }
                return Trial([end], isAlone: isAlone, seconds: visit.span.seconds)
            }
            return (trials, state.habit)
        }
    }
}
