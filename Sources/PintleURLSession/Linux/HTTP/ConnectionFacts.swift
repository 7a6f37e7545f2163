/// What a response tells about the connection that it came over.
struct ConnectionFacts: Sendable {
    let receipt: TrustReceipt
    let tls: NegotiatedTLS
    /// `nil` if the handshake's judge is gone.
    let clientCertificate: ClientCertificateUse?
}
