internal import CCurl
internal import Foundation
internal import Glibc

/// The options of an easy handle.
extension Transfer {
    /// Sets the options of a new easy handle, and owns it from now on. If this fails, the handle is freed.
    ///
    /// The handle does not retain this object; the loop keeps it alive for longer.
    func configure(_ handle: UnsafeMutableRawPointer) throws(TransferError) {
        do throws(TransferError) {
            state = HandleState()
            if !request.content.isNone { state.bodyReader = try BodyReader(request.content) }
        } catch {
            curl_easy_cleanup(handle)
            throw error
        }
        self.handle = handle
        let this = Unmanaged.passUnretained(self).toOpaque()

        set(CURLOPT_NOSIGNAL, 1)
        // A cancelled DNS look-up does not wait for the resolver's thread, which ends by itself.
        pintle_curl_set_quick_exit(handle)
        pintle_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        // The parsed URL overrides the text. Without the text, libcurl before 8.12 writes one for each transfer.
        pintle_curl_set_pointer(handle, CURLOPT_URL, request.url.written)
        pintle_curl_set_url(handle, request.url.handle)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Without this libcurl would hide the proxy's response to CONNECT from `TunnelReader`.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 0)
        // Otherwise a child process inherits the connection, and the server does not see its end.
        pintle_curl_set_open_socket(handle) { _, _, address in
            guard let address else { return CURL_SOCKET_BAD }
            let kind = address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue)
            return socket(address.pointee.family, kind, address.pointee.protocol)
        }
        pintle_curl_set_socket_options(
            handle,
            { at, socket, _ in
                guard let transfer = Transfer.at(at), transfer.mayConnect() else { return CInt(CURL_SOCKOPT_ERROR) }
                transfer.state.sockets.append(socket)
                transfer.state.phase = .connecting(TunnelReader())
                return CInt(CURL_SOCKOPT_OK)
            }, this)
        // Without TLS, never HTTP/2: a status line that names it would make libcurl put two requests on one connection.
        let mayUseHTTP2 = request.url.scheme == .https && !needsHTTP1
        set(CURLOPT_HTTP_VERSION, mayUseHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // Without CURLOPT_ACCEPT_ENCODING libcurl decodes nothing. A decoder of its own would need memory without a
        // limit: it decodes a whole piece at once, and keeps what a paused transfer does not take.
        set(CURLOPT_BUFFERSIZE, request.url.scheme == .https ? Self.bufferSize : Self.clearPieceSize)
        set(CURLOPT_FRESH_CONNECT, wantsFreshConnection ? 1 : 0)
        // Without TLS, a kept connection cannot be examined before a request; see ``refuseUnfit(_:)``. libcurl
        // examines it not at all (7.88) or only once a second (8.22).
        set(CURLOPT_FORBID_REUSE, request.url.scheme == .http || request.closesConnection ? 1 : 0)
        pintle_curl_set_pointer(handle, CURLOPT_HTTPHEADER, request.fields.pointer)
        // These fields are for the server. A proxy that opens a tunnel gets none of them.
        set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        if request.proxyFields.pointer != nil {
            pintle_curl_set_pointer(handle, CURLOPT_PROXYHEADER, request.proxyFields.pointer)
        }
        if options.addresses.pointer != nil {
            pintle_curl_set_pointer(handle, CURLOPT_RESOLVE, options.addresses.pointer)
        }
        try setTrust(this)
        setMethod(this)
        request.proxy.set(on: handle, tunnels: request.url.scheme == .https)
        pintle_curl_set_write(
            handle, { bytes, size, count, at in Transfer.at(at)?.receive(bytes, size * count) ?? 0 }, this)
        pintle_curl_set_header(
            handle, { bytes, size, count, at in Transfer.at(at)?.readLine(bytes, size * count) ?? 0 }, this)
    }

