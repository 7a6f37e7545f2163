internal import Pintle
internal import PintleSystem
internal import PintleTestKit

/// One rehearsal, which starts the client again for each attack.
final class RehearsalRun {
    private let invocation: Invocation
    private let hosts: [RehearsedHost]
    private let client: ClientCommand
    private let settings: RehearsalSettings
    private let start = ContinuousClock.now

    private var console: Console { invocation.console }
    private var isProxied: Bool { settings.proxied != nil }

    init(
        _ invocation: Invocation, hosts: [RehearsedHost], client: ClientCommand, settings: RehearsalSettings
    ) {
        (self.invocation, self.hosts) = (invocation, hosts)
        (self.client, self.settings) = (client, settings)
    }

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let folder: TemporaryDirectory
        do { folder = try TemporaryDirectory() } catch { throw .unusable("unwritable-file", "\(error)") }
        // Keep the folder until the clients have ended: they read its files.
        defer { withExtendedLifetime(folder) {} }
        guard let first = hosts.first else { throw .unusable("nothing-run", "proves nothing: no host is named") }
        var values: [[String: String]] = []
        for host in hosts {
            let kit = try RehearsalKit(host.catalogue.cast, hosts: hosts.map(\.name))
            values.append(try kit.values(folder: folder, number: values.count))
        }
        let player = RehearsalPlayer(
            hosts: hosts, client: client, values: values, proxied: settings.proxied,
            keepsTranscripts: settings.evidence != nil)
        let text = RehearsalText(console: console, showsAll: invocation.isVerbose, namesHosts: hosts.count > 1)

        let plays = try player.playControl(timeout: settings.timeout)
        let judges = plays.map { RehearsalJudge(control: $0.evidence) }
        var controls: [RehearsalResult] = []
        for index in hosts.indices { controls.append(try control(index, plays[index], judges[index])) }
        guard controls.contains(where: { $0.outcome == .accepted }) else {
            throw RehearsalFailure(client: client, play: plays[0]).notProxied(console)
        }
        for control in controls where !invocation.writesJSON {
            for line in text.control(control) { console.print(line) }
        }
        if let judge = judges.compactMap(\.self).first, !judge.endsWell { warn(plays[0]) }

