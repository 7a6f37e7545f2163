internal import COpenSSL
internal import Glibc

/// A TLS client that calls OpenSSL directly, as libcurl does. Only callbacks that a test installs on the context judge
/// the server.
package final class BareTLSClient {
    /// OpenSSL's `SSL_CTX *`, created with SSL_VERIFY_NONE.
    package let context: OpaquePointer
    /// The `SSL *`; `nil` before ``connect(to:naming:prepare:)``.
    package private(set) var ssl: OpaquePointer?
    private var descriptor: CInt = -1

    package struct NotMade: Error {}

    package init() throws {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw NotMade() }
        self.context = context
    }

    deinit {
        end()
        SSL_CTX_free(context)
    }

    /// Frees the connection.
    package func end() {
        SSL_free(ssl)
        ssl = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Makes a handshake with a server on loopback, for five seconds at most.
    ///
    /// - Parameters:
    ///   - port: the port of the server.
    ///   - name: the name in SNI; `nil` for none.
    ///   - prepare: gets the `SSL *` before the handshake begins.
    /// - Returns: `true` if the handshake succeeded.
    package func connect(
        to port: UInt16, naming name: String?, prepare: (OpaquePointer) -> Void = { _ in }
    ) throws -> Bool {
        end()
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0, let ssl = SSL_new(context), SSL_set_fd(ssl, descriptor) == 1 else { throw NotMade() }
        self.ssl = ssl
        if var name = name?.utf8CString {
            let set = name.withUnsafeMutableBytes {
                SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), $0.baseAddress)
            }
            guard set == 1 else { throw NotMade() }
        }
        prepare(ssl)
        ERR_clear_error()
        defer { ERR_clear_error() }
        return SSL_connect(ssl) == 1
    }

    /// Calls `body` with a verification context for another chain on the connection, as OpenSSL would create it.
    ///
    /// - Parameters:
    ///   - certificate: the DER of the only certificate of that chain.
    ///   - body: gets the `X509_STORE_CTX *`.
    package func withAnotherChain<Result>(_ certificate: [UInt8], _ body: (OpaquePointer) -> Result) throws -> Result {
        let leaf = certificate.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_X509(nil, &start, bytes.count)
        }
        let (store, another, chain) = (X509_STORE_new(), X509_STORE_CTX_new(), OPENSSL_sk_new_null())
        defer {
            X509_STORE_CTX_free(another)
            X509_STORE_free(store)
            OPENSSL_sk_free(chain)
            X509_free(leaf)
        }
        guard let ssl, let leaf, let another, OPENSSL_sk_push(chain, UnsafeRawPointer(leaf)) == 1,
            X509_STORE_CTX_init(another, store, leaf, chain) == 1,
            X509_STORE_CTX_set_ex_data(
                another, SSL_get_ex_data_X509_STORE_CTX_idx(), UnsafeMutableRawPointer(ssl)) == 1
        else { throw NotMade() }
        return body(another)
    }
}
