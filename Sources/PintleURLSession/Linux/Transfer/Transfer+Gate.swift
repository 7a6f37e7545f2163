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
    /// - Parameter localPort: the client's port of the connection.
    func passesGate(from localPort: CInt) -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard state.cause == nil else { return false }
        let isKept = !state.isConnecting
        guard beginsAttempt() else { return false }
        state.phase = .seeking
        do throws(GateError) {
            guard generation.isCurrent else { throw .superseded }
            let connection = try judgedConnection()
            try isKept ? refuseUnfit(connection) : refuseEarly(connection, from: localPort)
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
    private func judgedConnection() throws(GateError) -> Connection {
        let found = pintle_curl_get_ssl(handle).map { OpaquePointer($0) }
        guard request.url.scheme == .https else {
            guard found == nil else { throw .noReceipt }
            return Connection(judge: nil, receipt: nil, isStream: false, at: lastActivity)
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
        var trust = receipt.trust
        // The receipt is older than the group: in TLS 1.2 the certificates come first.
        trust.tls = NegotiatedTLS(on: ssl)
        trust.clientCertificate = judge?.clientCertificate
        return Connection(
            judge: judge, receipt: trust, isStream: HandshakeJudge.speaksHTTP2(ssl), at: lastActivity)
    }

    /// Throws if the server has sent content over a new connection.
    ///
    /// Such content would become the response to the first request, and each later request would get the response to
    /// the one before.
    private func refuseEarly(_ connection: Connection, from localPort: CInt) throws(GateError) {
        guard let judge = connection.judge, !connection.isStream, let ssl = pintle_curl_get_ssl(handle),
            // libcurl names no socket before a transfer has ended.
            let socket = state.sockets.first(where: { Self.port(of: $0) == localPort })
        else { return }
        guard !judge.hasEarlyContent(on: OpaquePointer(ssl), from: socket) else { throw .early }
    }

    private static func port(of socket: CInt) -> CInt? {
        var address = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &count) == 0 }
        }
        // The port has the same place in an address of either version.
        return isKnown ? withUnsafeBytes(of: address) { CInt($0[2]) << 8 | CInt($0[3]) } : nil
    }

    private func use(_ connection: Connection) {
        state.phase = .sent(connection)
        state.attempts += 1
        (state.stream, state.isRefused) = (nil, false)
        connection.judge?.addTransfer()
        chooseEndOfContent()
        guard connection.isStream else { return }
        // HTTP/2 has no such field, and the connection carries other requests too.
        if request.closesConnection { set(CURLOPT_FORBID_REUSE, 0) }
        work?.streams.append(self)
        watchFrames()
        if request.hasContent { watchConnection() }
        if connection.judge?.watchesRefusals == true { watchRefusals() }
    }
}
