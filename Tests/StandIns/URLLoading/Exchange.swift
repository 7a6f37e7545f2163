internal import CCurl
internal import COpenSSL
internal import Foundation
internal import FoundationNetworking
internal import Security

/// One request and its response, sent with libcurl over a connection of its own.
final class Exchange {
    enum Outcome {
        case answered(HTTPURLResponse, Data)
        case failed(URLError.Code)
    }

    /// The answer to a server that asks for a client certificate.
    enum Certificate {
        case identity(SecIdentity)
        case none
        case cancel
    }

    private let request: URLRequest
    private let body: Data?
    private let judge: (SecTrust) -> URLError.Code?
    private let certify: () -> Certificate
    private let isOver: () -> Bool
    private let seconds: Double
    private let idle: IdleConnections?
    private var refusal: URLError.Code?
    /// The code of the error if the connection ends after the server has asked for a client certificate.
    private var certificateFailure: URLError.Code?
    private var head: [String] = []
    private var received = Data()

    /// - Parameters:
    ///   - judge: A closure that is called in the handshake. The code that it returns ends the exchange.
    ///   - certify: A closure that is called if the server asks for a client certificate.
    ///   - idle: The pool of connections to use; `nil` for a connection of its own.
    init(
        _ request: URLRequest, body: Data?, judge: @escaping (SecTrust) -> URLError.Code?,
        certify: @escaping () -> Certificate, isOver: @escaping () -> Bool, seconds: Double, idle: IdleConnections?
    ) {
        self.request = request
        self.body = body
        self.judge = judge
        self.certify = certify
        self.isOver = isOver
        self.seconds = seconds
        self.idle = idle
    }

    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    func run() -> Outcome {
        let (kept, flushes) = idle?.take() ?? (nil, 0)
        guard Self.isReady, let url = request.url, let curl = kept ?? curl_easy_init() else { return .failed(.unknown) }
        defer { if let idle { idle.give(curl, flushes) } else { curl_easy_cleanup(curl) } }
        // Unretained is safe: this object stays alive until the transfer ends.
        let me = Unmanaged.passUnretained(self).toOpaque()
        pintle_curl_set_pointer(curl, CURLOPT_URL, url.absoluteString)
        pintle_curl_set_long(curl, CURLOPT_NOSIGNAL, 1)
        pintle_curl_set_long(curl, CURLOPT_TIMEOUT_MS, Int(seconds * 1_000))
        pintle_curl_set_long(curl, CURLOPT_SSL_VERIFYPEER, 1)
        // Apple's loading system accepts no older version, unless an app allows it.
        pintle_curl_set_long(curl, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // The trust object compares the name, not libcurl.
        pintle_curl_set_long(curl, CURLOPT_SSL_VERIFYHOST, 0)
        pintle_curl_set_long(curl, CURLOPT_SSL_SESSIONID_CACHE, 0)
        pintle_curl_set_pointer(curl, CURLOPT_CAINFO, nil)
        pintle_curl_set_pointer(curl, CURLOPT_CAPATH, nil)
        pintle_curl_set_pointer(curl, CURLOPT_PROXY, "")
        pintle_curl_set_pointer(curl, CURLOPT_CUSTOMREQUEST, request.httpMethod ?? "GET")
        var fields: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(fields) }
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            fields = curl_slist_append(fields, "\(name): \(value)")
        }
        pintle_curl_set_pointer(curl, CURLOPT_HTTPHEADER, fields)
        if let body {
            pintle_curl_set_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            _ = body.withUnsafeBytes { pintle_curl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
        }
        pintle_curl_set_write(
            curl,
            { bytes, size, count, me in
                guard let me, let bytes else { return 0 }
                return Exchange.of(me).take(UnsafeRawBufferPointer(start: bytes, count: size * count))
            }, me)
        pintle_curl_set_header(
            curl,
            { bytes, size, count, me in
                guard let me, let bytes else { return 0 }
                Exchange.of(me).takeHead(UnsafeRawBufferPointer(start: bytes, count: size * count))
                return size * count
            }, me)
        pintle_curl_set_ssl_context(
            curl,
            { _, context, me in
                SSL_CTX_set_cert_verify_callback(
                    context.map { OpaquePointer($0) },
                    { store, me in
                        guard let store, let me else { return 0 }
                        return Exchange.of(me).verify(store)
                    }, me)
                // The client's side calls this only if the server asks for a certificate.
                SSL_CTX_set_cert_cb(
                    context.map { OpaquePointer($0) },
                    { ssl, me in
                        guard let ssl, let me else { return 0 }
                        return Exchange.of(me).offerCertificate(ssl)
                    }, me)
                return CURLE_OK
            }, me)
        let result = curl_easy_perform(curl)
        if let refusal { return .failed(refusal) }
        guard result == CURLE_OK, let response = response(to: url) else {
            return .failed(head.isEmpty ? certificateFailure ?? Self.code(of: result) : Self.code(of: result))
        }
        return .answered(response, received)
    }

