import Pintle
import os

extension Logger {
    /// Writes verdicts to the system's log, for whatever takes an observer:
    ///
    ///     let logger = Logger(subsystem: "com.example.app", category: "trust")
    ///     let delegate = PinningSessionDelegate(policy, observer: { logger.log($0) })
    ///
    /// A refusal is an error, expired pins and mismatches that are only reported are worth a line, the rest is for
    /// debugging. The host is private, and so is the rest of the story: where it is worth reading, it is worth asking for.
    public func log(_ evaluation: TrustEvaluation) {
        let server = evaluation.endpoint.description
        let reason = evaluation.decision.reason
        switch evaluation.decision {
        case .rejected(let rejection):
            let failure = rejection.pathFailure.map { " \($0.code.rawValue)" } ?? ""
            let story = rejection.description
            error(
                "refused \(server, privacy: .private(mask: .hash)): \(reason + failure, privacy: .public) \(story, privacy: .private)"
            )
        case .trusted(.pinsExpired), .trusted(.mismatchReportedOnly):
            info("let \(server, privacy: .private(mask: .hash)) pass: \(reason, privacy: .public)")
        case .trusted:
            debug("trusted \(server, privacy: .private(mask: .hash)): \(reason, privacy: .public)")
        }
    }
}
