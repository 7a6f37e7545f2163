/// The conduct of an attack's server after the handshake, over HTTP/1.1 or HTTP/2 as ALPN selected.
struct AttackService: Sendable {
    private enum Conduct: Sendable {
        /// Each connection gets one response.
        case answers(@Sendable (HTTPRequest) -> HTTPResponse)
        /// Over HTTP/2, the first connections move their requests to later ones.
        case moves(HTTP2Service.Signal, @Sendable () -> Void)
        /// Over HTTP/2, a connection stays open for further requests, such as those for another host.
        case shares(AttackHosts, @Sendable () -> HTTPResponse)
    }

    private let conduct: Conduct

    /// A server that answers one request with 200, and closes a web socket after its handshake.
    static let ok = AttackService(conduct: .answers { HTTPResponse.closedWebSocket($0) ?? .ok })

    /// Returns a server that answers one request.
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
        let isHTTP2 = record.applicationProtocol == "h2"
        switch conduct {
        case .answers(let response):
            if isHTTP2 {
                HTTP2Service(handler: response).serveOnce(stream)
            } else {
                HTTPService(handler: response).serveOnce(stream)
            }
        case .moves(let signal, let replaceCredential):
            guard isHTTP2, record.credentialNumber == 0 else { return AttackService.ok.serve(stream) }
            HTTP2Service { _, _ in
                replaceCredential()
                return .moveRequests(signal)
            }.serveOnce(stream)
        case .shares(let hosts, let redirect):
            let isMisdirected = hosts.isOfFirst(record)
            guard isHTTP2 else {
                let response = { @Sendable in hosts.isForOther($0) ? HTTPResponse.ok : redirect() }
                return HTTPService(handler: response).serveOnce(stream)
            }
            var service = HTTP2Service { request, byteCount in
                guard hosts.isForOther(request) else { return .respond(redirect()) }
                if isMisdirected { negotiated?.addMisdirectedBytes(byteCount) }
                return .respond(.ok)
            }
            service.limits.requests = 16
            service.limits.droppedContent = HTTP2Limits.dropped
            service.serve(stream)
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
