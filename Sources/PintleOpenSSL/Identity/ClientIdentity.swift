internal import COpenSSL
public import Pintle

/// A client's certificate, the certificates above it, and its private key.
///
/// A session offers it only after it has judged the server:
///
///     let identity = try ClientIdentity(certificates: chainPEM, key: keyPEM)
///     let session = URLSession.pinned(to: policy) { $0 == api ? identity : nil }
///
/// The server gets it if a pin has matched, or if the path ends at an anchor that the rule of the policy names. It
/// never gets it if trust rests on the system's authorities, on expired pins, or on a mismatch that is only reported.
///
/// In TLS 1.2 the client's certificate is not encrypted: everybody on the network can read who the client is. TLS 1.3
/// encrypts it.
///
/// Two identities are equal if they have the same certificates and are offered to the same servers. The buffers of this
/// type that hold a key or a password are overwritten after use; those of the caller, and Swift strings, are not.
/// OpenSSL holds the key until the last copy of the identity is released.
public struct ClientIdentity: Sendable {
    /// The certificates that a server gets, DER: the client's own first, then each issuer, without the root.
    public let certificates: [[UInt8]]
    /// The dates of the client's own certificate. An expired certificate is offered all the same, because the server
    /// decides, and the client's clock may be wrong.
    public let validity: Validity
    /// A Boolean value that indicates whether servers get the identity that the user has approved
    /// (``/Pintle/TrustBasis/userApproved(_:)``).
    public var isOfferedToApprovedServers = false
    let credential: ClientCredential

    /// The SHA-256 of the client's own certificate.
    public var fingerprint: CertificatePin { CertificatePin(certificate: certificates[0]) }

    /// Creates an identity from PEM (RFC 7468) or DER.
    ///
    /// Both arguments may be the same PEM file. Text between the blocks, and keys among the certificates, are skipped.
    ///
    /// - Parameters:
    ///   - certificates: The client's certificate, and those of its issuers in any order. Certificates that do not
    ///     belong to the path are left out.
    ///   - key: The private key: PKCS#8 (RFC 5208), PKCS#1 (RFC 8017) or SEC1 (RFC 5915), encrypted or not. RSA, P-256,
    ///     P-384, Ed25519, and with OpenSSL 3.5 ML-DSA.
    ///   - password: Called once, and only if the key is encrypted. The text is used in UTF-8.
    /// - Throws: the first reason why the identity cannot be used.
    public init(
        certificates: some Sequence<UInt8>, key: some Sequence<UInt8>, password: () -> String? = { nil }
    ) throws(ClientIdentityError) {
        // It may hold the key too.
        var file = try IdentityReader.bytes(certificates)
        defer { OPENSSL_cleanse(&file, file.count) }
        let chain = try IdentityReader.certificates(in: file)
        var key = try IdentityReader.bytes(key)
        defer { OPENSSL_cleanse(&key, key.count) }
        try self.init(chain, key: try IdentityReader.key(in: key, password))
    }

    /// Creates an identity from PKCS#12 (RFC 7292), as `.p12` and `.pfx` files contain it. Its old ciphers work too.
    ///
    /// - Parameters:
    ///   - pkcs12: The content of the file, at most 1 MiB. It holds one private key.
    ///   - password: Called once. `nil` and an empty text both stand for no password.
    /// - Throws: the first reason why the identity cannot be used.
    public init(
        pkcs12: some Sequence<UInt8>, password: () -> String? = { nil }
    ) throws(ClientIdentityError) {
        var bytes = try IdentityReader.bytes(pkcs12)
        defer { OPENSSL_cleanse(&bytes, bytes.count) }
        let (chain, key) = try PKCS12Reader.read(bytes, password)
        try self.init(chain, key: key)
    }

    private init(_ certificates: [X509Reference], key: PrivateKeyReference) throws(ClientIdentityError) {
        credential = try ClientCredential(certificates, key)
        self.certificates = credential.path.map(\.der)
        guard let validity = try? Validity(ofCertificate: self.certificates[0]) else {
            throw ClientIdentityError(.unreadableCertificate, "the dates of the client's certificate cannot be read")
        }
        self.validity = validity
    }
}

extension ClientIdentity: Hashable {
    /// Returns `true` if both have the same certificates, and thus the same key, and are offered to the same servers.
    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        one.certificates == other.certificates
            && one.isOfferedToApprovedServers == other.isOfferedToApprovedServers
    }

    /// Hashes the certificates.
    public func hash(into hasher: inout Hasher) { hasher.combine(certificates) }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The fingerprint of the client's own certificate.
    public var description: String { "client identity \(fingerprint)" }

    /// The fingerprint only, so that `dump` shows no pointer to the key.
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
}

