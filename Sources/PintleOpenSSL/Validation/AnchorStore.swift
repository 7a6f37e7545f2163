internal import COpenSSL
internal import Pintle
internal import Synchronization

/// An `X509_STORE` with the anchors in which a path may end.
///
/// Sendable: only `init` fills the store, and later calls only read it. OpenSSL locks the certificates that its
/// directory look-up adds later.
final class AnchorStore: @unchecked Sendable {
    let pointer: OpaquePointer
    /// A cache of the anchors as the core parsed them, by address. The reference keeps the address from being reused
    /// for another certificate.
    private let read = Mutex<[OpaquePointer: (reference: X509Reference, certificate: Certificate)]>([:])

    /// - Parameters:
    ///   - certificates: the parsed anchors.
    ///   - read: the same anchors as the core has parsed them; empty if it has not.
    ///   - addingSystem: `true` to add the system's roots, from OpenSSL's default places or from `SSL_CERT_FILE` and
    ///     `SSL_CERT_DIR`. OpenSSL reads a directory lazily, when a path names a root.
    init?(_ certificates: [X509Reference], read: [Certificate] = [], addingSystem: Bool = false) {
        guard let store = X509_STORE_new() else { return nil }
        pointer = store
        self.read.withLock { known in
            for (reference, certificate) in zip(certificates, read) {
                known[reference.pointer] = (reference, certificate)
            }
        }
        if addingSystem { X509_STORE_set_default_paths(store) }
        for certificate in certificates {
            // OpenSSL ignores a duplicate.
            X509_STORE_add_cert(store, certificate.pointer)
        }
        ERR_clear_error()
    }

    deinit {
        X509_STORE_free(pointer)
    }

    /// Returns an anchor of this store as the core parses it. Cached.
    func certificate(for anchor: X509Reference) throws(DERError) -> Certificate {
        if let known = read.withLock({ $0[anchor.pointer] }) { return known.certificate }
        let certificate = try Certificate(der: anchor.der)
        read.withLock { $0[anchor.pointer] = (anchor, certificate) }
        return certificate
    }

    /// Returns the anchors whose subject is the issuer of this certificate.
    func anchors(issuing certificate: X509Reference) -> [X509Reference] {
        guard let context = X509_STORE_CTX_new() else { return [] }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, pointer, nil, nil) == 1 else { return [] }
        let found = X509_STORE_CTX_get1_certs(context, X509_get_issuer_name(certificate.pointer))
        defer { X509Stack.free(found) }
        ERR_clear_error()
        return X509Stack.references(in: found)
    }
}
