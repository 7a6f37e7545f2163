internal import Foundation
internal import PintleTestKit
internal import PintleURLSession

/// Servers for `localhost`. The app trusts two authorities, its own and a public one, and has pinned the leaf's key.
struct AttackCatalogue {
    let own: CertificateAuthority
    let intermediate: CertificateAuthority
    let publicAuthority: CertificateAuthority
    let genuine: Identity
    let backup: PrivateKey

    init() throws {
        own = try .root(name: "Own Root")
        intermediate = try own.intermediate()
        publicAuthority = try .root(name: "Public Root")
        genuine = try intermediate.issue(hosts: ["localhost"])
        backup = try PrivateKey()
    }

    private func pin(_ spki: [UInt8]) throws -> Pin { Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: spki))) }

    private var anchors: TrustAnchors {
        get throws {
            .only([try Certificate(der: own.certificate.der), try Certificate(der: publicAuthority.certificate.der)])
        }
    }

    func policy(
        pins: [Pin]? = nil, expiry: PinExpiry = .never, enforcement: Enforcement = .enforce,
        unpinnedHosts: PinningPolicy.UnpinnedHosts = .reject
    ) throws -> PinningPolicy {
        let leaf = [try pin(genuine.certificate.spkiDER)]
        let rule = try PinnedHost(
            "localhost", pins: pins ?? leaf, backupPins: [try pin(backup.spkiDER)], expiry: expiry,
            enforcement: enforcement, anchors: try anchors)
        return try PinningPolicy(hosts: [rule], unpinnedHosts: unpinnedHosts)
    }

    /// A leaf of the app's own authority with the pinned key, wrong in one thing: only the path can tell.
    private func spoilt(
        _ name: String, _ failure: String, configure: (inout CertificateTemplate) -> Void
    ) throws -> Attack {
        Attack(
            name, "invalid-path \(failure)",
            try intermediate.issue(hosts: ["localhost"], key: genuine.key, configure: configure), try policy())
    }

    func attacks() throws -> [Attack] {
        let policy = try policy()
        let pinnedAuthority = try self.policy(pins: [try pin(intermediate.certificate.spkiDER)])
        let interceptor = try publicAuthority.issue(hosts: ["localhost"])
        let past = Date(timeIntervalSinceNow: -86_400)
        var list = [
            Attack("the genuine server", "trusted", genuine, policy),
            Attack("interceptor with an authority that is trusted", "pin-mismatch", interceptor, policy),
            Attack(
                "interceptor with an unknown authority", "invalid-path untrusted-root",
                try CertificateAuthority.root(name: "Unknown Root").issue(hosts: ["localhost"]), policy),
            Attack(
                "the pinned key below an unknown authority", "invalid-path untrusted-root",
                try CertificateAuthority.root(name: "Unknown Root").issue(hosts: ["localhost"], key: genuine.key),
                policy),
            Attack("self-signed", "invalid-path self-signed", try Identity.selfSigned(hosts: ["localhost"]), policy),
            Attack(
                "pinned certificate appended to a foreign chain", "pin-mismatch",
                interceptor.chain + genuine.chainWithRoot, interceptor.key, policy),
            Attack(
                "pinned intermediate appended but not on the path", "pin-mismatch",
                interceptor.chain + [intermediate.certificate.der], interceptor.key, pinnedAuthority),
            Attack("pinned intermediate on the path", "trusted", genuine, pinnedAuthority),
            Attack("renewed, same key", "trusted", try genuine.renewed(by: intermediate), policy),
            Attack(
                "rotated to the backup key", "trusted", try own.issue(hosts: ["localhost"], key: backup), policy),
            Attack("rotated to an unknown key", "pin-mismatch", try own.issue(hosts: ["localhost"]), policy),
            Attack(
                "pins are over, refuse", "pins-expired", genuine, try self.policy(expiry: .rejecting(after: past))),
            Attack(
                "pins are over, as the system", "trusted", interceptor,
                try self.policy(expiry: .systemTrust(after: past))),
            Attack(
                "pins that only report", "trusted", interceptor, try self.policy(enforcement: .reportOnly)),
            Attack(
                "no rule, refused", "host-not-allowed", genuine, try PinningPolicy(hosts: [], unpinnedHosts: .reject)),
            Attack(
                "no rule, nobody has been asked", "unknown-host self-signed",
                try Identity.selfSigned(hosts: ["localhost"]), try PinningPolicy(hosts: [], unpinnedHosts: .askUser)),
        ]
        list += try spoiltPaths()
        return list
    }

    private func spoiltPaths() throws -> [Attack] {
        let short = try own.intermediate(name: "Short", pathLength: 0)
        let constrained = try own.intermediate(name: "Constrained") {
            $0.nameConstraints = .nameConstraints(permitted: [.dns("example.test")])
        }
        let misused = try genuine.misusedAsAuthority().issue(hosts: ["localhost"], key: genuine.key)
        let crossed = try intermediate.crossSigned(by: publicAuthority)
        return [
            try spoilt("expired", "expired") { $0.notAfter = .fromNow(seconds: -1) },
            try spoilt("not yet valid", "not-yet-valid") { $0.notBefore = .fromNow(seconds: 3_600) },
            try spoilt("for another host", "name-mismatch") { $0.subjectAltNames = [.dns("other.test")] },
            try spoilt("common name alone", "name-mismatch") { $0.subjectAltNames = [] },
            try spoilt("not for servers", "unsuitable-purpose") { $0.extendedKeyUsage = [.clientAuth] },
            try spoilt("SHA-1", "weak-signature") { $0.signatureAlgorithm = .ecdsa(.sha1) },
            try spoilt("unknown critical extension", "unhandled-critical-extension") {
                $0.extraExtensions = [CertificateExtension([2, 999, 1], critical: true) { $0.null() }]
            },
            Attack(
                "RSA of 1,024 bits", "invalid-path weak-key",
                try intermediate.issue(hosts: ["localhost"], keyType: .rsa(bits: 1_024)), try policy()),
            Attack(
                "path length exceeded", "invalid-path path-length-exceeded",
                try short.intermediate(name: "Below").issue(hosts: ["localhost"], key: genuine.key), try policy()),
            Attack(
                "name constraints violated", "invalid-path name-constraint-violation",
                try constrained.issue(hosts: ["localhost"], key: genuine.key), try policy()),
            // What a leaf is that signs, validators call by different names.
            Attack(
                "leaf used as authority", "invalid-path", misused.chain, misused.key, try policy(),
                comparesFailure: false),
            Attack(
                "cross-signed", "trusted", genuine.chain + [crossed.certificate.der], genuine.key, try policy()),
        ]
    }
}
