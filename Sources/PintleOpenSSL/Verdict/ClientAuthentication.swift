internal import COpenSSL
package import Pintle
internal import PintleSystem

/// The client's side of its own authentication in one handshake: the server's CertificateRequest, and the answer.
///
/// All calls happen on the thread that runs the handshake.
package final class ClientAuthentication {
    /// The answer to the server's CertificateRequest.
    package enum Answer: Hashable, Sendable {
        /// The server has not asked.
        case notAsked
        /// The client has shown its identity and signed the handshake.
        case shown(ClientIdentity, ClientCertificateRequest, [IdentityMisfit])
        /// The client has shown nothing. There are misfits only if there is an identity.
        case withheld(Objection, ClientCertificateRequest, [IdentityMisfit])
    }

    /// The reason why the client shows nothing.
    package enum Objection: Hashable, Sendable {
        /// The caller has no identity for this server.
        case noIdentity
        /// The server is trusted for a reason that does not suffice.
        case weakBasis(TrustBasis)
        /// The policy was replaced after the verdict.
        case superseded
        /// The key exchange does not prove that the server has its key.
        case unprovenKey
        /// The identity does not suit the request.
        case unsuitable
    }

    private let identity: ClientIdentity?
    private let objection: () -> Objection?
    private var request: ClientCertificateRequest?
    private var refusal: Objection?
    private var misfits: [IdentityMisfit] = []
    private var hasSigned = false
    /// A Boolean value that indicates whether the server had proved that it has its key when it asked. OpenSSL has then
    /// verified a signature over this handshake.
    package private(set) var followsProofOfKey = false
    private let didShow: (ClientIdentity) -> Void

    /// - Parameters:
    ///   - identity: the identity for the server; `nil` if there is none.
    ///   - objection: returns the reason why the server does not get it; `nil` if it does. Called at most once, after
    ///     the verdict, and only if the server asks. Must not block.
    ///   - didShow: called when the client has shown the identity. Must not block.
    package init(
        _ identity: ClientIdentity?, objection: @escaping () -> Objection?,
        didShow: @escaping (ClientIdentity) -> Void = { _ in }
    ) {
        (self.identity, self.objection, self.didShow) = (identity, objection, didShow)
    }

    /// The answer. It is final when the handshake has ended.
    package var answer: Answer {
        guard let request else { return .notAsked }
        guard hasSigned, let identity else { return .withheld(refusal ?? .unsuitable, request, misfits) }
        return .shown(identity, request, misfits)
    }

    /// Gives a connection (`SSL *`) the client's identity, if the server was accepted and has proved that it has its
    /// key.
    ///
    /// OpenSSL asks when it has read the server's part of the handshake, so the verdict comes first, and the server has
    /// proved that it has its key. But with RSA's key exchange (RFC 5246 section 7.4.7.1) every peer can present the
    /// certificates of the right server, and would get the client's certificate and a signature before the handshake
    /// fails.
    func answer(on ssl: OpaquePointer, isAccepted: Bool) {
        request = ClientCertificateRequest(on: ssl)
        followsProofOfKey = Self.hasProvedKey(ssl)
        guard isAccepted, let identity else {
            refusal = .noIdentity
            return
        }
        misfits = identity.misfits(on: ssl, at: Date())
        refusal = objection() ?? (followsProofOfKey ? nil : .unprovenKey)
        // Without an algorithm for the key, OpenSSL goes on without the certificate.
        if refusal == nil, !identity.credential.use(for: ssl) { refusal = .unsuitable }
    }

    /// Notes that the client has sent a CertificateVerify message.
    func noteSignature() {
        hasSigned = true
        if let identity { didShow(identity) }
    }

    private static func hasProvedKey(_ ssl: OpaquePointer) -> Bool {
        guard let suite = SSL_get_pending_cipher(ssl) else { return false }
        return [NID_kx_any, NID_kx_ecdhe].contains(SSL_CIPHER_get_kx_nid(suite))
    }
}

