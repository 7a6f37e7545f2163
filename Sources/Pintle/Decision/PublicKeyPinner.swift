#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A handful of pins for whatever host they are asked about: the small face of a policy with one rule.
///
///     let pinner = try PublicKeyPinner(
///         pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
///         backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
///     let decision = try pinner.validate(chain, host: "example.com", at: Date())
///
/// The decision is the one that ``PinningPolicy`` makes for a host with an enforcing rule: the path is validated
/// before any pin, for this host and this instant, and a backup pin is demanded. There is no way to compare pins
/// alone. Safe to use from any thread.
public struct PublicKeyPinner: Sendable {
    /// The demands on every host.
    private let terms: HostTerms
    private let validate: @Sendable (PathRequest) -> PathOutcome

    /// - Parameters:
    ///   - pins: of the keys in use, in any notation that ``PublicKeyPin/init(_:)`` reads.
    ///   - backupPins: of keys that are not in use yet.
    ///   - backup: ``BackupRequirement/noneAccepted`` where the author accepts that a lost key locks everyone out.
    ///   - anchors: the roots that paths may end in.
    ///   - validate: builds and checks the path: everything that ``PathRequest`` asks for.
    /// - Throws: everything that is wrong with the pins at once; no pins are wrong too.
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
        terms = try PinnedHost(
            "host.invalid", pins: pins, backupPins: backupPins, backup: backup, anchors: anchors
        ).terms
        self.validate = validate
    }

    /// Decides whether a server is the one that is meant.
    ///
    /// - Parameters:
    ///   - presented: what the server sent, DER, the leaf first.
    ///   - host: that the caller wants to talk to, in a form that ``ServerName`` reads.
    ///   - port: that the caller wants to talk to.
    ///   - instant: now.
    /// - Throws: that the host cannot be read. A refusal is a value, not an error.
    public func validate(
        _ presented: [[UInt8]], host: String, port: UInt16 = 443, at instant: Date
    ) throws(ServerNameError) -> TrustDecision {
        let server = ServerEndpoint(host: try ServerName(host), port: port)
        return policy(for: server).map { policy in
            policy.evaluate(server, presented: presented, at: instant, validate: validate).decision
        } ?? .rejected(.hostNotAllowed(server))
    }

    /// Returns the policy that decides about a server: one rule, and no other host is allowed. No host makes a good rule
    /// a bad one; `nil` refuses the server if one did.
    package func policy(for server: ServerEndpoint) -> PinningPolicy? {
        let rule = PinnedHost(unchecked: server.host, port: nil, includesSubdomains: false, terms: terms)
        return try? PinningPolicy(hosts: [rule], unpinnedHosts: .reject)
    }
}
