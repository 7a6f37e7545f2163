internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintleSystem
internal import PintleTestKit
internal import PintleText

/// A rehearsal with a command, which the tool runs again for each attack.
final class ClientRehearsal {
    private let invocation: Invocation
    private let hosts: [AttackedHost]
    private let client: Client
    private let request: RehearsalRequest
    /// The common names of the roots that a device may have been made to trust; empty if none can reach the proxy.
    private let roots: [String]
    private let start = ContinuousClock.now

    private var console: Console { invocation.console }
    private var isProxied: Bool { request.proxyAddress != nil }

    init(
        _ invocation: Invocation, hosts: [AttackedHost], client: Client, request: RehearsalRequest, roots: [String]
    ) {
        (self.invocation, self.hosts) = (invocation, hosts)
        (self.client, self.request, self.roots) = (client, request, roots)
    }

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let folder = try TemporaryDirectory.make()
        // Keep the folder until the clients have ended: they read its files.
        defer { withExtendedLifetime(folder) {} }
        guard let first = hosts.first else { throw .unusable("nothing-run", "proves nothing: no host is named") }
        let runner = ClientRunner(
            client, hosts: try TrustMaterial.fill(hosts, in: folder), proxyAddress: request.proxyAddress,
            keepsTranscripts: request.evidence != nil)
        var rows = RehearsalRows(showsAll: invocation.isVerbose, namesHosts: hosts.count > 1)

        let runs: [ClientRun]
        do throws(ClientRunError) {
            runs = try runner.runControl(timeout: request.timeout, isCancelled: { Interrupts.areAsking })
        } catch {
            throw ToolError(error, proxiedAt: request.proxyAddress)
        }
        let behaviors = runs.map { ControlBehavior($0.observation) }
        var outcomes: [Outcome] = []
        for index in hosts.indices { outcomes.append(try outcome(index, runs[index], behaviors[index])) }
        guard outcomes.contains(where: { $0.verdict != .notRun }) else { throw missedProxy(runs[0]) }
        for outcome in outcomes where !invocation.writesJSON { invocation.print(rows.control(outcome)) }
        if let control = behaviors.compactMap(\.self).first, !control.endsWell { warn(runs[0]) }

