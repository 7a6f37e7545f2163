/// The conduct of an attack's server after the handshake, over HTTP/1.1 or HTTP/2 as ALPN selected.
struct AttackService: Sendable {
    private enum Conduct: Sendable {
        /// Each request gets the same response.
        case answers(@Sendable (HTTPRequest) -> HTTPResponse)
        /// Over HTTP/2, the first connections move their requests to later ones.
        case moves(HTTP2Service.Signal, @Sendable () -> Void)
        /// Requests for the first host get a redirect to the other.
        case shares(AttackHosts, @Sendable () -> HTTPResponse)
    }

    private let conduct: Conduct
    /// Returns `true` if the client's next connection meets another attack.
    var isReplaced: @Sendable () -> Bool = { false }

    private init(conduct: Conduct) {
        self.conduct = conduct
    }

    /// A server that answers with 200, and closes a web socket after its handshake.
    static let ok = AttackService(conduct: .answers { HTTPResponse.closedWebSocket($0) ?? .ok })

    /// Returns a server that gives each request the same response.
    static func answering(_ response: @escaping @Sendable () -> HTTPResponse) -> AttackService {
        AttackService(conduct: .answers { _ in response() })
    }

    /// Returns a server that tells the clients of its first certificate that it processed no request.
    ///
    /// - Parameters:
    ///   - signal: The way in which it tells them.
    ///   - replaceCredential: Shows later connections another certificate.
    static func moving(
        _ signal: HTTP2Service.Signal, _ replaceCredential: @escaping @Sendable () -> Void
    ) -> AttackService {
        AttackService(conduct: .moves(signal, replaceCredential))
    }

    /// Returns a server that redirects clients from one host to another, and answers requests for the other.
    static func sharing(_ hosts: AttackHosts, redirect: @escaping @Sendable () -> HTTPResponse) -> AttackService {
        AttackService(conduct: .shares(hosts, redirect))
    }

    func serve(_ stream: any ByteStream) {
        let negotiated = stream as? any NegotiatedStream
        let record = negotiated?.record ?? TLSConnectionRecord()
        guard record.applicationProtocol == "h2" else { return HTTPService(handler: response).serveOnce(stream) }
        var service = HTTP2Service { request, byteCount in
            if case .moves(let signal, let replaceCredential) = conduct, record.credentialNumber == 0 {
                replaceCredential()
                return .moveRequests(signal)
            }
            if case .shares(let hosts, _) = conduct, hosts.isOfFirst(record), hosts.isForOther(request) {
                negotiated?.addMisdirectedBytes(byteCount)
            }
            var response = response(to: request)
            // Kept connections must not hide the next attack from the client, or take all places of the server.
            if isReplaced() || negotiated?.isCrowded == true { response.closesConnection = true }
            return .respond(response)
        }
        service.limits.droppedContent = HTTP2Limits.dropped
        service.serve(stream)
    }

    @Sendable private func response(to request: HTTPRequest) -> HTTPResponse {
        switch conduct {
        case .answers(let response): response(request)
        case .moves: HTTPResponse.closedWebSocket(request) ?? .ok
        case .shares(let hosts, let redirect): hosts.isForOther(request) ? .ok : redirect()
        }
    }
}

/// Two hosts at one address and port, each with a certificate of its own. That of the first host also covers the other.
struct AttackHosts: Sendable {
    let first: String
    let other: String

    /// Returns `true` if the connection showed the first host's certificate. A client that names no host in SNI is shown it
    /// until the server has sent its redirect.
    func isOfFirst(_ record: TLSConnectionRecord) -> Bool {
        guard let name = record.serverName else { return record.credentialNumber == 0 }
        return name.lowercased() != other.lowercased()
    }

    /// Returns `true` if the request is for the other host.
    func isForOther(_ request: HTTPRequest) -> Bool {
        AttackHosts.host(request["host"] ?? "") == other.lowercased()
    }

    /// Returns the host of an authority without its port, in lower case and without brackets.
    private static func host(_ authority: String) -> String {
        if authority.hasPrefix("[") { return authority.dropFirst().prefix { $0 != "]" }.lowercased() }
        return authority.prefix { $0 != ":" }.lowercased()
    }
}
