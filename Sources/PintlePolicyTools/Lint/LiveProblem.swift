package import Pintle
package import PintlePolicyLint

/// A problem of a live server. Ids are stable, and the article "Problems of a policy" explains each.
package enum LiveProblem: String, CaseIterable {
    case unreachable = "live-unreachable"
    case noRule = "live-no-rule"
    case invalidPath = "live-invalid-path"
    case missingIntermediate = "live-missing-intermediate"
    case mismatch = "live-mismatch"
    case onBackup = "live-on-backup"
    case backupInUse = "live-backup-in-use"
    case unmatchedPin = "live-unmatched-pin"
    case sharedAuthority = "live-shared-authority"
    case certificateEnds = "live-certificate-ends"
    case clientCertificateRequired = "live-client-certificate-required"
    case clientCertificateRefused = "live-client-certificate-refused"
    case fragilePin = "fragile-pin"
}

/// A policy, and what lint knows beside it, for the comparison with live servers.
package struct LintedPolicy {
    package let policy: PinningPolicy
    /// The policy's file, for places; empty without a file.
    package let json: [UInt8]
    /// Names the public authority with a key or certificate.
    package let authority: @Sendable (Pin) -> String?
    package let families: AuthorityFamilies
    /// The results of earlier audits.
    package let histories: [AuditServer: KeyHistory]

    package init(
        policy: PinningPolicy, json: [UInt8], authority: @escaping @Sendable (Pin) -> String?,
        families: AuthorityFamilies,
        histories: [AuditServer: KeyHistory] = [:]
    ) {
        self.policy = policy
        self.json = json
        self.authority = authority
        self.families = families
        self.histories = histories
    }
}

/// A server that lint asked.
package struct LintedServer {
    let endpoint: ServerEndpoint
    /// The decision; `nil` if there is none.
    let decision: TrustDecision?
    /// The reason why its pins will not match for long; `nil` if there is none.
    let fragility: Fragility?

    package init(endpoint: ServerEndpoint, decision: TrustDecision?, fragility: Fragility? = nil) {
        self.endpoint = endpoint
        self.decision = decision
        self.fragility = fragility
    }
}
