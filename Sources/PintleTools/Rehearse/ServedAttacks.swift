internal import PintleTestKit
internal import Synchronization

/// The connections to the servers of `rehearse --serve`. Safe to use from any thread.
final class ServedAttacks: Sendable {
    /// The counts of one attack.
    struct Tally {
        /// The request bytes on the way to the attack.
        var stepBytes = 0
        var connections = 0
        var bytes = 0
        /// The part of those bytes that came without TLS.
        var clearBytes = 0
        /// The reason why a connection without a request allows no verdict.
        var doubt: String?
        var alert: String?
        /// The protocol that ALPN selected: HTTP/2 if any connection used it, because some attacks need that.
        var applicationProtocol: String?
        /// Connections that were still open at the end.
        var openAtEnd = 0
        /// A Boolean value that indicates whether a connection to the attack had not ended by itself at the end.
        var isHeldAtEnd = false
        /// A Boolean value that indicates whether the server ended a connection to the attack because it took too long.
        var wasGivenUp = false
    }

    /// One finished connection, or over HTTP/2 the part of it until a response.
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
    /// The limit of events that wait to be printed, so that a flood of connections cannot fill the memory.
    private static let eventLimit = 1_000

    func add(_ connection: AttackConnection, to id: String) {
        state.withLock { state in
            var tally = state.tallies[id] ?? Tally()
            if state.isEnding, connection.isAttack { tally.isHeldAtEnd = true }
            if connection.isAttack, connection.record?.wasGivenUp == true { tally.wasGivenUp = true }
            if let alert = connection.record?.alertsReceived.last(where: \.isFatal) { tally.alert = "\(alert)" }
            let name = connection.record?.applicationProtocol
            if !HTTPVersion.isHTTP2(tally.applicationProtocol), name != nil { tally.applicationProtocol = name }
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

    /// Returns the events to print, and the number of those that were dropped.
    func removeEvents() -> (events: [Event], lost: Int) {
        state.withLock { state in
            defer { (state.events, state.lost) = ([], 0) }
            return (state.events, state.lost)
        }
    }

    /// Marks the end. From now on the servers end connections, not the clients.
    func end() { state.withLock { $0.isEnding = true } }

    private func tally(_ id: String) -> Tally { state.withLock { $0.tallies[id] } ?? Tally() }

    /// Returns the result of an attack so far.
    func result(_ attack: Attack) -> RehearsalResult {
        let tally = tally(attack.id)
        // If the attack comes after a request, that request shows that the client came. A client that does not go on
        // has refused.
        let wasTried = attack.needsRequest ? tally.stepBytes > 0 : tally.connections > 0
        let outcome: RehearsalOutcome
        var remark: String?
        if tally.clearBytes > 0, attack.expectation != .accepted || tally.bytes == tally.clearBytes {
            (outcome, remark) = (.letThrough, RehearsalResult.inTheClear)
        } else if attack.expectation == .ended, tally.isHeldAtEnd {
            (outcome, remark) = (.inconclusive, "a client was still waiting")
        } else if attack.expectation == .ended, tally.wasGivenUp {
            (outcome, remark) = (.inconclusive, "a client was still waiting when the server gave up")
        } else if attack.expectation == .ended, attack.needsRequest ? tally.bytes > 0 : tally.connections > 0 {
            outcome = .ended
        } else if tally.bytes > 0 {
            outcome = attack.expectation == .accepted ? .accepted : .letThrough
        } else if wasTried, attack.needsHTTP2, !HTTPVersion.isHTTP2(tally.applicationProtocol) {
            (outcome, remark) = (.notRun, RehearsalJudge.lacksHTTP2)
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
            attack: attack, outcome: outcome, requestBytes: tally.bytes, alert: tally.alert,
            applicationProtocol: tally.applicationProtocol, remark: remark)
    }
}

extension AttackConnection {
    /// The reason why a connection without a request is not a refusal; `nil` if it is one.
    ///
    /// A client refuses if it begins the handshake and does not finish it. It also refuses if it finishes the handshake
    /// and then sends an alert, fatal or close_notify, as clients do that compare pins after the handshake.
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

extension ServedAttacks.Event {
    /// `  trusted-interceptor           handshake finished, 78 request bytes`
    var line: String {
        let head = "  " + TextLayout.padded(id, to: 30)
        let bytes = ValidityText.counted(connection.requestByteCount, "request byte")
        guard let record = connection.record else { return head + "in the clear, \(bytes)" }
        let place = connection.isAttack ? "" : ", on the way there"
        if record.clearByteCount > 0 { return head + "in the clear, \(bytes)" }
        if record.isHandshakeComplete {
            let alert = record.alertsReceived.last(where: \.isFatal).map { ", then alert \($0)" } ?? ""
            let version = HTTPVersion.isHTTP2(record.applicationProtocol) ? " over HTTP/2" : ""
            return head + "handshake finished, \(bytes)\(version)\(alert)\(place)"
        }
        if let alert = record.alertsReceived.last(where: \.isFatal) { return head + "refused: alert \(alert)" }
        return head + "no handshake: " + SafeText.escape(record.handshakeFailure ?? "the client hung up")
    }
}
