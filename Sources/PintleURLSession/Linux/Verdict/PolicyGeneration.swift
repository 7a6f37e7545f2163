internal import Foundation
internal import Pintle
internal import PintleOpenSSL
internal import PintleReports
internal import Synchronization

/// What was in force when a transport was made, under a number that no other in this process has.
/// Connections belong to one.
struct PolicyGeneration: Sendable {
    let serial: Int
    let snapshot: PolicySnapshot
    let validator: PathValidator
    var policy: PinningPolicy { snapshot.policy }

    private let source: any PolicySource
    private let observer: (any TrustFailureObserver)?
    private let ports: PortsOfRules

    private static let count = Atomic<Int>(0)

    /// - Parameter snapshot: what `source` has returned.
    init(
        _ snapshot: PolicySnapshot, of source: any PolicySource, validator: PathValidator,
        observer: (any TrustFailureObserver)? = nil
    ) {
        serial = Self.count.add(1, ordering: .relaxed).newValue
        self.snapshot = snapshot
        self.source = source
        self.validator = validator
        self.observer = observer
        ports = PortsOfRules(snapshot.policy)
    }

    /// Whether nothing newer is in force: where something is, nothing may begin any more.
    var isCurrent: Bool { inForce != nil }

    /// The snapshot that the source has now, if it is still of this generation. An update with the same rules is no new
    /// generation, and its ``PolicySnapshot/newestKnownTime`` is later all the same.
    var inForce: PolicySnapshot? {
        let current = source.current
        return current.generation == snapshot.generation ? current : nil
    }

    /// Returns whether a person has approved the exact certificate of this server although it is for other names.
    /// libcurl's own check of the name is off for such a server only; ``Transfer/passesGate()`` then demands that the
    /// receipt stands on an approval.
    func acceptsOtherNames(of endpoint: ServerEndpoint, at instant: @autoclosure () -> Date) -> Bool {
        guard policy.unpinnedHosts == .askUser, let approval = snapshot.approvals[endpoint],
            policy.rule(for: endpoint) == nil
        else { return false }
        return approval.acceptsOtherNames(at: instant())
    }

    /// Lets the observer hear of a verdict, if it is one to hear of. Does not wait for it.
    func report(_ evaluation: TrustEvaluation, at instant: Date) {
        guard let observer,
            let failure = TrustFailure(evaluation, by: policy, generation: snapshot.generation, at: instant)
        else { return }
        TrustFailureFeed.shared.post(.verdict(failure), to: observer)
    }

    /// Whether a host may be spoken to without TLS: only one that the policy has nothing to say about.
    func allowsPlainHTTP(to endpoint: ServerEndpoint) -> Bool { policy.allowsPlainHTTP(to: endpoint, ports: ports.all) }
}

/// The ports that rules of a policy are for: read from all of them, once, and by the first plain request,
/// since most sessions never make one.
private final class PortsOfRules: Sendable {
    private let policy: PinningPolicy
    private let known = Mutex<Set<UInt16>?>(nil)

    init(_ policy: PinningPolicy) {
        self.policy = policy
    }

    var all: Set<UInt16> {
        known.withLock { known in
            if let known { return known }
            let ports = policy.portsOfRules
            known = ports
            return ports
        }
    }
}
