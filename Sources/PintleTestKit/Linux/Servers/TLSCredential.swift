internal import COpenSSL

/// A credential in OpenSSL's form.
///
/// `@unchecked Sendable`: the pointers are set once and only read afterwards, by OpenSSL calls that count references
/// atomically and lock their caches.
package final class TLSCredential: @unchecked Sendable {
    private let certificate: OpaquePointer
    private let key: OpaquePointer
    /// The certificates above the leaf, an OpenSSL stack that owns them.
    private let issuers: OpaquePointer
    /// The chain to splice into the handshake if OpenSSL would not send it unchanged.
    let splicedChain: [[UInt8]]?
    private let asksClients: Bool

    package init(_ credential: TLSServerConfiguration.Credential) throws(MintingError) {
        let chain = credential.chain
        asksClients = credential.asksClients
        if TLSCredential.isFaithfullySent(chain, key: credential.key) {
            splicedChain = nil
            (certificate, key, issuers) = try TLSCredential.load(chain, key: credential.key)
        } else {
            // This certificate only carries the key, which decides the cipher suites. No client ever sees it.
            let standIn = try CertificateTemplate.forServer(hosts: ["stand-in.invalid"]).selfSigned(
                with: credential.key)
            splicedChain = chain
            (certificate, key, issuers) = try TLSCredential.load([standIn.der], key: credential.key)
        }
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
        freeStack(issuers)
    }

    /// Sets the credential of one connection, and replaces an earlier one.
    func use(for ssl: OpaquePointer) -> Bool {
        if !asksClients { SSL_set_verify(ssl, SSL_VERIFY_NONE, nil) }
        return SSL_use_cert_and_key(ssl, certificate, key, issuers, 1) == 1
    }

    /// Returns `true` if OpenSSL reads every certificate, encodes it again byte for byte, and the leaf carries `key`.
    private static func isFaithfullySent(_ chain: [[UInt8]], key: PrivateKey) -> Bool {
        for (index, der) in chain.enumerated() {
            guard let certificate = parse(der) else { return false }
            defer { X509_free(certificate) }
            let written = try? derBytes("encoding a certificate") { i2d_X509(certificate, $0) }
            guard written == der else { return false }
            guard index == 0 else { continue }
            guard let carried = X509_get0_pubkey(certificate) else {
                ERR_clear_error()
                return false
            }
            let spki = try? derBytes("encoding a public key") { i2d_PUBKEY(carried, $0) }
            guard spki == key.spkiDER else { return false }
        }
        return !chain.isEmpty
    }

    private static func load(
        _ chain: [[UInt8]], key: PrivateKey
    ) throws(MintingError) -> (OpaquePointer, OpaquePointer, OpaquePointer) {
        var certificates = chain.compactMap { parse($0) }
        guard let issuers = OPENSSL_sk_new_null(), !certificates.isEmpty else {
            throw .openSSL("loading a server's certificates")
        }
        let leaf = certificates.removeFirst()
        for certificate in certificates { OPENSSL_sk_push(issuers, UnsafeRawPointer(certificate)) }
        do throws(MintingError) {
            let pointer = try key.withEVPKey { pointer throws(MintingError) in
                EVP_PKEY_up_ref(pointer)
                return pointer
            }
            return (leaf, pointer, issuers)
        } catch {
            X509_free(leaf)
            freeStack(issuers)
            throw error
        }
    }

    private static func parse(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let certificate = d2i_X509(nil, &cursor, buffer.count)
            ERR_clear_error()
            return certificate
        }
    }
}

private func freeStack(_ certificates: OpaquePointer) {
    while let certificate = OPENSSL_sk_pop(certificates) { X509_free(OpaquePointer(certificate)) }
    OPENSSL_sk_free(certificates)
}
