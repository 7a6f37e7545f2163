internal import COpenSSL
internal import Pintle

/// A certificate as OpenSSL holds it, owned by counting.
///
/// Sendable: the pointer never changes, the count is atomic, and a parsed certificate is only read;
/// what OpenSSL computes of it later (its cached extensions) it guards with its own lock.
final class X509Reference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Parses DER; `nil` where OpenSSL cannot, where bytes are left over, or where OpenSSL would compute with EC
    /// parameters that the certificate makes up (``KeyAlgorithm``).
    convenience init?(der: [UInt8]) {
        guard case .decodable = KeyAlgorithm(ofCertificate: der) else { return nil }
        // Parsed inside the closure: memory BIOs keep the address, not the bytes.
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

    /// Takes over one count.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Adds a count of its own.
    convenience init(borrowing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.init(owning: pointer)
    }

    deinit {
        X509_free(pointer)
    }

    /// The encoding, which OpenSSL keeps from parsing; empty where there is no memory.
    var der: [UInt8] {
        let count = i2d_X509(pointer, nil)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_X509(pointer, &cursor)))
        }
    }

    /// Whether its own key has signed it although it names another as its issuer's. One of the two is
    /// false; a certificate for a new key, signed with the old one, is not meant.
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

/// A `STACK_OF(X509)` with a count on each certificate.
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

    /// The certificates of a stack that belongs to someone else.
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
