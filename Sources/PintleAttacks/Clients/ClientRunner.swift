internal import PintleSystem
package import PintleTestKit
internal import Synchronization

/// Runs the client once against one set of servers. Threads may share it.
package struct ClientRunner: Sendable {
    private let hosts: [AttackedHost]
    private let client: Client
    /// The address of the proxy; `nil` for a client that connects to the servers.
    private let proxyAddress: Proxy.Address?
    /// A Boolean value that indicates whether the servers keep what connections bring.
    private let keepsTranscripts: Bool

    /// The time in which a client without a fixed time limit must connect to the right server, in seconds.
    private static let startLimit = 30.0

    package init(_ client: Client, hosts: [AttackedHost], proxyAddress: Proxy.Address?, keepsTranscripts: Bool) {
        (self.client, self.hosts, self.proxyAddress) = (client, hosts, proxyAddress)
        self.keepsTranscripts = keepsTranscripts
    }

    /// Runs the client against the right servers.
    ///
    /// - Parameters:
    ///   - timeout: The limit that the user has set, in seconds. With `nil` a client that starts slowly has 30 seconds
    ///     to connect, and the standard time from then on.
    ///   - isKnownToEnd: `true` for a client that ended by itself before. With `nil` as time-out, it has 30 seconds to
    ///     end.
    ///   - isCancelled: Returns `true` to kill the client.
    /// - Returns: one run for each host.
    package func runControl(
        timeout: Double?, isKnownToEnd: Bool = false, isCancelled: () -> Bool
    ) throws(ClientRunError) -> [ClientRun] {
        let set = try startServers(nil, at: 0)
        let begin = ContinuousClock.now
        var connected: Double?
        let process = try runClient(
            on: set, values: hosts[0].values, at: 0, timeout: timeout ?? ClientTimeLimit.standard,
            isCancelled: {
                if connected == nil, set.servers.contains(where: \.hasConnections) {
                    connected = begin.duration(to: .now) / .seconds(1)
                }
                return isCancelled()
            },
            mayContinue: {
                guard timeout == nil else { return false }
                let passed = begin.duration(to: .now) / .seconds(1)
                let end = isKnownToEnd ? nil : connected.map { $0 + ClientTimeLimit.standard }
                return passed < end ?? Self.startLimit
            })
        let seconds = Double(process.milliseconds) / 1_000
        let limit = timeout ?? max(ClientTimeLimit.standard, seconds.rounded())
        let controlSeconds = process.end == .timedOut && !isKnownToEnd ? connected ?? 0 : seconds
        return hosts.indices.map { collect(from: set, at: $0, process, timeout: limit, controlSeconds: controlSeconds) }
    }

    /// Runs the client against a scenario on one host.
    ///
    /// A client that had to be killed may only have been slow, because the machine has become busy. If it is slow at
    /// the right server too, the scenario is repeated with a longer limit.
    package func run(
        _ scenario: Scenario, at index: Int, limit: ClientTimeLimit, control: ControlBehavior, isCancelled: () -> Bool
    ) throws(ClientRunError) -> ClientRun {
        while true {
            let timeout = limit.seconds
            let result = try runOnce(scenario, at: index, timeout: timeout, isCancelled: isCancelled)
            guard !limit.isFixed, control.lacksTime(scenario, result.observation) else { return result }
            if limit.seconds == timeout {
                let runs = try runControl(
                    timeout: nil, isKnownToEnd: control.endsByItself, isCancelled: isCancelled)
                limit.raise(forClientThatTook: runs.map(\.controlSeconds).max() ?? 0)
            }
            guard limit.seconds > timeout else { return result }
        }
    }

    private func runOnce(
        _ scenario: Scenario, at index: Int, timeout: Double, isCancelled: () -> Bool
    ) throws(ClientRunError) -> ClientRun {
        let set = try startServers(scenario, at: index)
        var values = hosts[index].values
        if scenario.needsSecondPin { values.merge(hosts[index].valuesForSecondPin) { $1 } }
        var wasOver = false
        let process = try runClient(
            on: set, values: values, at: index, timeout: timeout, isCancelled: isCancelled,
            beforeCleanup: { wasOver = set.servers[index].hasAnsweredAll })
        return collect(from: set, at: index, process, timeout: timeout, wasOver: wasOver)
    }

    /// Returns what was seen of a client that has ended.
    private func collect(
        from set: ServerSet, at index: Int, _ process: GuardedProcess, timeout: Double, wasOver: Bool = false,
        controlSeconds: Double = 0
    ) -> ClientRun {
        let isQuiet = set.waitUntilAnswered(index)
        var observation = set.servers[index].observation()
        observation.addClear(set.proxy?.clearByteCount(of: hosts[index].name) ?? 0)
        observation.isAlone = set.servers.indices.allSatisfy { $0 == index || set.servers[$0].hasOnlyRequests }
        observation.process = Observation.ClientEnd(
            process.end, wasOverWhenKilled: wasOver, isQuiet: isQuiet, timeout: timeout, isProxied: proxyAddress != nil)
        return ClientRun(
            observation: observation, process: process, controlSeconds: controlSeconds,
            unlistedHosts: set.proxy?.unlistedHosts ?? [],
            transcripts: keepsTranscripts ? set.servers[index].transcripts() : [])
    }

    private func runClient(
        on set: ServerSet, values: [String: String], at index: Int, timeout: Double, isCancelled: () -> Bool,
        mayContinue: () -> Bool = { false }, beforeCleanup: () -> Void = {}
    ) throws(ClientRunError) -> GuardedProcess {
        let server = set.servers[index]
        var values = values
        values["url"] = server.url
        values["host"] = hosts[index].name
        values["port"] = "\(hosts[index].clientPort ?? server.port)"
        let proxy = proxyAddress.flatMap { address in set.proxy.map { address.url(port: $0.port) } }
        return try Self.run(
            client, values: values, proxy: proxy, timeout: timeout, isCancelled: isCancelled, mayContinue: mayContinue,
            beforeCleanup: beforeCleanup)
    }

    /// Runs the client once.
    /// - Parameters:
    ///   - values: The values of its placeholders.
    ///   - proxy: The URL of the proxy, which ends with its port; `nil` without one.
    ///   - timeout: The time limit in seconds.
    package static func run(
        _ client: Client, values: [String: String], proxy: String?, timeout: Double, isCancelled: () -> Bool,
        mayContinue: () -> Bool = { false }, beforeCleanup: () -> Void = {}
    ) throws(ClientRunError) -> GuardedProcess {
        var (values, environment) = (values, [String: String]())
        if let proxy {
            values["proxy"] = proxy
            values["proxy-port"] = proxy.split(separator: ":").last.map(String.init)
            for name in proxyVariables { environment[name] = proxy }
            for name in ["NO_PROXY", "no_proxy"] { environment[name] = "" }
        }
        let process: GuardedProcess
        do throws(SystemCallError) {
            process = try GuardedProcess.run(
                client.words(values), environment: environment, without: proxyVariables, timeout: timeout,
                outputLimit: 64 << 10, mayContinue: mayContinue, isCancelled: isCancelled, beforeCleanup: beforeCleanup)
        } catch {
            throw .noClient(error)
        }
        guard process.end != .cancelled else { throw .cancelled }
        return process
    }

    /// The environment variables that send a client to a proxy. All are set, so that no request of a client that
    /// follows a redirect to plain HTTP leaves this machine.
    private static let proxyVariables: Set<String> = [
        "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy",
    ]

    /// Starts the scenario at one host, and the right server at the others; with `nil` the right server everywhere.
    private func startServers(_ scenario: Scenario?, at index: Int) throws(ClientRunError) -> ServerSet {
        do {
            var servers: [Server] = []
            for (number, host) in hosts.enumerated() {
                let role = number == index ? scenario ?? host.catalogue.control : host.catalogue.control
                servers.append(try Server(role, clientPort: host.clientPort, keepsTranscripts: keepsTranscripts))
            }
            let routes = servers.flatMap(\.routes)
            return ServerSet(servers, try proxyAddress.map { try Proxy(routes, at: $0) })
        } catch {
            throw .noServer(error)
        }
    }
}

