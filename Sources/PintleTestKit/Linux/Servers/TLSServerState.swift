internal import COpenSSL
internal import Synchronization

/// The state that the threads of a loopback TLS server share.
final class TLSServerState: Sendable {
    private struct Credentials {
        var standard: TLSCredential
        var number = 0
        var byServerName: [String: TLSCredential]
    }

    private struct Log {
        var connectionCount = 0
        var openCount = 0
        /// The records by the number of the connection. With an observer they go when the connection ends.
        var records: [Int: TLSConnectionRecord] = [:]
        var requests: [HTTPRequest] = []
    }

    /// The number of requests kept.
    static let requestLimit = 256

    let configuration: TLSServerConfiguration
    let context: TLSServerContext
    private let credentials: Mutex<Credentials>
    private let log = Mutex(Log())

    init(_ configuration: TLSServerConfiguration) throws(MintingError) {
        let standard = try TLSCredential(configuration.credential)
        var byServerName: [String: TLSCredential] = [:]
        for (name, credential) in configuration.credentialsByServerName {
            byServerName[name.lowercased()] = try TLSCredential(credential)
        }
        self.configuration = configuration
        context = try TLSServerContext(configuration)
        credentials = Mutex(Credentials(standard: standard, byServerName: byServerName))
    }

    func replaceCredential(_ credential: TLSCredential) {
        credentials.withLock { credentials in
            credentials.standard = credential
            credentials.number += 1
        }
    }

    /// A Boolean value that indicates whether any chain has to be spliced into the handshake, which must not be
    /// encrypted then.
    var needsClearHandshake: Bool {
        credentials.withLock { credentials in
            credentials.standard.splicedChain != nil
                || credentials.byServerName.values.contains { $0.splicedChain != nil }
        }
    }

    /// Returns the credential for a name, and the number of times that the standard one had been replaced.
    func credential(for serverName: String?) -> (TLSCredential, number: Int) {
        credentials.withLock { credentials in
            let credential = serverName.flatMap { credentials.byServerName[$0.lowercased()] }
            return (credential ?? credentials.standard, credentials.number)
        }
    }

    var connections: [TLSConnectionRecord] {
        log.withLock { $0.records.sorted { $0.key < $1.key }.map(\.value) }
    }

    var requests: [HTTPRequest] { log.withLock { $0.requests } }

    func updateRecord(_ number: Int, _ change: (inout TLSConnectionRecord) -> Void) {
        log.withLock { log in
            if log.records[number] != nil { change(&log.records[number, default: TLSConnectionRecord()]) }
        }
    }

    /// Returns the record of an open connection.
    func record(_ number: Int) -> TLSConnectionRecord { log.withLock { $0.records[number] } ?? TLSConnectionRecord() }

    func setAnswered(_ isAnswered: Bool, _ number: Int) {
        updateRecord(number) { $0.isAnswered = isAnswered }
        if isAnswered { report(number) }
    }

    /// The number of open connections on which the server has answered every request.
    var answeredCount: Int { log.withLock { $0.records.values.count { $0.isAnswered && !$0.isClosed } } }

    var isCrowded: Bool { log.withLock { $0.openCount > configuration.maximumConnections / 2 } }

    /// Reports to the observer what a connection has brought since its last report.
    private func report(_ number: Int) {
        guard let observer = configuration.connectionObserver else { return }
        let record = log.withLock { $0.records[number]?.takeNews() }
        if let record { observer(record) }
    }

    /// Records the end of a connection, and reports it to the observer.
    private func close(_ number: Int) {
        updateRecord(number) { record in
            record.isClosed = true
            record.end = record.end ?? .now
        }
        report(number)
        log.withLock { log in
            log.openCount -= 1
            if configuration.connectionObserver != nil { log.records[number] = nil }
        }
    }

    /// Records the beginning of a connection, and returns its number.
    private func open() -> Int {
        log.withLock { log in
            defer { log.connectionCount += 1 }
            log.openCount += 1
            log.records[log.connectionCount] = TLSConnectionRecord()
            return log.connectionCount
        }
    }

    /// Serves one connection with a credential of its own to its end, and returns its record, which is not kept.
    func serve(
        _ socket: TCPConnection, firstBytes: [UInt8],
        credential: @escaping (ClientHello, _ serverName: String?) -> TLSCredential?,
        application: (any ByteStream) -> Void
    ) -> TLSConnectionRecord {
        let index = open()
        let connection = TLSServerConnection(
            socket, state: self, index: index, firstBytes: firstBytes, choosing: credential)
        if let connection, connection.handshake() {
            application(connection)
            connection.close()
        }
        return log.withLock { log in
            log.openCount -= 1
            var record = log.records.removeValue(forKey: index) ?? TLSConnectionRecord()
            record.end = record.end ?? .now
            return record
        }
    }

