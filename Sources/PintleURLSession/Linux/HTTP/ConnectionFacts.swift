/// The facts about a connection that a response of it tells.
struct ConnectionFacts: Sendable {
    let receipt: TrustReceipt
    let tls: NegotiatedTLS
    /// `nil` if the handshake's judge is gone.
    let clientCertificate: ClientCertificateUse?
}
