internal import COpenSSL
internal import Pintle

/// A reference-counted certificate of OpenSSL.
///
/// Sendable: the pointer never changes, the reference count is atomic, and a parsed certificate is only read. OpenSSL
/// guards the data that it computes later, its cached extensions, with its own lock.
final class X509Reference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Parses DER. Returns `nil` if OpenSSL cannot parse it, if bytes are left over, or if the certificate has explicit
    /// EC parameters, with which OpenSSL would have to compute (``KeyAlgorithm``).
    convenience init?(der: [UInt8]) {
        guard case .decodable = KeyAlgorithm(ofCertificate: der) else { return nil }
        // Parsed inside the closure, because the buffer's address is valid only there.
        let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let certificate = d2i_X509(nil, &cursor, buffer.count) else {
                ERR_clear_error()
                return nil
            }
            guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                X509_free(certificate)
                return nil
            }
            return certificate
        }
        guard let parsed else { return nil }
        self.init(owning: parsed)
    }

    /// Takes ownership of one reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Adds a reference of its own.
    convenience init(borrowing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.init(owning: pointer)
    }

    deinit {
        X509_free(pointer)
    }

    /// The DER that OpenSSL kept when it parsed the certificate; empty if there is no memory.
    var der: [UInt8] {
        let count = i2d_X509(pointer, nil)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_X509(pointer, &cursor)))
        }
    }

    /// A Boolean value that indicates whether the certificate is signed by its own key but names another key as its
    /// issuer's. Such a certificate contradicts itself. A certificate for a new key that the old key has signed does
    /// not count.
    var deniesItsOwnSignature: Bool {
        guard let named = X509_get0_authority_key_id(pointer), let own = X509_get0_subject_key_id(pointer),
            ASN1_OCTET_STRING_cmp(named, own) != 0,
            X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0,
            let key = X509_get0_pubkey(pointer)
        else { return false }
        defer { ERR_clear_error() }
        return X509_verify(pointer, key) == 1
    }

    func hasSameBytes(as other: X509Reference) -> Bool {
        pointer == other.pointer || X509_cmp(pointer, other.pointer) == 0
    }
}

/// A `STACK_OF(X509)` that owns a reference to each certificate.
final class X509Stack {
    let pointer: OpaquePointer

    init?(_ certificates: some Sequence<X509Reference>) {
        guard let stack = OPENSSL_sk_new_null() else { return nil }
        pointer = stack
        for certificate in certificates {
            X509_up_ref(certificate.pointer)
            guard OPENSSL_sk_push(stack, UnsafeMutableRawPointer(certificate.pointer)) > 0 else {
                X509_free(certificate.pointer)
                return nil
            }
        }
    }

    /// Returns the certificates of a borrowed stack.
    static func references(in stack: OpaquePointer?) -> [X509Reference] {
        guard let stack else { return [] }
        return (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            OPENSSL_sk_value(stack, index).map { X509Reference(borrowing: OpaquePointer($0)) }
        }
    }

    deinit {
        Self.free(pointer)
    }

    static func free(_ stack: OpaquePointer?) {
        OPENSSL_sk_pop_free(stack) { X509_free($0.map { OpaquePointer($0) }) }
    }
}
