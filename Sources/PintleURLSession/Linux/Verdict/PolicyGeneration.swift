internal import Foundation
internal import Pintle
internal import PintleEvents
internal import PintleOpenSSL
internal import Synchronization

/// The policy that was in force when a transport was made, and the client's identity. Each connection belongs to one
/// generation.
struct PolicyGeneration: Sendable {
    /// A number that is unique in this process.
    let serial: Int
    let snapshot: PolicySnapshot
    let validator: PathValidator
    /// The identity for servers that ask for one and are trusted for a sufficient reason.
    let identity: ClientIdentity?
    var policy: PinningPolicy { snapshot.policy }

    private let source: any PolicySource
    private let observer: (any TrustEventObserver)?
    private let ports: Set<UInt16>

    private static let count = Atomic<Int>(0)

    /// - Parameter snapshot: the snapshot that `source` returned.
    init(
        _ snapshot: PolicySnapshot, of source: any PolicySource, validator: PathValidator,
        observer: (any TrustEventObserver)? = nil, identity: ClientIdentity? = nil
    ) {
        serial = Self.count.add(1, ordering: .relaxed).newValue
        self.snapshot = snapshot
        self.source = source
        self.validator = validator
        self.observer = observer
        self.identity = identity
        ports = snapshot.policy.portsOfRules
    }

    /// A Boolean value that indicates whether this policy is still in force. No request may start under an older one.
    var isCurrent: Bool { inForce != nil }

    /// The source's current snapshot, or `nil` if it belongs to a newer generation.
    ///
    /// An update with the same rules starts no new generation, but has a later ``PolicySnapshot/newestKnownTime``.
    var inForce: PolicySnapshot? {
        let current = source.current
        return current.generation == snapshot.generation ? current : nil
    }

    /// Returns `true` if the user has approved exactly this server's certificate although it is for other names.
    ///
    /// libcurl's own name check is off only for such a server. ``Transfer/passesGate()`` then requires that the receipt
    /// is based on an approval.
    func acceptsOtherNames(of endpoint: ServerEndpoint, at instant: @autoclosure () -> Date) -> Bool {
        guard policy.unpinnedHosts == .askUser, let approval = snapshot.approvals[endpoint],
            policy.rule(for: endpoint) == nil
        else { return false }
        return approval.acceptsOtherNames(at: instant())
    }

    /// Posts a verdict that is worth an event to the observer. Does not wait for the observer.
    func report(_ evaluation: TrustEvaluation, at instant: Date) {
        guard let observer,
            let event = VerdictEvent(evaluation, by: policy, generation: snapshot.generation, at: instant)
        else { return }
        TrustEventFeed.shared.post(.verdict(event), to: observer)
    }

    /// Posts a warning if the identity was shown outside its dates. Does not wait for the observer.
    func reportDates(of identity: ClientIdentity, for endpoint: ServerEndpoint, at instant: Date) {
        guard let observer, instant < identity.validity.notBefore || identity.validity.hasEnded(at: instant) else {
            return
        }
        let text = identity.validity.hasEnded(at: instant) ? "has expired" : "is not valid yet"
        let event = SessionEvent(
            .clientCertificateDates, classes: [], isResolved: false,
            text: "\(endpoint) got a client certificate that \(text)")
        TrustEventFeed.shared.post(.session(event), to: observer)
    }

    /// Returns `true` if the session may send plain HTTP requests to a host: the policy has no rule for it, on any
    /// port, and leaves hosts without a rule to the system's trust.
    func allowsPlainHTTP(to endpoint: ServerEndpoint) -> Bool { policy.allowsPlainHTTP(to: endpoint, ports: ports) }
}
