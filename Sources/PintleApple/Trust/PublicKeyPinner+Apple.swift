import Foundation
import Pintle
import Security

extension PublicKeyPinner {
    /// Compares pins with paths that the system has validated.
    ///
    ///     let pinner = try PublicKeyPinner(pins: ["sha256/..."], backupPins: ["sha256/..."])
    ///     let decision = try pinner.validate(trust, host: "example.com")
    ///
    /// - Parameters:
    ///   - pins: of the keys in use, in any notation that `PublicKeyPin(_:)` reads.
    ///   - backupPins: of keys that are not in use yet.
    ///   - backup: `.noneAccepted` where the author accepts that a lost key locks everyone out.
    ///   - anchors: the roots that paths may end in.
    /// - Throws: everything that is wrong with the pins at once; no pins are wrong too.
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

    /// Decides about the server behind a trust object, whose anchors, date and policies are replaced. Its own policies
    /// stay among them, except where the server's certificate is itself the anchor. The system validates the path for this host first; pins are compared with that path.
    ///
    /// The system may take its time: never call it on the main queue. For a decision of `trusted` answer the challenge
    /// with default handling; where ``init(pins:backupPins:backup:anchors:)`` was given private anchors, with
    /// `URLCredential(trust:)`, because the system by itself would refuse the server.
    ///
    /// - Parameters:
    ///   - trust: from the connection; not used elsewhere meanwhile.
    ///   - host: the host that the caller wants to talk to, in a form that `ServerName` reads.
    ///   - port: the port that the caller wants to talk to.
    ///   - instant: now.
    /// - Throws: that the host cannot be read. A refusal is a value, not an error.
    public func validate(
        _ trust: SecTrust, host: String, port: UInt16 = 443, at instant: Date = Date()
    ) throws(ServerNameError) -> TrustDecision {
        let server = ServerEndpoint(host: try ServerName(host), port: port)
        return policy(for: server).map { policy in
            ServerTrustEvaluator(policy: policy).evaluate(server, trust, at: instant).decision
        } ?? .rejected(.hostNotAllowed(server))
    }
}