    /// Sets the options that make libcurl depend on the verdict.
    ///
    /// - Throws: an error if libcurl does not accept one of these options.
    private func setTrust(_ this: UnsafeMutableRawPointer) throws(TransferError) {
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // With 0 libcurl would continue after the verifier has refused the server.
        try require(pintle_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1))
        state.acceptsOtherNames = generation.acceptsOtherNames(of: request.url.endpoint, at: options.now())
        try require(pintle_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, state.acceptsOtherNames ? 0 : 2))
        // The validator has the roots. libcurl would load its own for each connection, which takes 20 ms.
        pintle_curl_set_pointer(handle, CURLOPT_CAINFO, nil)
        pintle_curl_set_pointer(handle, CURLOPT_CAPATH, nil)
        // A resumed TLS session would never call the verifier.
        try require(pintle_curl_set_long(handle, CURLOPT_SSL_SESSIONID_CACHE, 0))
        let asksJudge = pintle_curl_set_ssl_context(
            handle,
            { _, context, at in
                guard let context, Transfer.at(at)?.install(on: OpaquePointer(context)) == true else {
                    return CURLE_ABORTED_BY_CALLBACK
                }
                return CURLE_OK
            }, this)
        try require(asksJudge)
        let asksGate = pintle_curl_set_prereq(
            handle,
            { at, peer, _, peerPort, localPort in
                let ends = ConnectionEnds(
                    peer: peer.map { String(cString: $0) } ?? "", peerPort: peerPort, localPort: localPort)
                return Transfer.at(at)?.passesGate(over: ends) == true
                    ? CInt(CURL_PREREQFUNC_OK) : CInt(CURL_PREREQFUNC_ABORT)
            }, this)
        try require(asksGate)
    }

    private func require(_ code: CURLcode) throws(TransferError) {
        guard code != CURLE_OK else { return }
        throw .refused(
            SessionError(
                .unsuitableLibrary,
                "libcurl does not take an option that pinning rests on: "
                    + String(cString: curl_easy_strerror(code)), hint: "install a libcurl built on OpenSSL"))
    }

    /// The size in bytes of libcurl's buffer for a transfer over TLS. OpenSSL returns at most one record for each read,
    /// which has 16 KiB (RFC 8446 section 5.1), so a larger buffer would only take memory.
    ///
    /// Before 8.1, libcurl copies what comes over HTTP/2 into these buffers. If the head of a response does not fit,
    /// libcurl delivers the rest of the head first, and a value inside the head can pass for a head of its own. If the
    /// end of the content does not fit, libcurl waits for more, which may never come. So the buffer takes the longest
    /// head, and what comes until the transfer is next: in two turns, each with a record that was begun before.
    static let bufferSize =
        CurlLibrary.copiesStreams ? HeadReader.streamLimit + 1 + 2 * (perTurnOfStreams + recordSize) : recordSize
    private static let recordSize = 16 << 10
    /// The bytes that OpenSSL may read in one turn of the loop from a connection that speaks HTTP/2; see
    /// ``bufferSize``.
    static let perTurnOfStreams = CurlLibrary.copiesStreams ? 128 << 10 : Int.max
    /// The number of bytes that libcurl reads at once without TLS. It reads up to a hundred times in a turn, so the
    /// limit of a turn is the same as with TLS; see ``ReadLimits``.
    static let clearPieceSize = 2_560

    /// A Boolean value that indicates whether libcurl should read a response over HTTP/2 to the end of its stream,
    /// instead of the end of the announced content.
    ///
    /// Otherwise libcurl resets a stream whose end comes in a frame of its own, and servers end a connection after too
    /// many resets (node and others built on nghttp2, after 1,000). But before 8.1 libcurl resets every stream that it
    /// reads to the end. It has to read so if the server's permission to send more of the request's content may still
    /// come.
    private var benefitsFromEndOfStream: Bool {
        guard CurlLibrary.copiesStreams else { return true }
        return request.hasContent && request.content.size ?? .max > Self.frameSize
    }
    /// The content in bytes that one frame takes. Every usual server permits a frame at once (RFC 9113 section 6.9.2).
    private static let frameSize: Int64 = 16 << 10

    /// Makes libcurl read a response to the end of its stream. nghttp2 compares the length with the announced one (RFC
    /// 9113 section 8.1.1), and so does ``end(_:)``.
    ///
    /// Otherwise it restores libcurl's default: libcurl may repeat over HTTP/1.1 a request that the server refused over
    /// HTTP/2.
    func chooseEndOfContent() {
        set(CURLOPT_IGNORE_CONTENT_LENGTH, state.isStream && benefitsFromEndOfStream ? 1 : 0)
    }

    private func setMethod(_ this: UnsafeMutableRawPointer) {
        if request.hasContent {
            set(CURLOPT_UPLOAD, 1)
            pintle_curl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(request.content.size ?? -1))
            pintle_curl_set_read(
                handle,
                { bytes, size, count, at in
                    Transfer.at(at)?.supply(bytes, size * count) ?? pintle_CURL_READFUNC_ABORT
                }, this)
            pintle_curl_set_seek(
                handle, { at, offset, origin in Transfer.at(at)?.seek(to: offset, origin) ?? CInt(CURL_SEEKFUNC_FAIL) },
                this)
        } else if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        }
        pintle_curl_set_pointer(handle, CURLOPT_CUSTOMREQUEST, request.method)
        // Only HTTP/2 uses the weight. Its default of 16 is the priority 0.5.
        set(CURLOPT_STREAM_WEIGHT, max(Int(request.priority * 32), 1))
    }

    func set(_ option: CURLoption, _ value: Int) {
        pintle_curl_set_long(handle, option, value)
    }
}