/// A private key of OpenSSL (`EVP_PKEY *`), which it overwrites when it frees it.
///
/// `@unchecked`: the pointer never changes, the reference count is atomic, and the key is only read. OpenSSL locks what
/// it computes later, such as RSA's blinding.
package final class PrivateKeyReference: @unchecked Sendable {
    package let pointer: OpaquePointer
    /// The public half that a OneAsymmetricKey (RFC 5958 section 2) has beside the private one, as `EVP_PKEY *`.
    let statedHalf: OpaquePointer?

    /// Takes ownership of one reference to each key.
    init(owning pointer: OpaquePointer, statedHalf: OpaquePointer? = nil) {
        self.pointer = pointer
        self.statedHalf = statedHalf
    }

    deinit {
        EVP_PKEY_free(pointer)
        EVP_PKEY_free(statedHalf)
    }
}

/// The identity in OpenSSL's form: the path of its certificates, and the key.
///
/// `@unchecked`: the stack is made once and only read, and the references are Sendable.
final class ClientCredential: @unchecked Sendable {
    /// The client's own certificate, then each issuer, without the root.
    let path: [X509Reference]
    let key: PrivateKeyReference
    /// The certificates above the client's own.
    let issuers: X509Stack

    /// The most certificates of a path.
    private static let pathLimit = 10

    /// Orders the certificates, and lets OpenSSL check whether it can use them with the key.
    init(_ certificates: [X509Reference], _ key: PrivateKeyReference) throws(ClientIdentityError) {
        defer { ERR_clear_error() }
        guard let leaf = certificates.first(where: { X509_check_private_key($0.pointer, key.pointer) == 1 }) else {
            guard certificates.contains(where: { X509_check_ca($0.pointer) == 0 }) else {
                throw ClientIdentityError(
                    .missingLeaf, "the client's own certificate is missing: all certificates are those of authorities",
                    hint: "add the certificate that was issued for this key")
            }
            throw ClientIdentityError(
                .keyMismatch, "the private key belongs to another certificate",
                hint: "compare the public keys: openssl x509 -in CERTIFICATE -noout -pubkey and openssl pkey -in KEY "
                    + "-pubout")
        }
        if let flaw = PublicKeyFlaw.text(ofCertificate: leaf.der) {
            throw ClientIdentityError(
                .unusable, "the client's certificate has \(flaw)", hint: "have another one issued, for a new key")
        }
        guard key.hasMatchingHalves else {
            throw ClientIdentityError(
                .unusable, "the private half of the key does not belong to its public half",
                hint: "take the key from a backup, or have a certificate issued for a new key")
        }
        var path = [leaf]
        while let last = path.last, path.count < Self.pathLimit, !Self.hasIssued(last, last),
            let issuer = certificates.first(where: { candidate in
                // A root is left out: the server has it, or does not trust it.
                !Self.hasIssued(candidate, candidate) && Self.hasIssued(candidate, last)
                    && !path.contains { $0.hasSameBytes(as: candidate) }
            })
        {
            path.append(issuer)
        }
        self.path = path
        self.key = key
        guard let issuers = X509Stack(path.dropFirst()), let context = SSL_CTX_new(TLS_client_method()) else {
            throw ClientIdentityError(.unusable, "OpenSSL has no memory")
        }
        self.issuers = issuers
        defer { SSL_CTX_free(context) }
        guard SSL_CTX_use_cert_and_key(context, leaf.pointer, key.pointer, issuers.pointer, 1) == 1 else {
            throw ClientIdentityError(
                .unusable, "OpenSSL does not use the client's certificate: \(LibraryErrors.drain().summary)",
                hint: "have another one issued, with a key of a usual kind and length")
        }
    }

    /// Returns `true` if the key of one certificate has signed the other. Names are not enough: authorities replace
    /// their keys.
    private static func hasIssued(_ issuer: X509Reference, _ certificate: X509Reference) -> Bool {
        guard X509_check_issued(issuer.pointer, certificate.pointer) == X509_V_OK,
            let key = X509_get0_pubkey(issuer.pointer)
        else { return false }
        return X509_verify(certificate.pointer, key) == 1
    }

    /// Makes a connection use the identity.
    func use(for ssl: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        return SSL_use_cert_and_key(ssl, path[0].pointer, key.pointer, issuers.pointer, 1) == 1
    }
}
