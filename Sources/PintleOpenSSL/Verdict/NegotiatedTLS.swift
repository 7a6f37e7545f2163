internal import COpenSSL
package import Pintle

/// The parameters of a TLS connection that client and server agreed on.
public struct NegotiatedTLS: Sendable, Hashable {
    /// The version: `TLS 1.2`, `TLS 1.3`.
    public let version: String
    /// The name of the cipher suite in IANA's registry "TLS Cipher Suites": `TLS_AES_128_GCM_SHA256`.
    public let cipherSuite: String
    package let group: KeyExchangeGroup?

    /// The group of the key exchange, by its name in IANA's registry "TLS Supported Groups": `x25519`, `secp256r1`,
    /// `X25519MLKEM768`. It is `nil` for a key exchange without a group, which only TLS 1.2 has.
    public var keyExchangeGroup: String? { group?.name }

    /// A Boolean value that indicates whether the group combines ML-KEM (FIPS 203) with a classical group
    /// (RFC 10024). A recording of the connection then stays secret unless both are broken.
    public var isHybrid: Bool { group?.isHybrid ?? false }
}

extension NegotiatedTLS {
    /// Reads what a connection (`SSL *`) has agreed on so far. In TLS 1.2 the group is known only after the server's
    /// certificates.
    package init(on ssl: OpaquePointer) {
        let version = TLSVersion(rawValue: UInt16(clamping: SSL_version(ssl)))
        self.init(
            version: version?.description ?? String(cString: SSL_get_version(ssl)),
            cipherSuite: SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
            group: KeyExchangeGroup(negotiatedOn: ssl))
    }

    /// Returns the protocol that the server of a connection (`SSL *`) chose by ALPN (RFC 7301); `nil` without one.
    package static func applicationProtocol(on ssl: OpaquePointer) -> String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }
}

extension KeyExchangeGroup {
    /// Reads the group of a connection (`SSL *`).
    ///
    /// In TLS 1.3 the group is known when the server's certificates arrive, in TLS 1.2 only after them. The result is
    /// `nil` before that, and for a key exchange without a group, such as RSA's (RFC 5246 section 7.4.7.1).
    fileprivate init?(negotiatedOn ssl: OpaquePointer) {
        // `SSL_get_negotiated_group` is a macro. `SSL_get0_group_name` exists only since OpenSSL 3.2.
        let number = SSL_ctrl(ssl, SSL_CTRL_GET_NEGOTIATED_GROUP, 0, nil)
        guard number > 0, let name = SSL_group_to_name(ssl, CInt(truncatingIfNeeded: number)) else {
            ERR_clear_error()
            return nil
        }
        self.init(String(cString: name))
    }
}
