internal import Pintle
internal import PintleOpenSSL
internal import Synchronization

/// A policy in use, under a number that no other in this process has. Connections belong to one.
struct PolicyGeneration: Sendable {
    let number: Int
    let policy: PinningPolicy
    let validator: PathValidator

    private static let count = Atomic<Int>(0)

    init(_ policy: PinningPolicy, validator: PathValidator) {
        number = Self.count.add(1, ordering: .relaxed).newValue
        self.policy = policy
        self.validator = validator
    }

    /// Whether a host may be spoken to without TLS: only one that the policy has nothing to say about.
    /// A rule for port 443 speaks for port 80 too, or whoever can alter a link could drop the pins.
    func allowsPlainHTTP(to endpoint: ServerEndpoint) -> Bool {
        policy.unpinnedHosts == .systemTrust && policy.rule(for: endpoint) == nil
            && policy.rule(for: ServerEndpoint(host: endpoint.host)) == nil
    }
}
