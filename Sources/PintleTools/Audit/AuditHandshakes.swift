internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient

/// Asks servers, many at a time, and hands over each result at once.
struct AuditHandshakes {
    let policy: PinningPolicy
    /// A Boolean value that indicates whether the user named a policy file. Without one, a missing rule is no problem.
    let hasPolicyFile: Bool
    let lint: LiveLint
    let basis: AuditBasis
    let validator: PathValidator
    let proxies: ProxyEnvironment
    let configuration: TLSClient.Configuration
    let parallel: Int
    /// The instant at which the audit begins.
    let start: Date
    /// The client's identity, for servers that ask for one; `nil` if there is none.
    var identity: ClientIdentity?
    /// Runs before each verdict, on its thread: for tests.
    var beforeVerdict: @Sendable () -> Void = {}

    /// Asks the servers. Ends within about a second after `goesOn` returns `false`, even while a verdict runs.
    ///
    /// - Parameters:
    ///   - handle: called with each line of NDJSON. An error that it throws ends the audit.
    ///   - goesOn: called at least ten times a second.
    /// - Returns: `true` if every server was asked.
    func run(
        _ servers: [AuditServer], handle: ([UInt8]) throws(ToolError) -> Void, goesOn: () -> Bool
    ) throws(ToolError) -> Bool {
        let thread = try AuditThread()
        return try thread.run(
            { Result { () throws(ToolError) in try ask(servers, for: thread) } }, handle: handle, goesOn: goesOn)
    }

    private func ask(_ servers: [AuditServer], for thread: AuditThread) throws(ToolError) -> Bool {
        var servers = servers.makeIterator()
        let beginning = ContinuousClock.now
        let failure = LiveHandshake.Kept<ToolError>()
        let loop: HandshakeLoop
        let isDone: Bool
        do throws(HandshakeError) {
            loop = try HandshakeLoop(configuration, atMost: parallel)
            isDone = try loop.run(
                next: { servers.next().map { order($0, thread, failure, since: beginning) } },
                goesOn: { failure.value == nil && !thread.isStopped })
        } catch {
            throw ToolError(error)
        }
        if let failure = failure.value { throw failure }
        return isDone
    }

    private func order(
        _ target: AuditServer, _ thread: AuditThread, _ failure: LiveHandshake.Kept<ToolError>,
        since beginning: ContinuousClock.Instant
    ) -> HandshakeOrder {
        let begin = ContinuousClock.now
        let instant = start.addingTimeInterval((begin - beginning) / .seconds(1))
        let handshake = HandshakeTarget(target.endpoint, connectTo: target.connectTo)
        let verdict = LiveVerdict(
            of: target.endpoint, by: policy, validator: validator, instant: instant, identity: identity,
            families: lint.families)
        let presented = LiveHandshake.Kept<[[UInt8]]>()
        let arrival = LiveHandshake.Kept<ContinuousClock.Instant>()
        return HandshakeOrder(
            handshake, via: proxies.proxy(for: target.endpoint, connectTo: target.connectTo),
            authentication: verdict.authentication
        ) { chain in
            // A server's time ends here. It excludes the time that this machine takes to decide.
            arrival.value = .now
            presented.value = chain.certificates
            beforeVerdict()
            return verdict.judge(chain)
        } ended: { result in
            let milliseconds = Int(begin.duration(to: arrival.value ?? .now) / .milliseconds(1))
            do throws(ToolError) {
                let outcome = LiveHandshake.Outcome(presented: presented.value, result)
                thread.put(try line(target, verdict, outcome, instant, milliseconds))
            } catch {
                failure.value = failure.value ?? error
            }
        }
    }

    /// - Throws: a failure of this machine, which says nothing about the server.
    private func line(
        _ target: AuditServer, _ verdict: LiveVerdict, _ outcome: LiveHandshake.Outcome, _ instant: Date,
        _ milliseconds: Int
    ) throws(ToolError) -> [UInt8] {
        func line(_ answer: AuditResult.Answer) -> [UInt8] {
            AuditResult(server: target, instant: instant, milliseconds: milliseconds, basis: basis, answer: answer).line
        }
        let facts: CheckFacts
        do throws(ToolError) {
            facts = try verdict.facts(outcome)
        } catch {
            guard error.code != HandshakeError.Code.noResources.rawValue else { throw error }
            return line(.failed(policy.rule(for: target.endpoint), error))
        }
        let fragility = lint.fragility(of: facts, connectTo: target.connectTo)
        var entries = lint.entries(on: facts, fragility)
        if !hasPolicyFile { entries.removeAll { $0.problem.id == LiveProblem.noRule.rawValue } }
        let result = line(.decided(facts, entries, fragility))
        facts.connection?.close()
        return result
    }
}

extension LiveHandshake.Outcome {
    init(presented: [[UInt8]]?, _ result: Result<TLSConnection, HandshakeError>) {
        switch result {
        case .success(let connection): self.init(presented: presented, connection: connection, error: nil)
        case .failure(let error): self.init(presented: presented, connection: nil, error: error)
        }
    }
}