    private static func of(_ pointer: UnsafeMutableRawPointer) -> Exchange {
        Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isOver() else { return 0 }
        received.append(contentsOf: bytes)
        return bytes.count
    }

    private func takeHead(_ bytes: UnsafeRawBufferPointer) {
        let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if line.hasPrefix("HTTP/") { head = [] }
        if !line.isEmpty { head.append(line) }
    }

    private func verify(_ store: OpaquePointer) -> CInt {
        let sent = X509_STORE_CTX_get0_untrusted(store)
        var chain: [SecCertificate] = []
        for index in 0..<max(0, OPENSSL_sk_num(sent)) {
            guard let pointer = OPENSSL_sk_value(sent, index) else { continue }
            if let certificate = SecCertificate(borrowing: OpaquePointer(pointer)) { chain.append(certificate) }
        }
        var trust: SecTrust?
        guard
            SecTrustCreateWithCertificates(chain, SecPolicyCreateSSL(true, request.url?.host), &trust) == errSecSuccess,
            let trust
        else {
            refusal = .secureConnectionFailed
            return 0
        }
        refusal = judge(trust)
        X509_STORE_CTX_set_error(store, refusal == nil ? X509_V_OK : X509_V_ERR_CERT_UNTRUSTED)
        return refusal == nil ? 1 : 0
    }

    /// - Returns: OpenSSL's 1 to go on, or 0 to end the handshake.
    private func offerCertificate(_ ssl: OpaquePointer) -> CInt {
        switch certify() {
        case .cancel:
            refusal = .cancelled
            return 0
        case .none:
            certificateFailure = .clientCertificateRequired
            return 1
        case .identity(let identity):
            certificateFailure = .clientCertificateRejected
            return identity.certificate.withUnsafeBufferPointer { certificate in
                identity.key.withUnsafeBufferPointer { key in
                    var (certificateCursor, keyCursor) = (certificate.baseAddress, key.baseAddress)
                    let parsedCertificate = d2i_X509(nil, &certificateCursor, certificate.count)
                    let parsedKey = d2i_AutoPrivateKey(nil, &keyCursor, key.count)
                    defer {
                        X509_free(parsedCertificate)
                        EVP_PKEY_free(parsedKey)
                    }
                    return SSL_use_certificate(ssl, parsedCertificate) == 1
                        && SSL_use_PrivateKey(ssl, parsedKey) == 1 ? 1 : 0
                }
            }
        }
    }

    private func response(to url: URL) -> HTTPURLResponse? {
        guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        var fields: [String: String] = [:]
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    }

    private static func code(of result: CURLcode) -> URLError.Code {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST: .cannotFindHost
        case CURLE_COULDNT_CONNECT: .cannotConnectToHost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION: .secureConnectionFailed
        case CURLE_UNSUPPORTED_PROTOCOL: .unsupportedURL
        default: .networkConnectionLost
        }
    }
}

/// A pool of libcurl handles that no transfer uses, with the connections that they keep.
///
/// `@unchecked`: every access takes the lock, and a handle has one owner at a time.
final class IdleConnections: @unchecked Sendable {
    private let state = Guarded<(handles: [UnsafeMutableRawPointer], flushes: Int)>(([], 0))

    /// Removes a handle from the pool. The caller returns it with the same number of flushes.
    func take() -> (handle: UnsafeMutableRawPointer?, flushes: Int) {
        state.with { ($0.handles.popLast(), $0.flushes) }
    }

    /// Returns a handle to the pool, unless the pool was flushed after the handle was taken.
    func give(_ handle: UnsafeMutableRawPointer, _ flushes: Int) {
        // The reset keeps the handle's connections.
        curl_easy_reset(handle)
        let isKept = state.with { state in
            if state.flushes == flushes { state.handles.append(handle) }
            return state.flushes == flushes
        }
        if !isKept { curl_easy_cleanup(handle) }
    }

    func flush() {
        let idle = state.with { state in
            defer { state = ([], state.flushes + 1) }
            return state.handles
        }
        for handle in idle { curl_easy_cleanup(handle) }
    }

    deinit {
        flush()
    }
}
