internal import COpenSSL
internal import Pintle
internal import Synchronization

/// An `X509_STORE`: the anchors that a path may end in.
///
/// Sendable: it is filled while it is made and only looked into afterwards; OpenSSL locks what its
/// directory look-up adds on the way.
final class AnchorStore: @unchecked Sendable {
    let pointer: OpaquePointer
    /// What the core has read of the anchors, by address. The reference keeps the address from being
    /// given to another certificate.
    private let read = Mutex<[OpaquePointer: (reference: X509Reference, certificate: Certificate)]>([:])

    /// - Parameters:
    ///   - certificates: anchors, parsed.
    ///   - addingSystem: adds the system's, from where OpenSSL was built to look, or from
    ///     `SSL_CERT_FILE` and `SSL_CERT_DIR`. A directory is looked into when a name is asked for.
    init?(_ certificates: [X509Reference], addingSystem: Bool = false) {
        guard let store = X509_STORE_new() else { return nil }
        pointer = store
        if addingSystem { X509_STORE_set_default_paths(store) }
        for certificate in certificates {
            // One that is in there already is not an error.
            X509_STORE_add_cert(store, certificate.pointer)
        }
        ERR_clear_error()
    }

    deinit {
        X509_STORE_free(pointer)
    }

    /// An anchor of this store, as the core reads it; read once.
    func certificate(for anchor: X509Reference) throws(DERError) -> Certificate {
        if let known = read.withLock({ $0[anchor.pointer] }) { return known.certificate }
        let certificate = try Certificate(der: anchor.der)
        read.withLock { $0[anchor.pointer] = (anchor, certificate) }
        return certificate
    }

    /// The anchors whose subject is the issuer of this certificate.
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
