internal import PintleTestKit

/// Judges an attack by comparison with the same client's behaviour at the right server.
struct RehearsalJudge {
    /// A Boolean value that indicates whether the client sends a request, which then decides. Otherwise its exit code does.
    let sendsRequest: Bool
    private let controlEnd: GuardedProcess.End

    /// - Returns: `nil` if the client did not accept the right server, because the rehearsal then proves nothing.
    init?(control: RehearsalEvidence) {
        let observation = control.observation
        sendsRequest = observation.exposedByteCount > observation.clearByteCount
        controlEnd = control.end
        guard sendsRequest || control.isAcceptedInSilence else { return nil }
    }

    /// A Boolean value that indicates whether the client ends with exit code 0 at the right server.
    var endsWell: Bool { controlEnd == .exited(0) }

    func judge(_ attack: Attack, _ evidence: RehearsalEvidence) -> (RehearsalOutcome, remark: String?) {
        if attack.needsRequest, !sendsRequest { return (.notRun, "this client sends no request") }
        if evidence.observation.clearByteCount > 0 { return (.letThrough, RehearsalResult.inTheClear) }
        return attack.expectation == .refused ? refused(evidence, attack) : accepted(evidence)
    }

    /// Returns the reason why there is no verdict; `nil` if there is one.
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
