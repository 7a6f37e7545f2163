internal import PintleTestKit

/// A proxy that answers every host itself, as interceptors below two authorities, and forwards nothing.
///
/// It opens no connection at all. A tunnel ends in this object, whatever host the client asked for. Threads may share
/// it.
package final class SurveyServer: Sendable {
    package let log: SurveyLog
    package let authorities: SurveyAuthorities
    private let proxy: LoopbackProxy

    /// Starts the proxy.
    /// - Parameters:
    ///   - address: The address to listen at.
    ///   - peer: The only address whose connections are served; `nil` for every address.
    ///   - hasRuns: `true` if the tool runs the client several times.
    ///   - hosts: The hosts that have right servers.
    package init(
        at address: Proxy.Address, onlyFrom peer: String?, hasRuns: Bool, answers: SurveyAnswers,
        authorities: SurveyAuthorities, hosts: [AttackedHost] = []
    ) throws {
        var credentials: [SurveyLog.Endpoint: TLSCredential] = [:]
        for host in hosts {
            credentials[SurveyLog.Endpoint(host.name, host.clientPort ?? 443)] = try TLSCredential(
                TLSServerConfiguration.Credential(host.catalogue.certificates.genuine))
        }
        let rightServers = credentials
        let log = SurveyLog(hasRuns: hasRuns, named: Set(rightServers.keys))
        var configuration = TLSServerConfiguration(try authorities.placeholder)
        configuration.applicationProtocols = ["h2", "http/1.1"]
        // Old stacks are surveyed too.
        configuration.versions = .tls10 ... .tls13
        configuration.allowsResumption = false
        let service = try TLSService(configuration)
        (self.log, self.authorities) = (log, authorities)
        proxy = try LoopbackProxy(
            .any, listeningAt: address.literal, port: address.port, onlyFrom: peer,
            timeLimit: hasRuns ? Server.timeLimit(at: nil) : Self.timeLimit,
            route: { host, port in
                let endpoint = SurveyLog.Endpoint(host, port)
                guard log.hasRoom(for: endpoint) else { return nil }
                return .here { connection, firstBytes in
                    SurveySession(
                        endpoint: endpoint, log: log, authorities: authorities, answers: answers, service: service,
                        rightServers: rightServers
                    ).serve(connection, firstBytes)
                }
            },
            refusal: LoopbackProxy.forbid,
            clear: { request in
                guard request.scheme != "http" else { return false }
                log.add(request)
                return true
            },
            unreadable: { request in
                if let request { log.add(request) } else { log.addUnreadable() }
            })
    }

    /// The time limit of a device's connection in seconds. Devices keep connections open for later requests. These must
    /// not block other ones for ever.
    private static let timeLimit = 60.0

    package var port: UInt16 { proxy.port }

    /// The number of connections to the proxy.
    package var connectionCount: Int { proxy.connectionCount }

    /// Waits until no connection is open. Returns `false` after a time-out.
    @discardableResult
    package func waitUntilIdle(seconds: Double) -> Bool { proxy.waitUntilIdle(seconds: seconds) }

    /// Ends all connections and waits for their threads.
    package func close() {
        log.end()
        proxy.close()
    }
}
