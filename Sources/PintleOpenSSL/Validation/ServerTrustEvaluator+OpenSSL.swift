public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ServerTrustEvaluator {
    /// Decides by a policy, on paths that OpenSSL and this package's search and checks have validated.
    ///
    /// - Parameters:
    ///   - policy: that decides.
    ///   - approvals: asked at each decision for what people have said by then, `{ store.approvals }`.
    ///   - newestKnownTime: the date of the release, or that of the last update: `PolicySnapshot.newestKnownTime`.
    ///   - validator: keeps what it has parsed; several evaluators may share one.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil, validator: PathValidator = PathValidator()
    ) {
        self.init(
            policy: policy, approvals: approvals, newestKnownTime: newestKnownTime, validate: validator.validate)
    }
}

extension PublicKeyPinner {
    /// Compares pins with paths that OpenSSL and this package's search and checks have validated.
    ///
    /// - Parameters:
    ///   - pins: of the keys in use, in any notation that `PublicKeyPin(_:)` reads.
    ///   - backupPins: of keys that are not in use yet.
    ///   - backup: `.noneAccepted` where the author accepts that a lost key locks everyone out.
    ///   - anchors: the roots that paths may end in.
    ///   - validator: keeps what it has parsed; several pinners may share one.
    /// - Throws: everything that is wrong with the pins at once; no pins are wrong too.
    public init(
        pins: [String], backupPins: [String] = [], backup: BackupRequirement = .required,
        anchors: TrustAnchors = .system, validator: PathValidator = PathValidator()
    ) throws(PolicyError) {
        try self.init(
            pins: pins, backupPins: backupPins, backup: backup, anchors: anchors, validate: validator.validate)
    }
}
