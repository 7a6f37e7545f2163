internal import Synchronization

/// Runs attacks on a client, and runs an attack again if the first run does not tell a refusal from a client that gave
/// up. Threads may share it.
package final class TrialRunner: Sendable {
    private let runner: ClientRunner
    private let hosts: [AttackedHost]
    private let controls: [ControlBehavior?]
    private let limit: ClientTimeLimit

    /// One run of the client at the right servers, between the attacks.
    private struct ControlRun {
        let begin: ContinuousClock.Instant
        /// The indices of the hosts whose right server the client accepted, ending as in its first run.
        let accepted: Set<Int>
    }

    private struct State {
        var habits: [Int: ClientHabit] = [:]
        var controlRuns: [ControlRun] = []
        /// The indices of the hosts at which the client ended without a request at a server that it accepts. That is
        /// the right server on the way to an attack, or an attack that it then sent a request.
        var failing: Set<Int> = []
    }

    private let state: Mutex<State>
    /// Held while the client runs at a server whose result several attacks use.
    private let turn = Mutex(())

    /// The most runs of an attack.
    private static let runLimit = 6
    /// The number of failures at the right server in a row after which no attack is repeated.
    private static let failureLimit = 3
    /// A server that every client must refuse.
    private static let unacceptable = "self-signed"

    /// - Parameter runs: The runs at the right servers, one for each host.
    package init(
        _ runner: ClientRunner, hosts: [AttackedHost], controls: [ControlBehavior?], runs: [ClientRun],
        limit: ClientTimeLimit
    ) {
        (self.runner, self.hosts, self.controls, self.limit) = (runner, hosts, controls, limit)
        var habits: [Int: ClientHabit] = [:]
        for (index, run) in runs.enumerated() {
            habits[index, default: .init()].isControlled = true
            habits[index]?.add(acceptance: run.observation)
        }
        state = Mutex(State(habits: habits))
    }

    /// The runs of one attack.
    package struct Runs: Sendable {
        fileprivate let scenario: Scenario
        fileprivate let index: Int
        fileprivate let control: ControlBehavior
        fileprivate var runs: [(run: ClientRun, begin: ContinuousClock.Instant)] = []
        /// The outcome of the last run.
        package fileprivate(set) var outcome: Outcome
        /// The most runs.
        fileprivate var limit = TrialRunner.runLimit

        /// The hosts that the client asked the proxy for and that are not named.
        package var unlistedHosts: [Proxy.UnlistedHost] { runs.flatMap(\.run.unlistedHosts) }

        /// A Boolean value that indicates whether the outcome is a refusal that stands on equal ends.
        fileprivate var needsControl: Bool { outcome.verdict == .blocked && !isCertain }

        /// A Boolean value that indicates whether another run may decide.
        package var isUndecided: Bool { outcome.doubt != nil && runs.count < limit }

        /// A Boolean value that indicates whether the outcome depends on what the client does in other runs.
        package var isOpen: Bool { isUndecided || needsControl }
    }

    /// Runs a scenario on one host. Other attacks may run at the same time.
    package func run(
        _ scenario: Scenario, at index: Int, control: ControlBehavior, isCancelled: () -> Bool
    ) throws(ClientRunError) -> Runs {
        var runs = Runs(scenario: scenario, index: index, control: control, outcome: Outcome(scenario, .notRun))
        try add(to: &runs, isCancelled)
        guard runs.isUndecided else { return runs }
        try measureRefusal(at: index, isAgain: false, isCancelled)
        judge(&runs)
        guard runs.isUndecided, !hasFailedControl(index) else { return runs }
        // Equal runs are repeated here, because a run without other clients costs the rehearsal its whole time.
        repeat {
            try add(to: &runs, isCancelled)
            guard !runs.isCertain else { return runs }
            try turn.withLock { _ throws(ClientRunError) in
                if !state.withLock({ $0.controlRuns.contains { $0.begin >= runs.lastBegin } }) {
                    try runControl(isCancelled)
                }
            }
        } while runs.outcome.doubt == .few && runs.isUndecided && !hasFailedControl(index)
        confirm(&runs)
        return runs
    }

    /// Runs an undecided scenario again, when no other client runs.
    package func runAlone(_ runs: inout Runs, isCancelled: () -> Bool) throws(ClientRunError) {
        guard runs.isUndecided else { return }
        try measureRefusal(at: runs.index, isAgain: true, isCancelled)
        judge(&runs)
        runs.limit = max(Self.runLimit, runs.runs.count + Evidence.repetitions - 1)
        for _ in 0..<Self.runLimit {
            guard runs.isUndecided, !hasGivenUp else { break }
            try runControl(isCancelled)
            guard didLastControlEndWell(runs.index) else { continue }
            try add(to: &runs, isCancelled)
            guard runs.outcome.verdict == .blocked, !runs.isCertain else { continue }
            try runControl(isCancelled)
            confirm(&runs)
        }
        confirm(&runs)
    }

    /// A Boolean value that indicates whether the client has failed at the right server too often.
    private var hasGivenUp: Bool {
        state.withLock { state in
            let last = state.controlRuns.suffix(Self.failureLimit)
            return last.count == Self.failureLimit && last.allSatisfy(\.accepted.isEmpty)
        }
    }

    private func didLastControlEndWell(_ index: Int) -> Bool {
        state.withLock { $0.controlRuns.last?.accepted.contains(index) == true }
    }

    /// Runs the client at the right servers until refusals that stand on equal ends can be confirmed. A client that
    /// gives up now and then ends two runs alike by chance.
    package func runControls(for runs: Runs, isCancelled: () -> Bool) throws(ClientRunError) {
        guard runs.needsControl else { return }
        while !hasFailedControl(runs.index), state.withLock({ $0.controlRuns.count < Evidence.repetitions }) {
            try runControl(isCancelled)
        }
    }

    private func add(to runs: inout Runs, _ isCancelled: () -> Bool) throws(ClientRunError) {
        let (begin, doubt) = (ContinuousClock.now, runs.outcome.doubt)
        let run = try runner.run(
            runs.scenario, at: runs.index, limit: limit, control: runs.control, isCancelled: isCancelled)
        runs.runs.append((run, begin))
        judge(&runs)
        let hasChanged = doubt != nil && (runs.outcome.verdict == .letThrough || runs.outcome.verdict == .accepted)
        if hasChanged || run.observation.hasFailedOnTheWay(to: runs.scenario) {
            let index = runs.index
            state.withLock { _ = $0.failing.insert(index) }
        }
    }

    /// Judges the last run with those before it.
    private func judge(_ runs: inout Runs) {
        guard let last = runs.runs.last?.run else { return }
        let habit = state.withLock { $0.habits[runs.index] } ?? ClientHabit()
        let outcome = Outcome(
            runs.scenario, last.observation, beside: runs.control, trials: runs.runs.map(\.run.observation.trial),
            habit: habit)
        runs.outcome = last.complete(outcome, host: nil)
    }

    /// Withdraws a refusal that stands on equal ends, if the client has also failed at the right server. A busy
    /// machine, or the client's own time-out, may then have ended it. A later run of any attack can show that.
    package func confirm(_ runs: inout Runs) {
        guard runs.outcome.verdict == .blocked || runs.outcome.doubt != nil, !runs.isCertain else { return }
        if hasFailedControl(runs.index) { runs.outcome.withdraw(.failedControl) }
    }

    /// Returns `true` if the client has failed in any run after the first at a server of the host that it accepts.
    private func hasFailedControl(_ index: Int) -> Bool {
        state.withLock { state in
            state.failing.contains(index) || state.controlRuns.contains { !$0.accepted.contains(index) }
        }
    }

    /// Runs the client at the right servers.
    private func runControl(_ isCancelled: () -> Bool) throws(ClientRunError) {
        let begin = ContinuousClock.now
        let runs = try runner.runControl(
            timeout: limit.isFixed ? limit.seconds : nil,
            isKnownToEnd: controls.compactMap(\.self).allSatisfy(\.endsByItself), isCancelled: isCancelled)
        let accepted = runs.indices.filter { index in
            guard let now = ControlBehavior(runs[index].observation), let first = controls[index] else { return false }
            return now.isLike(first)
        }
        state.withLock { state in
            state.controlRuns.append(ControlRun(begin: begin, accepted: Set(accepted)))
            for index in accepted { state.habits[index, default: .init()].add(acceptance: runs[index].observation) }
        }
    }

    /// Measures how the client refuses, and how long that takes.
    ///
    /// - Parameter isAgain: `true` to measure it again, because the machine may have become slower.
    private func measureRefusal(
        at index: Int, isAgain: Bool, _ isCancelled: () -> Bool
    ) throws(ClientRunError) {
        guard let scenario = hosts[index].catalogue[Self.unacceptable], let control = controls[index] else { return }
        try turn.withLock { _ throws(ClientRunError) in
            guard isAgain || !state.withLock({ $0.habits[index]?.isMeasured == true }) else { return }
            let run = try runner.run(scenario, at: index, limit: limit, control: control, isCancelled: isCancelled)
            state.withLock { $0.habits[index, default: .init()].add(refusals: run.observation) }
        }
    }
}

extension TrialRunner.Runs {
    /// A Boolean value that indicates whether the last run decides without those before it.
    fileprivate var isCertain: Bool {
        guard outcome.doubt == nil else { return false }
        guard outcome.verdict == .blocked, runs.count > 1, let trial = runs.last?.run.observation.trial else {
            return true
        }
        return !trial.ends.isEmpty && trial.ends.allSatisfy(\.isRefusal)
    }

    fileprivate var lastBegin: ContinuousClock.Instant { runs.last?.begin ?? .now }
}
