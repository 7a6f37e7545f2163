internal import COpenSSL
internal import PintleOpenSSL

/// An `SSL_CTX` that does not change after `init`.
///
/// `@unchecked`: the only state is the pointer, which is constant. OpenSSL allows `SSL_new` on one context
/// from many threads (openssl-threads(7)); its reference count and session cache are locked, and nothing
/// here writes to the context after `init`.
final class TLSContext: @unchecked Sendable {
    /// `SSL_CTX *`
    let pointer: OpaquePointer

    init(_ configuration: TLSClient.Configuration) throws(HandshakeError) {
        guard let pointer = SSL_CTX_new(TLS_client_method()) else {
            throw .noResources("OpenSSL cannot be set up: \(LibraryErrors.drain().summary)")
        }
        // From here on, `deinit` frees the context.
        self.pointer = pointer
        let version = Int(configuration.minimumVersion.rawValue)
        guard VerificationHook.install(on: pointer),
            SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nil) == 1
        else {
            throw .noResources("OpenSSL cannot be set up: \(LibraryErrors.drain().summary)")
        }
        try offer(configuration.applicationProtocols)
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    private func offer(_ protocols: [String]) throws(HandshakeError) {
        guard !protocols.isEmpty else { return }
        var list: [UInt8] = []
        for name in protocols {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
                throw HandshakeError(.invalidConfiguration, "a protocol name for ALPN has 1 to 255 bytes")
            }
            list += [count] + Array(name.utf8)
        }
        guard SSL_CTX_set_alpn_protos(pointer, list, UInt32(clamping: list.count)) == 0 else {
            throw HandshakeError(.invalidConfiguration, "OpenSSL refuses the list of ALPN names", hint: "offer fewer")
        }
    }
}