/// The servers of one run of the client, one for each host. They stop when the last reference is released.
private final class ServerSet {
    let servers: [Server]
    /// The only way to the servers for a client that comes through a proxy.
    let proxy: Proxy?

    init(_ servers: [Server], _ proxy: Proxy?) {
        (self.servers, self.proxy) = (servers, proxy)
    }

    deinit {
        proxy?.close()
        for server in servers { server.close() }
    }

    /// Waits until the client's bytes have been read. Returns `false` if a connection stays open, unless the server has
    /// answered all its requests.
    func waitUntilAnswered(_ index: Int) -> Bool {
        // Until the proxy has relayed everything, the servers have not seen the end.
        let isProxyIdle = proxy?.waitUntilIdle(seconds: 2) ?? true
        return servers[index].waitUntilAnswered() && (isProxyIdle || proxy?.hasOnlyTunnels == true)
    }
}

/// One run of the client, as both sides saw it.
package struct ClientRun: Sendable {
    package let observation: Observation
    package let process: GuardedProcess
    /// The time until the client ended, or if it did not end, until it connected, in seconds. Measured at the right
    /// server.
    package let controlSeconds: Double
    /// The hosts that the client asked the proxy for and that are not named.
    package let unlistedHosts: [Proxy.UnlistedHost]
    fileprivate let transcripts: [Transcript]

    /// The last 64 KiB of the client's standard error, or of its standard output if standard error is empty.
    package var words: [UInt8] { process.stderr.isEmpty ? process.stdout : process.stderr }

    /// Returns the outcome of the run at the right server.
    package func outcome(ofControl scenario: Scenario, host: String?) -> Outcome {
        complete(Outcome(rightServer: scenario, observation), host: host)
    }

    /// Returns an outcome with the facts of this run.
    func complete(_ outcome: Outcome, host: String?) -> Outcome {
        var outcome = outcome
        outcome.host = host
        outcome.connection = observation.decisiveConnection
        outcome.milliseconds = process.milliseconds
        outcome.clientWords = words
        outcome.transcripts = transcripts
        return outcome
    }
}

