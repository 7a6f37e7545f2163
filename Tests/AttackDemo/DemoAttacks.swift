internal import Foundation
internal import PintleAttacks
internal import PintleTestKit
internal import PintleURLSession

/// An attack of the catalogue, the app's policy, and the expected result.
struct DemoAttack: Sendable {
    let name: String
    let scenario: Scenario
    let policy: PinningPolicy
    /// The expected result: `trusted`, or the reason of the refusal, with the path failure if every validator reports
    /// the same.
    let expected: String
    /// A Boolean value that indicates whether the expected result contains the path failure.
    let comparesFailure: Bool
}

/// The catalogue's attacks on an app that trusts two authorities and pins the leaf's key, and the policies of that app.
struct DemoAttacks {
    let catalogue: Catalogue

    init() throws {
        catalogue = try Catalogue()
    }

    private var certificates: Certificates { catalogue.certificates }

    private func pin(_ spki: [UInt8]) throws -> Pin { Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: spki))) }

    func policy(
        pins: [Pin]? = nil, expiry: PinExpiry = .never, enforcement: Enforcement = .enforce,
        unpinnedHosts: PinningPolicy.UnpinnedHosts = .reject
    ) throws -> PinningPolicy {
        let leaf = [try pin(certificates.genuine.certificate.spkiDER)]
        let anchors = try [certificates.authority, certificates.otherAuthority].map {
            try Certificate(der: $0.certificate.der)
        }
        let rule = try PinnedHost(
            certificates.host, pins: pins ?? leaf, backupPins: [try pin(certificates.backup.spkiDER)], expiry: expiry,
            enforcement: enforcement, anchors: .only(anchors))
        return try PinningPolicy(hosts: [rule], unpinnedHosts: unpinnedHosts)
    }

    /// Returns the scenario with this id.
    func scenario(_ id: String) throws -> Scenario {
        guard let scenario = catalogue[id] else { throw MissingScenario(id: id) }
        return scenario
    }

    struct MissingScenario: Error {
        let id: String
    }

    /// The expected results of a policy that pins the leaf's key.
    private static let expectations = [
        ("control", "trusted"),
        ("trusted-interceptor", "pin-mismatch"),
        ("untrusted-ca", "invalid-path untrusted-root"),
        ("pinned-key-untrusted-ca", "invalid-path untrusted-root"),
        ("self-signed", "invalid-path self-signed"),
        ("other-hosts-certificate", "invalid-path name-mismatch"),
        ("pin-appended-to-foreign-path", "pin-mismatch"),
        ("expired", "invalid-path expired"),
        ("not-yet-valid", "invalid-path not-yet-valid"),
        ("wrong-host", "invalid-path name-mismatch"),
        ("cn-only", "invalid-path name-mismatch"),
        ("no-server-purpose", "invalid-path unsuitable-purpose"),
        ("unknown-critical-extension", "invalid-path unhandled-critical-extension"),
        ("weak-key", "invalid-path weak-key"),
        ("sha1-signature", "invalid-path weak-signature"),
        ("path-length-exceeded", "invalid-path path-length-exceeded"),
        ("name-constraints-violated", "invalid-path name-constraint-violation"),
        ("renewed-same-key", "trusted"),
        ("rotated-to-backup-key", "trusted"),
        ("cross-signed", "trusted"),
        ("rotated-to-unknown-key", "pin-mismatch"),
        ("redirect-to-unpinned-host", "host-not-allowed"),
        ("tls-1.0", "not about trust"),
        ("tls-1.1", "not about trust"),
    ]

    func attacks() throws -> [DemoAttack] {
        func demo(
            _ id: String, _ expected: String, _ policy: PinningPolicy, name: String? = nil,
            comparesFailure: Bool = true
        ) throws -> DemoAttack {
            DemoAttack(
                name: name ?? id, scenario: try scenario(id), policy: policy, expected: expected,
                comparesFailure: comparesFailure)
        }
        let policy = try policy()
        let pinnedAuthority = try self.policy(pins: [try pin(certificates.intermediate.certificate.spkiDER)])
        let past = Date(timeIntervalSinceNow: -86_400)
        #if PINTLE_APPLE
        // Validators report a leaf that signs with different path failures.
        let forged = try demo("leaf-as-ca", "invalid-path", policy, comparesFailure: false)
        #else
        let forged = try demo("leaf-as-ca", "invalid-path not-a-ca", policy)
        #endif
        return try DemoAttacks.expectations.map { try demo($0, $1, policy) } + [
            forged,
            demo("pinned-intermediate-off-path", "pin-mismatch", pinnedAuthority),
            demo("control", "trusted", pinnedAuthority, name: "pinned intermediate on the path"),
            demo(
                "control", "pins-expired", try self.policy(expiry: .rejecting(after: past)),
                name: "expired pins, refused"),
            demo(
                "trusted-interceptor", "trusted", try self.policy(expiry: .systemTrust(after: past)),
                name: "expired pins, decided by the system"),
            demo(
                "trusted-interceptor", "trusted", try self.policy(enforcement: .reportOnly),
                name: "pins in report-only mode"),
            demo(
                "control", "host-not-allowed", try PinningPolicy(hosts: [], unpinnedHosts: .reject),
                name: "no rule, refused"),
            demo(
                "self-signed", "unknown-host self-signed", try PinningPolicy(hosts: [], unpinnedHosts: .askUser),
                name: "no rule, not approved"),
        ]
    }
}