    /// Serves one connection to its end.
    func serve(_ socket: TCPConnection) {
        let index = open()
        defer {
            let late = socket.hasRunOutOfTime
            updateRecord(index) { $0.wasGivenUp = late.writing || late.reading && $0.requestByteCount == 0 }
            close(index)
        }
        guard let connection = TLSServerConnection(socket, state: self, index: index), connection.handshake() else {
            return
        }
        switch configuration.application {
        case .http(let handler):
            let didReceive: @Sendable (HTTPRequest) -> Void = { request in
                self.updateRecord(index) { $0.requestCount += 1 }
                self.log.withLock { log in
                    log.requests.append(request)
                    if log.requests.count > TLSServerState.requestLimit { log.requests.removeFirst() }
                }
            }
            if connection.record.applicationProtocol == "h2" {
                HTTP2Service(handler: handler, didReceive: didReceive).serve(connection)
            } else {
                HTTPService(handler: handler, didReceive: didReceive).serve(connection)
            }
        case .stream(let body):
            body(connection)
        }
        connection.close()
    }
}

/// An SSL_CTX set up for a loopback server.
///
/// `@unchecked Sendable`: configured in `init` and never changed afterwards. OpenSSL's own locks make SSL_new on a
/// shared SSL_CTX safe, and the ALPN list is only read.
final class TLSServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The names for ALPN on the wire, each after its length. The SSL_CTX points here, so both are freed together.
    private let protocols: UnsafeMutableBufferPointer<UInt8>

    init(_ configuration: TLSServerConfiguration) throws(MintingError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .openSSL("making a TLS server") }
        pointer = context
        let names = configuration.applicationProtocols.flatMap {
            [UInt8(clamping: $0.utf8.count)] + $0.utf8.prefix(255)
        }
        protocols = .allocate(capacity: names.count)
        _ = protocols.initialize(from: names)

        // Tests need weak keys and digests.
        SSL_CTX_set_security_level(context, 0)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(configuration.versions.lowerBound.rawValue), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(configuration.versions.upperBound.rawValue), nil)
        guard SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") == 1 else { throw .openSSL("choosing ciphers") }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_DH_AUTO, 1, nil)
        if let groups = configuration.groups {
            var list = Array(groups.utf8CString)
            guard SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, &list) == 1 else {
                throw .openSSL("choosing the groups \(groups)")
            }
        }
        // The chain is exactly the test's. OpenSSL must not add certificates to it.
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_NO_AUTO_CHAIN), nil)
        if !configuration.allowsResumption {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
            SSL_CTX_set_options(context, pintle_SSL_OP_NO_TICKET)
            SSL_CTX_set_num_tickets(context, 0)
        }
        if let question = configuration.clientCertificateQuestion { try ask(question) }
        if !names.isEmpty { offerProtocols() }
        SSL_CTX_set_client_hello_cb(
            context,
            { ssl, _, _ in
                if let ssl { TLSServerConnection.readHello(ssl) }
                return SSL_CLIENT_HELLO_SUCCESS
            }, nil)
    }

    deinit {
        SSL_CTX_free(pointer)
        protocols.deallocate()
    }

    private func ask(_ question: TLSServerConfiguration.ClientCertificateQuestion) throws(MintingError) {
        let demand = question.isRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | demand, nil)
        // Without it OpenSSL refuses to resume sessions with a certificate.
        SSL_CTX_set_session_id_context(pointer, [1], 1)
        for authority in question.authorities {
            let isAdded = authority.der.withUnsafeBufferPointer { der in
                var cursor = der.baseAddress
                guard let certificate = d2i_X509(nil, &cursor, der.count) else { return false }
                defer { X509_free(certificate) }
                return SSL_CTX_add_client_CA(pointer, certificate) == 1
            }
            guard isAdded else { throw .openSSL("naming an authority for client certificates") }
        }
        SSL_CTX_set_cert_verify_callback(
            pointer,
            { store, _ in
                guard let store else { return 0 }
                let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
                return ssl.map { TLSServerConnection.acceptsClient(store, of: OpaquePointer($0)) } == true ? 1 : 0
            }, nil)
    }

    private func offerProtocols() {
        // Unretained: each connection keeps this object alive.
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
