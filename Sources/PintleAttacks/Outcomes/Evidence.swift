internal import PintleTestKit

/// A client's decisions about certificates where the decision is known: at a server that it must refuse, and at the
/// right server.
package struct ClientHabit: Sendable {
    /// The fatal alerts with which the client ended connections to the server that it must refuse.
    package private(set) var alerts: Set<UInt8> = []
    /// The time that a server needs more than others to send its certificates, in seconds.
    var slack = 0.0
    /// A Boolean value that indicates whether the client is also run at the right server before and after.
    package var isControlled = false
    /// A Boolean value that indicates whether the client met a server that it must refuse.
    private(set) var isMeasured = false
    /// The shortest time of a refusal, in seconds; `nil` if none was measured.
    private var refusal: Double?
    /// The shortest and the longest time from a ClientHello to a request at the right server, in seconds; `nil` if none
    /// was measured.
    private var acceptance: ClosedRange<Double>?

    package init() {}

    /// Adds a refusal with an alert.
    package mutating func add(refusal seconds: Double, alert: UInt8) {
        alerts.insert(alert)
        refusal = min(refusal ?? seconds, seconds)
    }

    /// Adds the client's decision for the right server.
    package mutating func add(acceptance seen: Observation) {
        if let seconds = seen.decisionSeconds { add(acceptance: seconds) }
    }

    /// Adds the time from a ClientHello to a request.
    package mutating func add(acceptance seconds: Double) {
        let known = acceptance ?? seconds...seconds
        acceptance = min(known.lowerBound, seconds)...max(known.upperBound, seconds)
    }

    /// Adds the client's refusals of a server that it must refuse. Without an alert an end may be a time-out.
    package mutating func add(refusals seen: Observation) {
        isMeasured = true
        guard seen.exposedByteCount == 0 else { return }
        for end in seen.ends {
            if case .alert(let code) = end.end.manner { add(refusal: end.seconds, alert: code) }
        }
    }

    /// The time after which an end is no decision, but may be a time-out of the client; `nil` for no limit.
    package var limit: Double? { (refusal ?? acceptance?.lowerBound).map { $0 * 2 + 0.1 + slack } }

    /// A Boolean value that indicates whether the client takes a very different time from run to run, as on a busy
    /// machine. Its own time-out may then end some runs and not others.
    var isUnsteady: Bool { acceptance.map { $0.upperBound > max(0.3, $0.lowerBound * 4) } ?? false }
}

/// The one rule about clients that sent nothing. It tells a refusal from a client that gave up.
///
/// | End of the connection | Before Finished | After Finished |
/// |---|---|---|
/// | alert 42 to 46, 48, 49 | refused | refused |
/// | alert 40 or 80, as in the client's own refusals | refused | refused |
/// | another alert, close_notify, end of file | twice | twice |
/// | reset, because bytes of the server were not read | five times, with a control | twice |
/// | no certificate was presented, silence | never | never |
///
/// *Twice* means the same ends in the last two trials, or in five if the speed of a client that the tool runs varies.
/// Each trial must be without another connection that stayed without an answer. It must be as quick as the client's
/// known decisions, unless it ends with a fatal alert other than 40, 80 and 90. *With a control* means that the client
/// also completes at the right server in between.
package enum Evidence {
    /// The reason why trials prove nothing.
    package enum Doubt: Sendable, Hashable {
        case early
        case silent(isAfterFinished: Bool)
        case unread
        /// Another connection that stayed without an answer may have ended this one.
        case beside
        case slow
        /// There are too few trials.
        case few
        /// The trial before ended in another way.
        case changed
        /// The client also failed at the right server at about the same time.
        case failedControl
    }

    /// Returns the reason why the last trials are no refusal, or `nil` if they are one.
    package static func doubt(about trials: [Trial], habit: ClientHabit) -> Doubt? {
        guard let last = trials.last else { return .early }
        // A client that always ends so when it refuses has said so with its alert.
        func isRefusal(_ end: ConnectionEnd) -> Bool {
            if case .alert(let code) = end.manner, code == 40 || code == 80, habit.alerts.contains(code) { return true }
            return end.isRefusal
        }
        if last.ends.allSatisfy(isRefusal) { return nil }
        if let doubt = doubt(about: last, habit) { return doubt }
        let isUncertain = habit.isUnsteady || last.ends.contains { $0.manner == .unread }
        let needed = habit.isControlled && isUncertain ? repetitions : 2
        for before in trials.suffix(needed).dropLast().reversed() {
            guard before.ends == last.ends, before.process == last.process else { return .changed }
            if let doubt = doubt(about: before, habit) { return doubt }
        }
        return trials.count < needed ? .few : nil
    }

    /// The number of equal trials of a client whose time-out may end some runs and not others.
    static let repetitions = 5

    /// Returns the reason why one trial cannot be one of two that agree.
    private static func doubt(about trial: Trial, _ habit: ClientHabit) -> Doubt? {
        let manners = Set(trial.ends.map(\.manner))
        if manners.contains(.silence) {
            return .silent(isAfterFinished: trial.ends.contains { $0.manner == .silence && $0.isAfterFinished })
        }
        if manners.contains(.early) { return .early }
        if manners.contains(.unread), !habit.isControlled { return .unread }
        if !trial.isAlone { return .beside }
        // A client that gives up sends no alert, or one of these.
        let mayBeLate = manners.allSatisfy { manner in
            if case .alert(let code) = manner { code != 40 && code != 80 && code != 90 } else { false }
        }
        if !mayBeLate, let limit = habit.limit, trial.seconds > limit { return .slow }
        return nil
    }
}

extension Evidence.Doubt {
    /// The doubt in words, about a client.
    package var words: String {
        switch self {
        case .early: "it ended before it was shown a certificate"
        case .silent(let isAfterFinished):
            isAfterFinished ? "it finished the handshake and fell silent" : "it began the handshake and fell silent"
        case .unread: "it ended before it had read the certificate"
        case .beside: "it ended beside another connection that got no answer"
        case .slow: "it ended later than it decides elsewhere"
        case .few: "it ended without an alert about the certificate"
        case .changed: "it ended without an alert, and otherwise than before"
        case .failedControl: "it gave up at the right server too"
        }
    }
}

extension Observation {
    /// The reason why this run by itself is no refusal, or `nil` if it is one.
    package var doubtAboutRefusal: Evidence.Doubt? {
        ends.isEmpty ? .early : Evidence.doubt(about: [trial], habit: ClientHabit())
    }
}