/// The end of a connection because of the client's certificate.
package struct ClientCertificateFailure {
    /// A Boolean value that indicates whether the server got a certificate.
    package let wasShown: Bool
    package let message: String
    package let hint: String
    package let request: ClientCertificateRequest

    /// Creates the failure of a connection that the server has ended before any response; `nil` if the client's
    /// certificate cannot be the reason.
    ///
    /// - Parameters:
    ///   - hasRefused: `true` if the server said so with an alert.
    ///   - remedy: the way to give the client an identity.
    package init?(_ answer: ClientAuthentication.Answer, of endpoint: ServerEndpoint, hasRefused: Bool, remedy: String)
    {
        switch answer {
        case .notAsked: return nil
        case .shown(let identity, let request, let misfits):
            // Without an alert, the end of the connection has another reason.
            guard hasRefused else { return nil }
            wasShown = true
            message = "\(endpoint) refused the client certificate \(identity.fingerprint)\(Self.text(misfits))"
            hint = "it accepts \(request); look at the server's log"
            self.request = request
        case .withheld(let objection, let request, let misfits):
            wasShown = false
            let end =
                hasRefused
                ? "requires a client certificate, and got none"
                : "asked for a client certificate, got none, and ended the connection"
            message = "\(endpoint) \(end): \(objection.text)\(Self.text(misfits))"
            let remedy = objection == .noIdentity ? remedy : objection.remedy
            hint = "it accepts \(request)" + (remedy.map { "; \($0)" } ?? "")
            self.request = request
        }
    }

    /// The fatal alerts with which servers refuse a client for its certificate, or for the lack of one (RFC 8446
    /// section 6.2, RFC 5246 section 7.2.2).
    package static let alerts: Set<UInt8> = Set(
        [
            SSL3_AD_HANDSHAKE_FAILURE, SSL3_AD_NO_CERTIFICATE, SSL3_AD_BAD_CERTIFICATE, SSL3_AD_UNSUPPORTED_CERTIFICATE,
            SSL3_AD_CERTIFICATE_REVOKED, SSL3_AD_CERTIFICATE_EXPIRED, SSL3_AD_CERTIFICATE_UNKNOWN, TLS1_AD_UNKNOWN_CA,
            TLS1_AD_ACCESS_DENIED, TLS1_AD_DECRYPT_ERROR, TLS13_AD_CERTIFICATE_REQUIRED,
        ].map { UInt8(truncatingIfNeeded: $0) })
    /// The names of these alerts.
    package static let alertNames = Set(alerts.map(TLSAlert.name))

    private static func text(_ misfits: [IdentityMisfit]) -> String {
        misfits.isEmpty ? "" : " (\(misfits.map(\.text).joined(separator: ", ")))"
    }
}

extension ClientAuthentication.Objection {
    /// The objection of a policy that has judged the server; `nil` if it has none.
    package init?(
        of policy: PinningPolicy, after evaluation: TrustEvaluation?, to identity: ClientIdentity?
    ) {
        guard let identity, let evaluation, case .trusted(let basis) = evaluation.decision else {
            self = .noIdentity
            return
        }
        let includesApproved = identity.isOfferedToApprovedServers
        guard !policy.mayIdentifyClient(to: evaluation, includesApproved: includesApproved) else { return nil }
        self = .weakBasis(basis)
    }

    /// The stable code.
    package var code: String {
        switch self {
        case .noIdentity: "no-identity"
        case .weakBasis: "weak-basis"
        case .superseded: "superseded"
        case .unprovenKey: "unproven-key"
        case .unsuitable: "unsuitable"
        }
    }

    package var text: String {
        switch self {
        case .noIdentity: "none was given for it"
        case .weakBasis(let basis):
            "it is trusted only as \(basis.reason), and a client certificate is for servers with a matching pin, or "
                + "below an anchor that the rule brings"
        case .superseded: "the policy was replaced during the handshake"
        case .unprovenKey: "with RSA key exchange the server would get it before it has proved that it has its key"
        case .unsuitable: "the identity does not suit its request"
        }
    }

    fileprivate var remedy: String? {
        switch self {
        case .weakBasis: "add a pin of the server to the policy"
        case .superseded: "make the request again"
        case .unprovenKey: "enable a cipher suite with ECDHE, or TLS 1.3, on the server"
        case .noIdentity, .unsuitable: nil
        }
    }
}

/// The reason why an identity does not suit a server's request.
package enum IdentityMisfit: String, Hashable, Sendable {
    case keyType = "key-type"
    case issuer
    case signature
    case usage
    case expired
    case notYetValid = "not-yet-valid"

    package var text: String {
        switch self {
        case .keyType: "its kind of key is not accepted"
        case .issuer: "its issuer is not among the authorities"
        case .signature: "the algorithm of its signature is not accepted"
        case .usage: "it is not for client authentication"
        case .expired: "it has expired"
        case .notYetValid: "it is not valid yet"
        }
    }
}

extension ClientIdentity {
    /// Returns the reasons why the identity does not suit the request on a connection (`SSL *`).
    func misfits(on ssl: OpaquePointer, at instant: Date) -> [IdentityMisfit] {
        defer { ERR_clear_error() }
        let leaf = credential.path[0].pointer
        let result = SSL_check_chain(ssl, leaf, credential.key.pointer, credential.issuers.pointer)
        var misfits: [IdentityMisfit] = []
        if result & CERT_PKEY_SIGN == 0 { misfits.append(.keyType) }
        if result & CERT_PKEY_ISSUER_NAME == 0 { misfits.append(.issuer) }
        if result & CERT_PKEY_EE_SIGNATURE == 0 || result & CERT_PKEY_CA_SIGNATURE == 0 { misfits.append(.signature) }
        if X509_check_purpose(leaf, X509_PURPOSE_SSL_CLIENT, 0) != 1 { misfits.append(.usage) }
        if instant < validity.notBefore { misfits.append(.notYetValid) }
        if validity.hasEnded(at: instant) { misfits.append(.expired) }
        return misfits
    }
}