        let jobs = Jobs(hosts, behaviors, outcomes, client)
        let limit = ClientTimeLimit(
            fixed: request.timeout, controlSeconds: runs[0].controlSeconds, parallel: request.parallel)
        let trials = TrialRunner(runner, hosts: hosts, controls: behaviors, runs: runs, limit: limit)
        let attacked = try attack(jobs, trials, &rows)
        let timing = RehearsalTiming(
            parallel: min(request.parallel, jobs.startOrder.count), limit: limit,
            withoutHold: jobs.all.contains { $0.scenario.group == .hold } ? start.duration(to: attacked.lastEnd) : nil)
        let report = RehearsalReport(
            client: client.line, controls: outcomes, outcomes: attacked.outcomes, now: invocation.now,
            duration: start.duration(to: .now), advice: RehearsalAdvice(attacked.outcomes, client: client).lines,
            timing: jobs.startOrder.isEmpty ? nil : timing,
            proxy: isProxied
                ? RehearsalReport.ProxyFacts(
                    unlistedHosts: runs[0].unlistedHosts + attacked.unlistedHosts, roots: roots)
                : nil,
            notChosen: ScenarioChoice(invocation.arguments).left(of: first.catalogue),
            evidence: request.evidence, anchorsPEM: first.catalogue.certificates.anchorsPEM)
        return try report.conclude(after: rows.rest, invocation)
    }

    private struct Attacked {
        var outcomes: [Outcome] = []
        var unlistedHosts: [Proxy.UnlistedHost] = []
        /// The end of the last attack outside the group `hold`.
        var lastEnd: ContinuousClock.Instant
    }

    private struct TimedRuns: Sendable {
        var runs: TrialRunner.Runs
        var end: ContinuousClock.Instant
    }

    private struct Jobs {
        /// With the client's behavior at the host's right server; `nil` if it accepted no right server there.
        var all: [(host: Int, scenario: Scenario, control: ControlBehavior?)] = []
        /// The reason why an attack is not run, by its number.
        var notRun: [Int: String] = [:]
        /// The numbers of the attacks to run, in the order in which they start: first the servers that hold the client,
        /// because they take its time-out.
        var startOrder: [Int] = []

        init(_ hosts: [AttackedHost], _ behaviors: [ControlBehavior?], _ outcomes: [Outcome], _ client: Client) {
            for (index, host) in hosts.enumerated() {
                for scenario in host.scenarios {
                    if let control = behaviors[index] {
                        notRun[all.count] = control.obstacle(
                            to: scenario, hasSecondPin: client.isTold.secondPin, hasIdentity: client.isTold.identity)
                    } else {
                        notRun[all.count] = outcomes[index].wasPlainHTTP ? Outcome.plainHTTP : Outcome.notAsked
                    }
                    all.append((index, scenario, behaviors[index]))
                }
            }
            let run = all.indices.filter { notRun[$0] == nil }
            startOrder =
                run.filter { all[$0].scenario.group == .hold } + run.filter { all[$0].scenario.group != .hold }
        }
    }

    /// Runs the attacks, and prints each outcome as soon as those before it are there. From the first that depends on
    /// other runs, outcomes are printed when all runs have ended. If the user interrupts the tool, those that depend on
    /// no other run are printed.
    private func attack(
        _ jobs: Jobs, _ trials: TrialRunner, _ rows: inout RehearsalRows
    ) throws(ToolError) -> Attacked {
        let running = OrderedJobs(jobs.startOrder, atOnce: request.parallel) {
            [all = jobs.all] number, isCancelled -> Result<TimedRuns, ClientRunError> in
            let (index, scenario, control) = all[number]
            // An attack without it has a reason not to run.
            guard let control else { return .failure(.cancelled) }
            return Result { () throws(ClientRunError) in
                let runs = try trials.run(scenario, at: index, control: control, isCancelled: isCancelled)
                return TimedRuns(runs: runs, end: .now)
            }
        }
        defer { running.close() }
        let progress = ProgressLine(console, environment: invocation.environment)
        var attacked = Attacked(lastEnd: start)
        var timed: [Int: TimedRuns] = [:]
        do throws(ClientRunError) {
            for number in jobs.all.indices {
                if jobs.notRun[number] == nil {
                    timed[number] = try running.result(of: number) {
                        progress.draw { _ in
                            "\(running.finishedCount + 1)/\(jobs.startOrder.count)  \(jobs.all[number].scenario.id)"
                        }
                    }.get()
                    progress.erase()
                }
                if !timed.values.contains(where: \.runs.isOpen) { add(number, jobs, timed[number], &attacked, &rows) }
            }
            try settle(&timed, jobs, trials, progress)
        } catch {
            if case .cancelled = error {
                running.close()
                for number in attacked.outcomes.count..<jobs.all.count where jobs.notRun[number] == nil {
                    let found = timed[number] ?? (try? running.finished(number)?.get())
                    if let found, !found.runs.isOpen { add(number, jobs, found, &attacked, &rows) }
                }
            }
            throw ToolError(error, proxiedAt: request.proxyAddress)
        }
        for number in attacked.outcomes.count..<jobs.all.count { add(number, jobs, timed[number], &attacked, &rows) }
        return attacked
    }

    /// Runs undecided attacks again, when all others have ended, and withdraws refusals that other runs contradict.
    private func settle(
        _ timed: inout [Int: TimedRuns], _ jobs: Jobs, _ trials: TrialRunner, _ progress: ProgressLine
    ) throws(ClientRunError) {
        defer { progress.erase() }
        let open = timed.filter(\.value.runs.isOpen).keys.sorted()
        for number in open {
            guard var found = timed[number] else { continue }
            progress.draw { _ in "\(jobs.all[number].scenario.id), again" }
            // A client that runs without others gives up less often.
            let isUndecided = found.runs.isUndecided
            try trials.runAlone(&found.runs) { Interrupts.areAsking }
            if isUndecided { found.end = .now }
            timed[number] = found
        }
        for number in open {
            guard let found = timed[number] else { continue }
            try trials.runControls(for: found.runs) { Interrupts.areAsking }
        }
        for number in open {
            guard var found = timed[number] else { continue }
            trials.confirm(&found.runs)
            timed[number] = found
        }
    }

    /// Adds and prints the outcome of an attack.
    private func add(
        _ number: Int, _ jobs: Jobs, _ timed: TimedRuns?, _ attacked: inout Attacked, _ rows: inout RehearsalRows
    ) {
        let (index, scenario, _) = jobs.all[number]
        var outcome = timed?.runs.outcome ?? Outcome(scenario, .notRun, remark: jobs.notRun[number])
        outcome.host = place(index)
        if let timed {
            attacked.unlistedHosts += timed.runs.unlistedHosts
            if scenario.group != .hold { attacked.lastEnd = max(attacked.lastEnd, timed.end) }
        }
        attacked.outcomes.append(outcome)
        if !invocation.writesJSON { invocation.print(rows.row(outcome)) }
    }

    /// Returns the host as results name it.
    private func place(_ index: Int) -> String? { request.namesHosts ? hosts[index].authority : nil }

    /// Returns the outcome of the right server for one host. Throws if the client refuses it, because the rehearsal
    /// then proves nothing. A request without TLS through the proxy is a finding, because the client chose the URL.
    private func outcome(_ index: Int, _ run: ClientRun, _ control: ControlBehavior?) throws(ToolError) -> Outcome {
        let scenario = hosts[index].catalogue.control
        if control != nil || isProxied && run.observation.exposedByteCount > 0 {
            return run.outcome(ofControl: scenario, host: place(index))
        }
        guard isProxied, run.observation.connectionCount == 0 else {
            throw failedControl(run, resolvedHost: request.namesHosts && !isProxied ? hosts[index].name : nil)
        }
        var outcome = Outcome(scenario, .notRun, remark: Outcome.notAsked)
        outcome.host = hosts[index].authority
        return outcome
    }

    // MARK: Rehearsals that prove nothing

    /// Prints the last lines that the client wrote.
    private func printWords(of run: ClientRun, most: Int) {
        for line in ClientWords(run.words).last(most) { console.printMessage("  " + line) }
    }

    private func warn(_ run: ClientRun) {
        console.warn(
            "the client sends the right server its request and then "
                + (run.observation.process?.exitCode.map { "ends with exit code \($0)" } ?? "does not end")
                + "; what counts is what servers get")
        printWords(of: run, most: 3)
    }

    /// Prints the client's own words and returns the error for a client that did not accept the right server.
    ///
    /// - Parameter resolvedHost: the name of `--host`, if the client finds it by its own means.
    private func failedControl(_ run: ClientRun, resolvedHost: String?) -> ToolError {
        printWords(of: run, most: 20)
        let (observation, isTimedOut) = (run.observation, run.process.end == .timedOut)
        var hint = "the command as given: " + client.line
        let message: String
        if observation.exposedByteCount > 0 {
            message = "the client sent the right server its request without TLS"
            hint = "{url} begins with https, and the client must keep to it"
        } else if observation.connectionCount == 0, isTimedOut {
            message = "\(observation.process?.ended ?? "it") before it connected to the right server"
            hint = "\(Outcome.moreTime); " + hint
        } else if observation.connectionCount == 0 {
            message = "the client did not connect to the right server"
            if client.hasOwnHosts {
                hint =
                    "--resolve-by hosts needs root or user namespaces, which the lines above may say are missing; "
                    + hint
            } else if let resolvedHost {
                hint =
                    "does it find \(resolvedHost) at 127.0.0.1? with curl: --resolve {host}:{port}:127.0.0.1; with any "
                    + "client: --resolve-by hosts"
            }
        } else if isTimedOut {
            message = "the client did not end within \(Outcome.seconds(observation.process?.timeout ?? 0))"
            hint = "\(Outcome.moreTime); " + hint
        } else {
            if !client.uses("ca"), !client.uses("policy") {
                hint = "does it trust the rehearsal's authorities? {ca} is their file, as in curl --cacert {ca}"
            } else if !client.isTold.pin {
                hint = "does it have pins of its own? give it {pins}, or see --survey; " + hint
            }
            if let doubt = observation.doubtAboutRefusal {
                message = "the control is inconclusive: the client sent the valid server no request, and \(doubt.words)"
                hint = "if it gave up, give it a longer time-out of its own; " + hint
            } else {
                message = "the client refused even the valid server"
            }
        }
        let end = observation.process?.exitCode.map { " (exit code \($0))" } ?? ""
        return .unusable("control-failed", "proves nothing: \(message)\(end)", hint: hint)
    }

    /// Prints the client's own words and returns the error for a client that did not ask the proxy for any named host.
    private func missedProxy(_ run: ClientRun) -> ToolError {
        printWords(of: run, most: 20)
        let others = run.unlistedHosts.map(\.authority)
        return .unusable(
            "proxy-not-used", "proves nothing: \(Outcome.missedProxy) for a named host",
            hint: others.isEmpty
                ? ToolError.proxyHint
                : "it asked for \(SafeText.escape(others.prefix(5).joined(separator: ", "))): name these with --host")
    }
}

