internal import PintleTestKit
internal import Synchronization

/// What came to the servers of a rehearsal that people bring their own clients to. Used from any thread.
final class ServedAttacks: Sendable {
    /// What is known of one attack.
    struct Tally {
        /// Connections on the way to where the attack is, and what came over them.
        var stepBytes = 0
        var connections = 0
        var bytes = 0
        /// Of those bytes, the ones without TLS.
        var clearBytes = 0
        /// Why a connection without a request tells nothing.
        var doubt: String?
        var alert: String?
        /// Connections that were still open at the end.
        var openAtEnd = 0
    }

    /// One connection that is over.
    struct Event {
        let id: String
        let connection: AttackConnection
    }

    private struct State {
        var tallies: [String: Tally] = [:]
        var events: [Event] = []
        var lost = 0
        var isEnding = false
    }

    private let state = Mutex(State())
    /// Events that wait to be told: whoever floods the servers costs no more memory than this.
    private static let eventLimit = 1_000

    func add(_ connection: AttackConnection, to id: String) {
        state.withLock { state in
            var tally = state.tallies[id] ?? Tally()
            if let alert = connection.record?.alertsReceived.last(where: \.isFatal) { tally.alert = "\(alert)" }
            if !connection.isAttack {
                tally.stepBytes += connection.requestByteCount
            } else if state.isEnding, connection.requestByteCount == 0 {
                tally.openAtEnd += 1
            } else {
                tally.connections += 1
                tally.bytes += connection.requestByteCount
                tally.clearBytes += connection.record?.clearByteCount ?? connection.requestByteCount
                if connection.requestByteCount == 0, let doubt = connection.doubt { tally.doubt = doubt }
            }
            state.tallies[id] = tally
            if state.isEnding { return }
            if state.events.count < Self.eventLimit {
                state.events.append(Event(id: id, connection: connection))
            } else {
                state.lost += 1
            }
        }
    }

    /// What is to be told, and how much more there was.
    func removeEvents() -> (events: [Event], lost: Int) {
        state.withLock { state in
            defer { (state.events, state.lost) = ([], 0) }
            return (state.events, state.lost)
        }
    }

    /// From now on it is not the clients that end connections.
    func end() { state.withLock { $0.isEnding = true } }

    private func tally(_ id: String) -> Tally { state.withLock { $0.tallies[id] } ?? Tally() }

    /// What came of an attack until now.
    func result(_ attack: Attack) -> RehearsalResult {
        let tally = tally(attack.id)
        // On the way there, a request shows that the client came; that it was not followed up is a refusal.
        let wasTried = attack.needsRequest ? tally.stepBytes > 0 : tally.connections > 0
        let outcome: RehearsalOutcome
        var remark: String?
        if tally.clearBytes > 0 {
            (outcome, remark) = (.letThrough, RehearsalResult.inTheClear)
        } else if tally.bytes > 0 {
            outcome = attack.expectation == .accepted ? .accepted : .letThrough
        } else if wasTried, let doubt = tally.doubt {
            (outcome, remark) = (.inconclusive, doubt)
        } else if wasTried {
            outcome = .blocked
            if attack.needsRequest, tally.connections == 0 { remark = "it did not follow" }
        } else if tally.openAtEnd > 0 {
            (outcome, remark) = (.inconclusive, "a client was still waiting")
        } else {
            (outcome, remark) = (.notRun, "no client came")
        }
        return RehearsalResult(
            attack: attack, outcome: outcome, requestBytes: tally.bytes, alert: tally.alert, remark: remark)
    }
}

extension AttackConnection {
    /// Why it does not show that the client refuses the server, where it sent no request: a refusal is a handshake that
    /// the client has begun and not finished, or one that it has finished and ended by an alert, fatal or close_notify,
    /// as clients do that compare pins after the handshake.
    fileprivate var doubt: String? {
        guard let record else { return "a client connected and sent nothing" }
        if record.handshakeFailure == StreamError.tooSlow.reason {
            return "a client began the handshake and fell silent"
        }
        if record.isHandshakeComplete {
            return record.alertsReceived.isEmpty ? "a client finished the handshake and sent nothing" : nil
        }
        return record.hasBegunHandshake ? nil : "a client connected and sent nothing"
    }
}
