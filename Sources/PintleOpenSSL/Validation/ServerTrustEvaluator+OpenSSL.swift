public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ServerTrustEvaluator {
    /// Creates an evaluator that follows the changes of a policy. OpenSSL, with this package's search and checks,
    /// validates the paths.
    ///
    ///     let evaluator = ServerTrustEvaluator(source: store)
    ///     evaluator.prepare()
    ///
    /// - Parameters:
    ///   - source: the source of the policy, the users' approvals and the newest known time. Each verdict reads its
    ///     `current` once.
    ///   - validator: validates the paths. Several evaluators may share one.
    public init(source: some PolicySource, validator: PathValidator = PathValidator()) {
        self.init(source: source, validate: validator.validate, prepare: validator.prepare(for:))
    }

    /// Creates an evaluator that decides by a policy. OpenSSL, with this package's search and checks, validates the
    /// paths.
    ///
    /// - Parameters:
    ///   - policy: the policy that decides.
    ///   - approvals: called for each decision; returns the users' current approvals, such as `{ store.approvals }`.
    ///   - newestKnownTime: the date of the release or of the last update, as in `PolicySnapshot.newestKnownTime`.
    ///   - validator: validates the paths. Several evaluators may share one.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil, validator: PathValidator = PathValidator()
    ) {
        self.init(
            policy: policy, approvals: approvals, newestKnownTime: newestKnownTime, validate: validator.validate,
            prepare: validator.prepare(for:))
    }
}

extension PublicKeyPinner {
    /// Creates a pinner. OpenSSL, with this package's search and checks, validates the paths.
    ///
    /// - Parameters:
    ///   - pins: the pins of the keys in use, in any notation that `PublicKeyPin(_:)` reads.
    ///   - backupPins: the pins of keys that are not in use yet.
    ///   - backup: `.noneAccepted` if you accept that losing the key locks all users out.
    ///   - anchors: the roots in which paths may end.
    ///   - validator: validates the paths. Several pinners may share one.
    /// - Throws: all problems of the pins at once. An empty list of pins is a problem too.
    public init(
        pins: [String], backupPins: [String] = [], backup: BackupRequirement = .required,
        anchors: TrustAnchors = .system, validator: PathValidator = PathValidator()
    ) throws(PolicyError) {
        try self.init(
            pins: pins, backupPins: backupPins, backup: backup, anchors: anchors, validate: validator.validate)
    }
}
