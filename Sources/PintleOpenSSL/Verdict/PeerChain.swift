internal import COpenSSL

/// What the server presented, during the one moment in which it is judged.
///
/// It cannot be copied or kept: the parsed certificates inside belong to the handshake. A caller that needs the
/// chain later copies ``certificates``.
package struct PeerChain: ~Copyable {
    /// DER of each certificate in the order it was sent, the leaf first.
    package let certificates: [[UInt8]]

    /// `X509 *` of the leaf, borrowed from the handshake: a path validator need not parse it again.
    let leaf: OpaquePointer
    /// `STACK_OF(X509) *` of everything sent, the leaf included, borrowed too.
    let presented: OpaquePointer
    /// `SSL *` on which it was presented, borrowed too.
    package let connection: OpaquePointer

    /// - Parameters:
    ///   - context: the `X509_STORE_CTX *` of OpenSSL's verification callback.
    ///   - connection: `SSL *` whose handshake it is.
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
        // The list that validation starts from and the leaf that proves possession of its key must be
        // one thing, or the verdict is about another server.
        guard let first = OPENSSL_sk_value(presented, 0), OpaquePointer(first) == leaf else { return nil }
        self.certificates = certificates
        self.leaf = leaf
        self.presented = presented
        self.connection = connection
    }
}
