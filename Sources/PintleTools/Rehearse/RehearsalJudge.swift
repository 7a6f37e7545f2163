internal import PintleTestKit

/// What a client did at one server, as both saw it.
struct RehearsalEvidence {
    let observation: AttackObservation
    let end: GuardedProcess.End
    /// Whether the client had ended its connections by itself when it was killed.
    var wasOverWhenKilled = false
    /// Whether all connections were over when it was looked at.
    var isQuiet = true
    /// In seconds, as it was asked for.
    let timeout: Double

    private var isSuccess: Bool { end == .exited(0) }

    /// What a client says that sends nothing: it has finished the handshake, and ended well.
    var isAcceptedInSilence: Bool { isSuccess && observation.completedHandshakeCount > 0 }

    var clientExit: Int32? {
        if case .exited(let status) = end { status } else { nil }
    }

    /// Why nothing can be told, where that is so of every attack.
    var doubt: String? {
        if end == .timedOut, observation.connections.isEmpty { return "\(ended) before it connected; \(Self.remedy)" }
        guard observation.wasTried else {
            return observation.connections.isEmpty
                ? "the client did not connect" : "the client sent the right server nothing"
        }
        if end == .timedOut, !wasOverWhenKilled { return "killed after \(Self.seconds(timeout)); no verdict" }
        return isQuiet ? nil : "a connection was still open"
    }

    /// Such as `the client was ended after 5 s`.
    var ended: String { "the client was ended after \(Self.seconds(timeout))" }

    static let mayHaveRetried = "ended by --timeout; it may have tried again"

    static let remedy = "give it more time with --timeout"

    /// Such as `ended by signal 11`, also where a shell reports it of what it ran.
    var signal: String? {
        guard let clientExit, (129...192).contains(clientExit) else { return nil }
        return "ended by signal \(clientExit - 128)"
    }

    static func seconds(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

/// Tells what came of an attack, from what the same client did about the right server.
struct RehearsalJudge {
    /// Whether the client sends a request, which is then what counts. Else it is its word, the exit status.
    let sendsRequest: Bool
    private let controlEnd: GuardedProcess.End

    /// - Returns: `nil` where the client did not accept the right server: it proves nothing then.
    init?(control: RehearsalEvidence) {
        let observation = control.observation
        sendsRequest = observation.exposedByteCount > observation.clearByteCount
        controlEnd = control.end
        guard sendsRequest || control.isAcceptedInSilence else { return nil }
    }

    /// Whether the client ends well where the server is the right one.
    var endsWell: Bool { controlEnd == .exited(0) }

    func judge(_ attack: Attack, _ evidence: RehearsalEvidence) -> (RehearsalOutcome, remark: String?) {
        if attack.needsRequest, !sendsRequest { return (.notRun, "this client sends no request") }
        if evidence.observation.clearByteCount > 0 { return (.letThrough, RehearsalResult.inTheClear) }
        return attack.expectation == .refused ? refused(evidence, attack) : accepted(evidence)
    }

    /// Returns why there is no verdict.
    ///
    /// A client that ends by itself at the right server and is killed at an attack has not ended, whatever alert it sent:
    /// it may retry. A client that never ends at the right server either is judged by its connections. A crash is no
    /// refusal, unless the client had told the server on every connection that it refuses the certificate: a program in
    /// Swift that throws an error at its top level ends by a signal.
    private func doubt(_ evidence: RehearsalEvidence) -> String? {
        if let doubt = evidence.doubt { return doubt }
        if evidence.end == .timedOut, controlEnd != .timedOut { return RehearsalEvidence.mayHaveRetried }
        return evidence.end == controlEnd || evidence.observation.refusedEveryCertificate ? nil : evidence.signal
    }

    private func refused(
        _ evidence: RehearsalEvidence, _ attack: Attack
    ) -> (RehearsalOutcome, remark: String?) {
        if evidence.observation.exposedByteCount > 0 { return (.letThrough, nil) }
        if let doubt = doubt(evidence) { return (.inconclusive, doubt) }
        if !sendsRequest, evidence.isAcceptedInSilence { return (.letThrough, "it reports success") }
        return (.blocked, attack.needsRequest && !evidence.observation.wasFollowed ? "it did not follow" : nil)
    }

    private func accepted(_ evidence: RehearsalEvidence) -> (RehearsalOutcome, remark: String?) {
        guard evidence.observation.exposedByteCount > 0 else {
            if !sendsRequest, evidence.isAcceptedInSilence { return (.accepted, nil) }
            if let doubt = doubt(evidence) { return (.inconclusive, doubt) }
            return (.blocked, nil)
        }
        // A success needs no comparison: where the control run failed, the failure had another cause than the server.
        guard evidence.end == controlEnd || evidence.end == .exited(0) else {
            let end = evidence.clientExit.map { "ended with exit code \($0)" } ?? "did not end"
            return (.inconclusive, "it sent its request, but \(end)")
        }
        return (.accepted, nil)
    }
}

/// What a client did about a server.
enum RehearsalOutcome: String {
    case accepted
    case blocked
    /// It sent its request where it must not, or took the server for the right one.
    case letThrough = "let-through"
    /// Nothing can be told from what it did.
    case inconclusive
    /// The attack was not tried.
    case notRun = "not-run"

    /// As it stands in a table: what must not be catches the eye without colours.
    var word: String {
        switch self {
        case .letThrough: "LET THROUGH"
        case .notRun: "not run"
        default: rawValue
        }
    }
}

/// One attack and what came of it.
struct RehearsalResult {
    let attack: Attack
    let outcome: RehearsalOutcome
    /// Request bytes where the attack is.
    var requestBytes = 0
    var milliseconds: Int?
    /// The exit status, 128 plus the signal where one ended it; `nil` where it was killed.
    var clientExit: Int32?
    /// Such as `bad_certificate (42)`: the client's last fatal alert.
    var alert: String?
    var remark: String?
    /// The beginning of what the client wrote to standard error, or where it wrote nothing there, to standard output.
    var clientWords: [UInt8] = []

    /// The remark where bytes came without TLS.
    static let inTheClear = "sent in the clear"

    /// Whether it went round TLS, and did not take the server for the right one.
    var wasInTheClear: Bool { remark == RehearsalResult.inTheClear }

    /// Nothing is to be done about it.
    var isAsItMustBe: Bool {
        switch outcome {
        case .accepted: attack.expectation == .accepted
        case .blocked: attack.expectation == .refused
        case .notRun: true
        case .letThrough, .inconclusive: false
        }
    }

    /// What to say beside the verdict.
    var why: String? {
        if outcome == .inconclusive || outcome == .notRun { return remark }
        guard !isAsItMustBe else { return nil }
        return [remark, attack.stake].compactMap(\.self).joined(separator: "; ")
    }
}