        let jobs = jobs(judges)
        let timeout = settings.timeout(afterStart: plays[0].evidence.startSeconds)
        let limit = RehearsalTimeLimit(seconds: timeout, isFixed: settings.timeout != nil)
        let played = try play(jobs, player, judges, limit, text)
        let timing = RehearsalTiming(
            parallel: min(settings.parallel, jobs.beginning.count), timeout: timeout, lastTimeout: limit.seconds,
            isMeasured: settings.timeout == nil && timeout != RehearsalPlayer.standardTimeout,
            withoutHold: jobs.attacks.contains { $0.attack.group == .hold } ? start.duration(to: played.lastEnd) : nil)
        let refusals = (plays.first?.refusals ?? []) + played.refusals
        let report = RehearsalReport(
            client: client.line, controls: controls, results: played.results, now: invocation.now,
            duration: start.duration(to: .now), advice: RehearsalAdvice(played.results, client: client).lines,
            timing: timing, proxy: isProxied ? RehearsalReport.Proxy(refusals: refusals, roots: settings.roots) : nil,
            evidence: settings.evidence, anchorsPEM: first.catalogue.cast.anchorsPEM)
        return try report.conclude(text, invocation)
    }

    private struct Played {
        var results: [RehearsalResult] = []
        var refusals: [AttackProxy.Refusal] = []
        /// The end of the last attack outside the group `hold`.
        var lastEnd: ContinuousClock.Instant
    }

    /// Runs the attacks, and prints each result as soon as those before it are there.
    private func play(
        _ jobs: Jobs, _ player: RehearsalPlayer, _ judges: [RehearsalJudge?], _ limit: RehearsalTimeLimit,
        _ text: RehearsalText
    ) throws(ToolError) -> Played {
        let running = OrderedJobs(jobs.beginning, atOnce: settings.parallel) {
            [attacks = jobs.attacks] number, isCancelled -> Result<Timed<RehearsalPlay>, ToolError> in
            do throws(ToolError) {
                let (index, attack) = attacks[number]
                let play = try player.play(
                    attack, at: index, limit: limit, judge: judges[index], isCancelled: isCancelled)
                return .success(Timed(value: play, end: .now))
            } catch {
                return .failure(error)
            }
        }
        defer { running.close() }
        var played = Played(lastEnd: start)
        for (number, (index, attack)) in jobs.attacks.enumerated() {
            let result: RehearsalResult
            if let judge = judges[index], jobs.notRun[number] == nil {
                let job = running.result(of: number) {
                    text.progress(
                        attack, running.finishedCount, of: jobs.beginning.count, after: start.duration(to: .now))
                }
                text.eraseProgress()
                let timed = try job.get()
                played.refusals += timed.value.refusals
                if attack.group != .hold { played.lastEnd = max(played.lastEnd, timed.end) }
                result = self.result(attack, index, judge.judge(attack, timed.value.evidence), timed.value)
            } else {
                result = RehearsalResult(
                    attack: attack, host: place(index), outcome: .notRun, remark: jobs.notRun[number])
            }
            played.results.append(result)
            if !invocation.writesJSON { for line in text.row(result) { console.print(line) } }
        }
        return played
    }

    /// Returns the host as results name it.
    private func place(_ index: Int) -> String? { settings.namesHosts ? hosts[index].authority : nil }

    private struct Timed<Value: Sendable>: Sendable {
        let value: Value
        let end: ContinuousClock.Instant
    }

    private struct Jobs {
        var attacks: [(host: Int, attack: Attack)] = []
        /// The reason why an attack is not run, by its number.
        var notRun: [Int: String] = [:]
        /// The numbers in the order of beginning: first the servers that hold the client, because they take its time-out.
        var beginning: [Int] = []
    }

    private func jobs(_ judges: [RehearsalJudge?]) -> Jobs {
        var jobs = Jobs()
        for (index, host) in hosts.enumerated() {
            for attack in host.attacks {
                if let judge = judges[index] {
                    jobs.notRun[jobs.attacks.count] = judge.obstacle(to: attack, for: client)
                } else {
                    jobs.notRun[jobs.attacks.count] = RehearsalResult.notAsked
                }
                jobs.attacks.append((index, attack))
            }
        }
        let run = jobs.attacks.indices.filter { jobs.notRun[$0] == nil }
        let holding = run.filter { jobs.attacks[$0].attack.group == .hold }
        jobs.beginning = holding + run.filter { jobs.attacks[$0].attack.group != .hold }
        return jobs
    }

    /// Returns the result of the right server for one host. Throws if the client refuses it, because the rehearsal then proves
    /// nothing.
    private func control(
        _ index: Int, _ play: RehearsalPlay, _ judge: RehearsalJudge?
    ) throws(ToolError) -> RehearsalResult {
        let attack = hosts[index].catalogue.control
        if judge != nil { return result(attack, index, (.accepted, nil), play) }
        guard isProxied, play.evidence.observation.connections.isEmpty else {
            let resolved = settings.namesHosts && !isProxied ? hosts[index].name : nil
            throw RehearsalFailure(client: client, play: play, resolvedHost: resolved).error(console)
        }
        return RehearsalResult(
            attack: attack, host: hosts[index].authority, outcome: .notRun, remark: RehearsalResult.notAsked)
    }

    private func result(
        _ attack: Attack, _ index: Int, _ verdict: (RehearsalOutcome, remark: String?), _ play: RehearsalPlay
    ) -> RehearsalResult {
        let (observation, process) = (play.evidence.observation, play.process)
        return RehearsalResult(
            attack: attack, host: place(index), outcome: verdict.0,
            requestBytes: observation.exposedByteCount, connection: observation.decisiveConnection,
            milliseconds: process.milliseconds, clientExit: play.evidence.clientExit,
            alert: observation.alert.map { "\($0)" }, applicationProtocol: observation.applicationProtocol,
            remark: verdict.remark,
            clientWords: process.stderr.isEmpty ? process.stdout : process.stderr,
            transcripts: play.transcripts)
    }

    private func warn(_ play: RehearsalPlay) {
        console.warn(
            "the client sends the right server its request and then "
                + (play.evidence.clientExit.map { "ends with exit code \($0)" } ?? "does not end")
                + "; what counts is what servers get")
        RehearsalFailure(client: client, play: play).printOutput(console, most: 3)
    }
}
