#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A set of pins that applies to any host, as a shorthand for a policy with one rule.
///
///     let pinner = try PublicKeyPinner(
///         pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
///         backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
///     let decision = try pinner.validate(chain, host: "example.com", at: Date())
///
/// The decision is the one that ``PinningPolicy`` makes for a host with an enforcing rule. The path is validated for
/// this host and this instant before any pin is compared, and a backup pin is required. Pins cannot be compared without
/// validation. The type is safe to use from any thread.
public struct PublicKeyPinner: Sendable {
    /// The rule that applies to every host.
    private let rule: PinnedHost
    private let validate: @Sendable (PathRequest) -> PathOutcome

    /// Creates a pinner.
    ///
    /// - Parameters:
    ///   - pins: the pins of the keys in use, in any notation that ``PublicKeyPin/init(_:)`` reads.
    ///   - backupPins: the pins of keys that are not in use yet.
    ///   - backup: ``BackupRequirement/noneAccepted`` if the author accepts that losing the key locks all users out.
    ///   - anchors: the roots that paths may end at.
    ///   - validate: builds and checks the path, as ``PathRequest`` describes.
    /// - Throws: all problems of the pins at once. An empty list of pins is a problem too.
    public init(
        pins: [String], backupPins: [String] = [], backup: BackupRequirement = .required,
        anchors: TrustAnchors = .system, validate: @escaping @Sendable (PathRequest) -> PathOutcome
    ) throws(PolicyError) {
        guard !pins.isEmpty else {
            throw PolicyError([
                PolicyProblem(
                    id: "no-pins", at: .member("pins"), message: "there are no pins: any valid path would do",
                    help: "add the pin of the key in use: pintle pin HOST")
            ])
        }
        rule = try PinnedHost(
            "host.invalid", pins: pins, backupPins: backupPins, backup: backup, anchors: anchors)
        self.validate = validate
    }

    /// Decides whether the caller may trust a server.
    ///
    /// - Parameters:
    ///   - presented: the certificates that the server sent, in DER, the leaf first.
    ///   - host: the host that the caller wants to connect to, in a form that ``ServerName`` reads.
    ///   - port: the port that the caller wants to connect to.
    ///   - instant: the current time.
    /// - Throws: an error if the host cannot be parsed. A refusal is a return value, not an error.
    public func validate(
        _ presented: [[UInt8]], host: String, port: UInt16 = 443, at instant: Date
    ) throws(ServerNameError) -> TrustDecision {
        let server = ServerEndpoint(host: try ServerName(host), port: port)
        return policy(for: server).map { policy in
            policy.evaluate(server, presented: presented, at: instant, validate: validate).decision
        } ?? .rejected(.hostNotAllowed(server))
    }

    /// Returns the policy that decides about a server: it has one rule and allows no other host. `init` has checked the
    /// rule and no host makes them invalid. If one did, the result would be `nil`, which refuses the server.
    package func policy(for server: ServerEndpoint) -> PinningPolicy? {
        var rule = rule
        rule.host = server.host
        return try? PinningPolicy(hosts: [rule], unpinnedHosts: .reject)
    }
}
