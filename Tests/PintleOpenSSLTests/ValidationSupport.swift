import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleSuffixes
import PintleTestKit

/// Validates chains in the same way as a connection does.
enum Validation {
    static let host = "server.example.test"

    /// Returns the decision for these anchors, without a real connection.
    static func decide(
        _ chain: [[UInt8]], anchors: [MintedCertificate], host: String = Validation.host, at instant: Date = Date(),
        pins: [Pin] = [], budget: PathBudget = PathBudget(), suffixes: PublicSuffixList = .system
    ) throws -> TrustDecision {
        try evaluate(
            chain, anchors: anchors, host: host, at: instant, pins: pins, budget: budget, suffixes: suffixes
        ).decision
    }

    static func evaluate(
        _ chain: [[UInt8]], anchors: [MintedCertificate], host: String = Validation.host, at instant: Date = Date(),
        pins: [Pin] = [], budget: PathBudget = PathBudget(), suffixes: PublicSuffixList = .system
    ) throws -> TrustEvaluation {
        let anchors = try anchors.map { try Certificate(der: $0.der) }
        let validator = PathValidator(
            system: SystemAnchors(replacedBy: anchors), budget: budget, suffixes: suffixes)
        let policy =
            pins.isEmpty
            ? try PinningPolicy(hosts: [])
            : try PinningPolicy(hosts: [PinnedHost(host, pins: pins, backup: .noneAccepted)])
        return policy.evaluate(
            ServerEndpoint(host: try ServerName(host)), presented: chain, at: instant, validate: validator.validate)
    }

    static func pin(_ certificate: MintedCertificate, at position: PinPosition = .any) throws -> Pin {
        Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER)), at: position)
    }
}

extension TrustDecision {
    /// The reason and the path failure: `invalid-path expired`, `host-not-pinned`, ...
    var summary: String {
        guard case .rejected(let rejection) = self, let failure = rejection.pathFailure else { return reason }
        return "\(reason) \(failure.code.rawValue)"
    }
}
