internal import Pintle
internal import PintleOpenSSL

extension SessionError {
    /// Creates the error of a server that ended the connection because of the client's certificate; `nil` if the
    /// certificate cannot be the reason.
    ///
    /// - Parameter hasRefused: `true` if the server said so with an alert.
    init?(_ answer: ClientAuthentication.Answer, of endpoint: ServerEndpoint, hasRefused: Bool) {
        let request: ClientCertificateRequest
        switch answer {
        case .notAsked: return nil
        case .shown(let identity, let question, let misfits):
            // Without an alert, the end of the connection has another reason.
            guard hasRefused else { return nil }
            request = question
            let reasons = misfits.isEmpty ? "" : " (\(misfits.map(\.text).joined(separator: ", ")))"
            self.init(
                .clientCertificateRefused,
                "\(endpoint) refused the client certificate \(identity.fingerprint)\(reasons)",
                hint: "it accepts \(question); look at the server's log")
        case .withheld(let objection, let question, let misfits):
            request = question
            let end = hasRefused ? "requires a client certificate" : "asked for a client certificate"
            let rest = hasRefused ? "and got none" : "got none, and ended the connection"
            let reasons =
                misfits.isEmpty
                ? ""
                : ", and the identity would not fit: "
                    + misfits.map(\.text).joined(separator: ", ")
            self.init(
                .clientCertificateRequired, "\(endpoint) \(end), \(rest): \(objection.text)\(reasons)",
                hint: "it accepts \(question)" + (objection.remedy.map { "; \($0)" } ?? ""))
        }
        clientCertificateRequest = request
    }
}

extension ClientAuthentication.Objection {
    fileprivate var text: String {
        switch self {
        case .noIdentity: "the session has none for it"
        case .weakBasis(let basis):
            "it is trusted only as \(basis.reason), and a client certificate is for servers with a matching pin, or "
                + "below an anchor that the rule brings"
        case .superseded: "the policy was replaced during the handshake"
        case .unprovenKey: "with RSA key exchange the server would get it before it has proved that it has its key"
        case .unsuitable: "the identity does not suit its question"
        }
    }

    fileprivate var remedy: String? {
        switch self {
        case .noIdentity: "give the session one with URLSession.pinned(to:identity:)"
        case .weakBasis: "add a pin of the server to the policy"
        case .superseded: "make the request again"
        case .unprovenKey: "enable a cipher suite with ECDHE, or TLS 1.3, on the server"
        case .unsuitable: nil
        }
    }
}
