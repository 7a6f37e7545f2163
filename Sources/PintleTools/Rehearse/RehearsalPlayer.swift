internal import Pintle
internal import PintleTestKit

/// Runs the client once against one set of servers. Threads may share it.
struct RehearsalPlayer: Sendable {
    let hosts: [RehearsedHost]
    let client: ClientCommand
    /// The values of the placeholders that are the same in every run, for each host.
    let values: [[String: String]]
    /// The address of the proxy; `nil` for a client that connects to the servers.
    let proxied: ProxyAddress?
    /// A Boolean value that indicates whether the servers keep what connections bring.
    var keepsTranscripts = false

    /// The default of `--timeout`, in seconds.
    static let standardTimeout = 5.0
    /// The time in which a client without `--timeout` must connect to the right server, in seconds.
    private static let startLimit = 30.0

    /// Runs the client against the right servers.
    ///
    /// - Parameters:
    ///   - timeout: The limit of `--timeout` in seconds. With `nil` a client that starts slowly has 30 seconds to connect, and
    ///     the standard time from then on.
    ///   - isKnownToEnd: `true` for a client that ended by itself before. With `nil` as time-out, it has 30 seconds to end.
    ///   - isCancelled: Returns `true` to kill the client.
    /// - Returns: one result for each host.
    func playControl(
        timeout: Double?, isKnownToEnd: Bool = false, isCancelled: () -> Bool = { Interrupts.areAsking }
    ) throws(ToolError) -> [RehearsalPlay] {
        let stage = try RehearsalStage(nil, at: 0, of: hosts, proxied: proxied, keepsTranscripts: keepsTranscripts)
        let begin = ContinuousClock.now
        var connected: Double?
        let process = try run(
            on: stage, values: values[0], url: 0, timeout: timeout ?? Self.standardTimeout,
            isCancelled: isCancelled,
            mayContinue: {
                guard timeout == nil else { return false }
                let passed = begin.duration(to: .now) / .seconds(1)
                if connected == nil, stage.servers.contains(where: { !$0.observation().connections.isEmpty }) {
                    connected = passed
                }
                let end = isKnownToEnd ? nil : connected.map { $0 + Self.standardTimeout }
                return passed < end ?? Self.startLimit
            })
        let seconds = Double(process.milliseconds) / 1_000
        let limit = timeout ?? max(Self.standardTimeout, seconds.rounded())
        let startSeconds = process.end == .timedOut && !isKnownToEnd ? connected ?? 0 : seconds
        var plays: [RehearsalPlay] = []
        for index in hosts.indices {
            plays.append(play(stage, index, process, timeout: limit, startSeconds: startSeconds))
        }
        return plays
    }

    /// Runs the client against an attack on one host.
    ///
    /// A client that had to be killed may only have been slow, because the machine has become busy. If it is slow at the right
    /// server too, the attack is repeated with a longer limit.
    func play(
        _ attack: Attack, at index: Int, limit: RehearsalTimeLimit, judge: RehearsalJudge?, isCancelled: () -> Bool
    ) throws(ToolError) -> RehearsalPlay {
        while true {
            let timeout = limit.seconds
            let play = try play(attack, at: index, timeout: timeout, isCancelled: isCancelled)
            guard !limit.isFixed, let judge, judge.lacksTime(attack, play.evidence) else { return play }
            if limit.seconds == timeout {
                let control = try playControl(
                    timeout: nil, isKnownToEnd: judge.endsByItself, isCancelled: isCancelled)
                limit.raise(forClientThatTook: control.map(\.evidence.startSeconds).max() ?? 0)
            }
            guard limit.seconds > timeout else { return play }
        }
    }

    private func play(
        _ attack: Attack, at index: Int, timeout: Double, isCancelled: () -> Bool
    ) throws(ToolError) -> RehearsalPlay {
        let stage = try RehearsalStage(
            attack, at: index, of: hosts, proxied: proxied, keepsTranscripts: keepsTranscripts)
        var wasOver = false
        let process = try run(
            on: stage, values: OtherHostKit.values(values[index], for: attack), url: index, timeout: timeout,
            isCancelled: isCancelled,
            willKill: { wasOver = stage.servers[index].observation().isOver })
        return play(stage, index, process, timeout: timeout, wasOver: wasOver)
    }

    private func play(
        _ stage: RehearsalStage, _ index: Int, _ process: GuardedProcess, timeout: Double,
        wasOver: Bool = false, startSeconds: Double = 0
    ) -> RehearsalPlay {
        let isQuiet = stage.waitUntilQuiet(index)
        var observation = stage.servers[index].observation()
        observation.addClear(stage.proxy?.clearByteCount(of: hosts[index].name) ?? 0)
        let evidence = RehearsalEvidence(
            observation: observation, end: process.end, wasOverWhenKilled: wasOver,
            isQuiet: isQuiet, timeout: timeout, startSeconds: startSeconds, isProxied: proxied != nil)
        return RehearsalPlay(
            evidence: evidence, process: process, refusals: stage.proxy?.refusals ?? [],
            transcripts: keepsTranscripts ? stage.servers[index].transcripts() : [])
    }

    private func run(
        on stage: RehearsalStage, values: [String: String], url index: Int, timeout: Double, isCancelled: () -> Bool,
        mayContinue: () -> Bool = { false }, willKill: () -> Void = {}
    ) throws(ToolError) -> GuardedProcess {
        let server = stage.servers[index]
        var values = values
        values["url"] = server.url
        values["host"] = hosts[index].name
        values["port"] = "\(hosts[index].clientPort ?? server.port)"
        var environment: [String: String] = [:]
        if let proxied, let proxy = stage.proxy {
            let url = proxied.url(port: proxy.port)
            values["proxy"] = url
            values["proxy-port"] = "\(proxy.port)"
            for name in Self.proxyVariables { environment[name] = url }
            for name in ["NO_PROXY", "no_proxy"] { environment[name] = "" }
        }
        let process: GuardedProcess
        do throws(SystemCallError) {
            process = try GuardedProcess.run(
                client.words(values), environment: environment, without: Self.proxyVariables, timeout: timeout,
                outputLimit: 64 << 10, mayContinue: mayContinue, isCancelled: isCancelled, willKill: willKill)
        } catch {
            throw .unusable(
                "no-client", "the client cannot be run: \(error)",
                hint: "name a program that is on the PATH, or write ./client; for a line of shell: sh -c '... {url}'")
        }
        guard process.end != .cancelled else { throw .unusable("interrupted", "interrupted") }
        return process
    }

    /// The environment variables that send a client to a proxy. All are set, so that no request of a client that follows a
    /// redirect to plain HTTP leaves this machine.
    private static let proxyVariables: Set<String> = [
        "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy",
    ]
}

/// One run of the client, as both sides saw it.
struct RehearsalPlay: Sendable {
    let evidence: RehearsalEvidence
    let process: GuardedProcess
    /// The hosts that the client asked the proxy for and that are not named.
    let refusals: [AttackProxy.Refusal]
    let transcripts: [AttackTranscript]
}
