internal import CCurl
internal import Foundation
internal import Glibc
internal import Pintle
internal import PintleOpenSSL

/// The checks before libcurl makes a connection, and before it sends the request.
extension Transfer {
    /// Checks the host before libcurl makes a connection.
    ///
    /// If the policy rejects hosts that no rule covers, such a host gets no connection, and the client does not
    /// send its name in SNI. Requests without TLS were refused before.
    func refuseForbiddenHost() throws(TransferError) {
        let (policy, endpoint) = (generation.policy, request.url.endpoint)
        guard policy.unpinnedHosts == .reject, policy.rule(for: endpoint) == nil else { return }
        let evaluation = TrustEvaluation(notAllowed: endpoint)
        generation.report(evaluation, at: Date())
        throw .rejected(.hostNotAllowed(endpoint))
    }

    /// Installs a judge on the `SSL_CTX` of a connection that libcurl makes for this transfer.
    ///
    /// - Returns: `false` if the connection must not be made.
    func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, receipts: options.receipts,
            reading: ReadBudget(options.readLimits, countedBy: counter))
        state.judge = judge
        return judge.install(on: context)
    }

    /// Returns `true` if the request may go over the connection, new or kept. libcurl calls this before each attempt to
    /// send it.
    ///
    /// - Parameter ends: the addresses of the connection.
    func passesGate(over ends: ConnectionEnds) -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard state.cause == nil else { return false }
        let isKept = !state.isConnecting
        guard beginsAttempt() else { return false }
        state.phase = .seeking
        do throws(GateError) {
            guard generation.isCurrent else { throw .superseded }
            let connection = try judgedConnection(isKept: isKept)
            try isKept ? refuseUnfit(connection) : refuseEarly(connection, over: ends)
            use(connection)
            return true
        } catch {
            fail(.gate(error))
            // Otherwise another request would meet the same connection. An unfinished one belongs to another transfer.
            if ![.unfinished, .superseded, .earlierError].contains(error) { set(CURLOPT_FORBID_REUSE, 1) }
            return false
        }
    }

    /// Returns the connection that libcurl has found or made, if its verdict allows the request.
    private func judgedConnection(isKept: Bool) throws(GateError) -> Connection {
        let found = pintle_curl_get_ssl(handle).map { OpaquePointer($0) }
        guard request.url.scheme == .https else {
            guard found == nil else { throw .noReceipt }
            return Connection(judge: nil, facts: nil, isStream: false, isKept: isKept, at: lastActivity)
        }
        guard let ssl = found, HandshakeJudge.hasEndedHandshake(ssl) else { throw .unfinished }
        guard let receipt = ConnectionReceipt.attached(to: ssl) else { throw .noReceipt }
        // In the second attempt, an error that is not about HTTP/2 may stay: libcurl met it while it connected.
        guard libraryError.isEmpty || isRepetition && !hasFrameError else { throw .earlierError }
        if state.acceptsOtherNames {
            guard case .userApproved = receipt.trust.basis else { throw .noReceipt }
        }
        let judge = HandshakeJudge.installed(on: ssl)
        guard judge?.isBroken != true, receipt.allows(request.url.endpoint, in: generation, at: options.now()) else {
            throw .receiptOver
        }
        // The receipt is older than the group: in TLS 1.2 the certificates come first.
        let facts = ConnectionFacts(
            receipt: receipt.trust, tls: NegotiatedTLS(on: ssl), clientCertificate: judge?.clientCertificate)
        return Connection(
            judge: judge, facts: facts, isStream: HandshakeJudge.speaksHTTP2(ssl), isKept: isKept, at: lastActivity)
    }

    /// Throws if the server has sent content over a new connection.
    ///
    /// Such content would become the response to the first request, and each later request would get the response to
    /// the one before.
    private func refuseEarly(_ connection: Connection, over ends: ConnectionEnds) throws(GateError) {
        guard let judge = connection.judge, !connection.isStream, let ssl = pintle_curl_get_ssl(handle) else { return }
        // CURLINFO_ACTIVESOCKET names no socket before a transfer has ended. The list may have numbers that libcurl has
        // closed, and that the app uses by now.
        let sockets = Set(state.sockets).filter(ends.match)
        guard sockets.count == 1, let socket = sockets.first else { throw .unfit }
        guard !judge.hasEarlyContent(on: OpaquePointer(ssl), from: socket) else { throw .early }
    }

    private func use(_ connection: Connection) {
        state.phase = .sent(connection)
        state.attempts += 1
        (state.stream, state.isRefused) = (nil, false)
        let isOnly = connection.judge?.addTransfer() ?? true
        chooseEndOfContent()
        guard connection.isStream else { return }
        host?.addStream(isOnly: isOnly)
        // HTTP/2 has no such field, and the connection carries other requests too.
        if request.closesConnection { set(CURLOPT_FORBID_REUSE, 0) }
        work?.streams.append(self)
        watchFrames()
        if request.hasContent { watchConnection() }
        if connection.judge?.watchesRefusals == true { watchRefusals() }
    }
}

/// The two ends of a TCP connection, as libcurl reports them. With a proxy, the peer is the proxy.
struct ConnectionEnds {
    let peer: String
    let peerPort: CInt
    let localPort: CInt

    /// Returns `true` if a socket has these ends.
    func match(_ socket: CInt) -> Bool {
        var kind: CInt = 0
        var count = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_TYPE, &kind, &count) == 0, kind == CInt(SOCK_STREAM.rawValue) else {
            return false
        }
        return Self.end(of: socket, getsockname)?.port == localPort
            && Self.end(of: socket, getpeername).map { $0 == (peer, peerPort) } == true
    }

    private static func end(
        of socket: CInt, _ read: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> (address: String, port: CInt)? {
        var address = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(socket, $0, &count) == 0 }
        }
        guard isKnown else { return nil }
        return withUnsafeBytes(of: address) { bytes in
            let start =
                switch CInt(address.ss_family) {
                case AF_INET: MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
                case AF_INET6: MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)
                default: Int?.none
                }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard let start, let source = bytes.baseAddress,
                inet_ntop(CInt(address.ss_family), source + start, &text, socklen_t(text.count)) != nil
            else { return nil }
            let characters = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            // The port has the same place in an address of either version.
            return (String(decoding: characters, as: UTF8.self), CInt(bytes[2]) << 8 | CInt(bytes[3]))
        }
    }
}