/// The time limit of a client in each scenario, in seconds. Threads may share it.
package final class ClientTimeLimit: Sendable {
    private let limit: Mutex<Double>
    /// A Boolean value that indicates whether the user has set the limit.
    package let isFixed: Bool
    /// The limit at first.
    package let first: Double

    /// The least limit, if the user has set none.
    package static let standard = 5.0
    /// The number of times that a scenario may take longer than the right server.
    private static let slowdown = 3.0

    /// - Parameters:
    ///   - fixed: The limit that the user has set.
    ///   - seconds: The time that the client took at the right server, when it ran without others. A client that starts
    ///     slowly, such as a JVM, gets more than the standard time.
    ///   - parallel: The number of scenarios that run at the same time.
    package init(fixed: Double?, controlSeconds seconds: Double, parallel: Int) {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let share = max(1, (Double(parallel) / Double(processors)).rounded(.up))
        first = fixed ?? max(Self.standard, (seconds * Self.slowdown * share).rounded(.up))
        limit = Mutex(first)
        isFixed = fixed != nil
    }

    package var seconds: Double { limit.withLock(\.self) }

    /// Raises the limit if a client needs more time now than before.
    ///
    /// - Parameter seconds: The time that the client took at the right server beside the other scenarios.
    func raise(forClientThatTook seconds: Double) {
        limit.withLock { $0 = max($0, (seconds * Self.slowdown).rounded(.up)) }
    }
}

/// The reason why the client cannot be run.
package enum ClientRunError: Error {
    case noServer(any Error)
    case noClient(SystemCallError)
    case cancelled
}
