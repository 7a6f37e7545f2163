import Foundation
import Pintle
import Security

extension PublicKeyPinner {
    /// Creates a pinner that compares pins with paths that the system has validated.
    ///
    ///     let pinner = try PublicKeyPinner(pins: ["sha256/..."], backupPins: ["sha256/..."])
    ///     let decision = try pinner.validate(trust, host: "example.com")
    ///
    /// - Parameters:
    ///   - pins: The pins of the keys in use, in any notation that `PublicKeyPin(_:)` reads.
    ///   - backupPins: The pins of keys that are not in use yet.
    ///   - backup: `.noneAccepted` if you accept that losing the key locks out all clients.
    ///   - anchors: The roots that paths may end in.
    /// - Throws: An error that lists every problem with the pins. An empty list is a problem too.
    public init(
        pins: [String], backupPins: [String] = [], backup: BackupRequirement = .required,
        anchors: TrustAnchors = .system
    ) throws(PolicyError) {
        try self.init(pins: pins, backupPins: backupPins, backup: backup, anchors: anchors) { request in
            guard let trust = SecTrust.presenting(request.chain.certificates.map(\.der)) else {
                return .invalid(PathFailure(.malformedCertificate, depth: 0, text: "the system cannot read it"))
            }
            return SystemValidation(trust).outcome(of: request)
        }
    }

    /// Decides about the server behind a trust object. The system validates the path for this host first; pins are
    /// compared with that path.
    ///
    /// This replaces the trust object's anchors and date, and adds a policy to its own. If the server's certificate is
    /// itself the anchor, its own policies are replaced too.
    ///
    /// The system's evaluation may take some time: never call it on the main queue. After a decision of `trusted`,
    /// answer the challenge with default handling. If ``init(pins:backupPins:backup:anchors:)`` got private anchors,
    /// answer with `URLCredential(trust:)`, because the system by itself would refuse the server.
    ///
    /// - Parameters:
    ///   - trust: The trust object of the connection. Do not use it elsewhere at the same time.
    ///   - host: The host that the caller wants to connect to, in a form that `ServerName` reads.
    ///   - port: The port that the caller wants to connect to.
    ///   - instant: The current time.
    /// - Throws: An error if the host cannot be read. A refusal is a value, not an error.
    public func validate(
        _ trust: SecTrust, host: String, port: UInt16 = 443, at instant: Date = Date()
    ) throws(ServerNameError) -> TrustDecision {
        let server = ServerEndpoint(host: try ServerName(host), port: port)
        return policy(for: server).map { policy in
            ServerTrustEvaluator(policy: policy).evaluate(server, trust, at: instant).decision
        } ?? .rejected(.hostNotAllowed(server))
    }
}
