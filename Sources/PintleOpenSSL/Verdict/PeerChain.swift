internal import COpenSSL
package import Pintle
package import PintleSystem

/// The server's certificates, valid only while they are judged.
///
/// Not copyable, because the parsed certificates belong to the handshake. A caller that needs the chain later copies
/// ``certificates``.
package struct PeerChain: ~Copyable {
    /// The DER of each certificate in the order it was sent, the leaf first.
    package let certificates: [[UInt8]]

    /// The `X509 *` of the leaf, borrowed from the handshake, so that a path validator need not parse it again.
    let leaf: OpaquePointer
    /// The `STACK_OF(X509) *` of all certificates, including the leaf; also borrowed.
    let presented: OpaquePointer
    /// The `SSL *` of the handshake; also borrowed.
    package let connection: OpaquePointer

    /// - Parameters:
    ///   - context: the `X509_STORE_CTX *` of OpenSSL's verification callback.
    ///   - connection: the `SSL *` of the handshake.
    ///   - hidden: the original DER of the certificates that ``CertificateMessageGuard`` changed, by position.
    package init?(
        borrowing context: OpaquePointer, of connection: OpaquePointer, restoring hidden: [Int: [UInt8]] = [:]
    ) {
        guard let leaf = X509_STORE_CTX_get0_cert(context),
            let presented = X509_STORE_CTX_get0_untrusted(context)
        else { return nil }
        var certificates: [[UInt8]] = []
        for index in 0..<OPENSSL_sk_num(presented) {
            guard let certificate = OPENSSL_sk_value(presented, index),
                case let der = X509Reference(borrowing: OpaquePointer(certificate)).der, !der.isEmpty
            else { return nil }
            certificates.append(hidden[Int(index)] ?? der)
        }
        // Validation starts from this list, and the handshake proves possession of this leaf's key. They must be the
        // same certificate, or the verdict would be about another server.
        guard let first = OPENSSL_sk_value(presented, 0), OpaquePointer(first) == leaf else { return nil }
        self.certificates = certificates
        self.leaf = leaf
        self.presented = presented
        self.connection = connection
    }
}

extension PinningPolicy {
    /// Returns the decision about a chain inside a handshake. Uses the certificates that OpenSSL has already parsed.
    package func evaluate(
        _ endpoint: ServerEndpoint, _ chain: borrowing PeerChain, approvals: TrustApprovals = .none, at instant: Date,
        newestKnownTime: Date? = nil, validator: PathValidator
    ) -> TrustEvaluation {
        // A borrowed value cannot be captured. The pointers stay valid, because the chain outlives the closure.
        let leaf = chain.leaf
        let presented = chain.presented
        return evaluate(
            endpoint, presented: chain.certificates, approvals: approvals, at: instant, newestKnownTime: newestKnownTime
        ) { request in
            validator.validate(request, leaf: leaf, presented: presented)
        }
    }
}
