internal import Dispatch
public import Pintle
internal import Synchronization

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
    ///   - validator: validates the paths. It caches parsed certificates, so several evaluators may share one.
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
    ///   - validator: validates the paths. It caches parsed certificates, so several evaluators may share one.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil, validator: PathValidator = PathValidator()
    ) {
        self.init(
            policy: policy, approvals: approvals, newestKnownTime: newestKnownTime, validate: validator.validate,
            prepare: validator.prepare(for:))
    }
}

extension ServerTrustEvaluator {
    /// Decides as `evaluate(_:presented:at:)` does, on another thread.
    ///
    /// The caller's thread does not wait, so that an event loop or an actor goes on. At most four verdicts run at the
    /// same time in a process; the others wait. Cancelling the task changes nothing: the call still returns the
    /// verdict.
    ///
    /// - Parameters:
    ///   - server: the host and port that the caller wants to connect to, never a name from a certificate or SNI.
    ///   - presented: the certificates that the server sent, in DER, the leaf first.
    ///   - instant: the current time.
    public func evaluation(
        of server: ServerEndpoint, presented: [[UInt8]], at instant: Date
    ) async -> TrustEvaluation {
        await withCheckedContinuation { continuation in
            VerdictThreads.run {
                continuation.resume(returning: evaluate(server, presented: presented, at: instant))
            }
        }
    }
}

/// A few threads for verdicts that a caller does not want to wait for.
///
/// The queues are serial, because a concurrent queue of Dispatch would share its threads with Swift's tasks. The first
/// verdict reads files.
private enum VerdictThreads {
    /// A power of two.
    private static let queues = (1...4).map { DispatchQueue(label: "pintle.verdict.\($0)") }
    private static let turn = Atomic<Int>(0)

    static func run(_ verdict: @escaping @Sendable () -> Void) {
        let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        queues[number & (queues.count - 1)].async(execute: verdict)
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
    ///   - validator: validates the paths. It caches parsed certificates, so several pinners may share one.
    /// - Throws: all problems of the pins at once. An empty list of pins is a problem too.
    public init(
        pins: [String], backupPins: [String] = [], backup: BackupRequirement = .required,
        anchors: TrustAnchors = .system, validator: PathValidator = PathValidator()
    ) throws(PolicyError) {
        try self.init(
            pins: pins, backupPins: backupPins, backup: backup, anchors: anchors, validate: validator.validate)
    }
}
