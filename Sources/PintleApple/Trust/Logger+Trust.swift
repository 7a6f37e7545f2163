import Pintle
import os

extension Logger {
    /// Writes a verdict to the system's log, for any API that takes an observer:
    ///
    ///     let logger = Logger(subsystem: "com.example.app", category: "trust")
    ///     let delegate = PinningSessionDelegate(policy, observer: { logger.log($0) })
    ///
    /// A refusal is logged as an error. Expired pins and mismatches in report-only mode are logged at the info level,
    /// everything else at the debug level. Hosts and details are private in the log.
    public func log(_ evaluation: TrustEvaluation) {
        let server = evaluation.endpoint.description
        let reason = evaluation.decision.reason
        switch evaluation.decision {
        case .rejected(let rejection):
            let failure = rejection.pathFailure.map { " \($0.code.rawValue)" } ?? ""
            let story = rejection.description
            error(
                """
                refused \(server, privacy: .private(mask: .hash)): \(reason + failure, privacy: .public) \
                \(story, privacy: .private)
                """)
        case .trusted(let basis) where basis.code.weight == .warning:
            info("let \(server, privacy: .private(mask: .hash)) pass: \(reason, privacy: .public)")
        case .trusted:
            debug("trusted \(server, privacy: .private(mask: .hash)): \(reason, privacy: .public)")
        }
    }
}
