internal import Synchronization

/// What the threads of a loopback TLS server share.
final class TLSServerState: Sendable {
    private struct Credentials {
        var standard: TLSCredential
        var number = 0
        var byServerName: [String: TLSCredential]
    }

    private struct Log {
        var connections: [TLSConnectionRecord] = []
        /// How many were dropped before the first of these.
        var dropped = 0
        var requests: [HTTPRequest] = []
    }

    /// Requests kept, the newest.
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

    /// Whether any certificates have to be put into the handshake by hand, so that it must be in
    /// the clear.
    var needsClearHandshake: Bool {
        credentials.withLock { credentials in
            credentials.standard.splicedChain != nil
                || credentials.byServerName.values.contains { $0.splicedChain != nil }
        }
    }

    /// What to show, and how often the standard one had been replaced.
    func credential(for serverName: String?) -> (TLSCredential, number: Int) {
        credentials.withLock { credentials in
            let credential = serverName.flatMap { credentials.byServerName[$0.lowercased()] }
            return (credential ?? credentials.standard, credentials.number)
        }
    }

    var connections: [TLSConnectionRecord] { log.withLock { $0.connections } }

    var requests: [HTTPRequest] { log.withLock { $0.requests } }

    func note(_ index: Int, _ change: (inout TLSConnectionRecord) -> Void) {
        log.withLock { log in
            guard log.connections.indices.contains(index - log.dropped) else { return }
            change(&log.connections[index - log.dropped])
        }
    }

    /// The connection is over.
    private func close(_ index: Int) {
        let record = log.withLock { log in
            log.connections[index - log.dropped].isClosed = true
            let record = log.connections[index - log.dropped]
            if configuration.connectionObserver != nil {
                let over = log.connections.prefix { $0.isClosed }.count
                log.connections.removeFirst(over)
                log.dropped += over
            }
            return record
        }
        configuration.connectionObserver?(record)
    }

    /// Serves one connection to its end.
    func serve(_ socket: TCPConnection) {
        let index = log.withLock { log in
            log.connections.append(TLSConnectionRecord())
            return log.dropped + log.connections.count - 1
        }
        defer { close(index) }
        guard let connection = TLSServerConnection(socket, state: self, index: index), connection.handshake() else {
            return
        }
        switch configuration.application {
        case .http(let handler):
            let service = HTTPService(handler: handler) { request in
                self.log.withLock { log in
                    log.connections[index - log.dropped].requestCount += 1
                    log.requests.append(request)
                    if log.requests.count > TLSServerState.requestLimit { log.requests.removeFirst() }
                }
            }
            service.serve(connection)
        case .stream(let body):
            body(connection)
        }
        connection.close()
    }
}