extension ToolError {
    /// The hint for a client that does not use the proxy.
    static let proxyHint = "give the client the proxy {proxy}; HTTPS_PROXY, https_proxy and ALL_PROXY have it too"

    /// Creates the error for a client that cannot be run.
    ///
    /// - Parameter address: the address of the proxy; `nil` without one.
    init(_ error: ClientRunError, proxiedAt address: Proxy.Address?) {
        self =
            switch error {
            case .noServer(let error):
                .unusable(
                    "no-server", "a server cannot be started on loopback: \(error)",
                    hint: address?.literal == nil
                        ? nil : "--listen takes a free port at an address of this machine")
            case .noClient(let error):
                .unusable(
                    "no-client", "the client cannot be run: \(error)",
                    hint:
                        "name a program that is on the PATH, or write ./client; for a line of shell: sh -c '... {url}'")
            case .cancelled: .unusable("interrupted", "interrupted")
            }
    }
}

extension Client {
    /// The command line as a user types it.
    var line: String { words.map(ShellWord.quoted).joined(separator: " ") }
}

/// The time that a rehearsal took.
struct RehearsalTiming {
    /// The number of attacks that ran at the same time.
    let parallel: Int
    /// The time limit of the client.
    let limit: ClientTimeLimit
    /// The time until the last attack ended that is not of the group `hold`; `nil` without attacks of that group.
    let withoutHold: Duration?

    /// `4 attacks at once; time-out 5 s; 0.4 s without the group hold`
    var sentence: String {
        var parts = [parallel > 1 ? "\(parallel) attacks at once" : "one attack at a time"]
        let isMeasured = !limit.isFixed && limit.first != ClientTimeLimit.standard
        parts.append(
            "time-out \(Outcome.seconds(limit.first))" + (isMeasured ? ", for a client that starts slowly" : "")
                + (limit.seconds > limit.first
                    ? ", later \(Outcome.seconds(limit.seconds)) for a client that became slower" : ""))
        if let withoutHold { parts.append("\(ValidityText.seconds(withoutHold)) without the group hold") }
        return parts.joined(separator: "; ")
    }
}
