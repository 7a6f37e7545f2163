internal import PintleTestKit

/// Judges an attack by comparison with the same client's behaviour at the right server.
struct RehearsalJudge {
    /// A Boolean value that indicates whether the client sends a request. If so, the request decides, otherwise the
    /// exit code.
    let sendsRequest: Bool
    private let controlEnd: GuardedProcess.End
    /// The protocol that ALPN selected at the right server.
    let controlProtocol: String?

    /// - Returns: `nil` if the client did not accept the right server, because the rehearsal then proves nothing.
    init?(control: RehearsalEvidence) {
        let observation = control.observation
        sendsRequest = observation.exposedByteCount > observation.clearByteCount
        controlEnd = control.end
        controlProtocol = observation.applicationProtocol
        guard sendsRequest || control.isAcceptedInSilence else { return nil }
    }

    /// A Boolean value that indicates whether the client ends with exit code 0 at the right server.
    var endsWell: Bool { controlEnd == .exited(0) }

    /// A Boolean value that indicates whether the client ends by itself at the right server.
    var endsByItself: Bool { controlEnd != .timedOut }

    /// Returns `true` if the time limit ended the client, and more time could lead to another outcome.
    func lacksTime(_ attack: Attack, _ evidence: RehearsalEvidence) -> Bool {
        guard evidence.end == .timedOut, endsByItself || evidence.observation.connections.isEmpty else { return false }
        let outcome = judge(attack, evidence).0
        return outcome == .inconclusive || outcome == .held
    }

    func judge(_ attack: Attack, _ evidence: RehearsalEvidence) -> (RehearsalOutcome, remark: String?) {
        if attack.needsRequest, !sendsRequest { return (.notRun, "this client sends no request") }
        if evidence.observation.clearByteCount > 0 { return (.letThrough, RehearsalResult.inTheClear) }
        if attack.needsHTTP2, evidence.observation.wasTried, evidence.observation.exposedByteCount == 0,
            !HTTPVersion.isHTTP2(evidence.observation.applicationProtocol)
        {
            return (.notRun, Self.lacksHTTP2)
        }
        return switch attack.expectation {
        case .refused: refused(evidence, attack)
        case .accepted: accepted(evidence)
        case .ended: ended(evidence)
        }
    }

    /// Judges only whether the client ended by itself. Its request proves nothing, because the server may be the right one.
    private func ended(_ evidence: RehearsalEvidence) -> (RehearsalOutcome, remark: String?) {
        if !endsByItself { return (.notRun, RehearsalJudge.neverEnds) }
        if evidence.end == .timedOut, evidence.observation.wasTried { return (.held, evidence.ended) }
        if let doubt = doubt(evidence) { return (.inconclusive, doubt) }
        return (.ended, nil)
    }

    /// The remark for a client that does not end by itself at the right server either.
    static let neverEnds = "this client never ends by itself"

    /// Returns the reason why there is no verdict; `nil` if there is one.
    ///
    /// A client that ends by itself at the right server but is killed at an attack has no verdict, whatever alert it
    /// sent: it may retry. A client that never ends, not even at the right server, is judged by its connections.
    ///
    /// A crash is not a refusal, unless the client sent an alert about the certificate on every connection. For
    /// example, a Swift program that throws an error at its top level ends by a signal.
    private func doubt(_ evidence: RehearsalEvidence) -> String? {
        if let doubt = evidence.doubt { return doubt }
        if evidence.end == .timedOut, endsByItself { return RehearsalEvidence.mayHaveRetried }
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
        // Exit code 0 needs no comparison: if the control run failed, the server was not the cause.
        guard evidence.end == controlEnd || evidence.end == .exited(0) else {
            let end = evidence.clientExit.map { "ended with exit code \($0)" } ?? "did not end"
            return (.inconclusive, "it sent its request, but \(end)")
        }
        return (.accepted, nil)
    }
}
