internal import COpenSSL

/// An SSL_CTX set up for a loopback server.
///
/// `@unchecked Sendable`: configured in `init` and never changed afterwards; SSL_new on a shared
/// SSL_CTX is safe by OpenSSL's own locks, and the ALPN list is only read.
final class TLSServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// ALPN's wire form: each name after its length. Lives as long as the SSL_CTX, which points here.
    private let protocols: UnsafeMutableBufferPointer<UInt8>

    init(_ configuration: TLSServerConfiguration) throws(MintingError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .openSSL("making a TLS server") }
        pointer = context
        let names = configuration.applicationProtocols.flatMap {
            [UInt8(clamping: $0.utf8.count)] + $0.utf8.prefix(255)
        }
        protocols = .allocate(capacity: names.count)
        _ = protocols.initialize(from: names)

        // What tests call for: keys and digests that nobody should use any more.
        SSL_CTX_set_security_level(context, 0)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(configuration.versions.lowerBound.rawValue), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(configuration.versions.upperBound.rawValue), nil)
        guard SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") == 1 else { throw .openSSL("choosing ciphers") }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_DH_AUTO, 1, nil)
        // The chain is what the test says, never what OpenSSL would add to it.
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_NO_AUTO_CHAIN), nil)
        if !configuration.allowsResumption {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
            SSL_CTX_set_options(context, pintle_SSL_OP_NO_TICKET)
            SSL_CTX_set_num_tickets(context, 0)
        }
        if !names.isEmpty { offerProtocols() }
    }

    deinit {
        SSL_CTX_free(pointer)
        protocols.deallocate()
    }

    private func offerProtocols() {
        // Unretained: whoever holds a connection holds this object too.
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, chosenCount, offered, offeredCount, argument in
                guard let argument, let chosen else { return SSL_TLSEXT_ERR_NOACK }
                let own = Unmanaged<TLSServerContext>.fromOpaque(argument).takeUnretainedValue().protocols
                var selected: UnsafeMutablePointer<UInt8>?
                let result = SSL_select_next_proto(
                    &selected, chosenCount, own.baseAddress, UInt32(own.count), offered, offeredCount)
                guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
                chosen.pointee = UnsafePointer(selected)
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
