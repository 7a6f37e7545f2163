internal import PintleTestKit

/// The outcome of one scenario: the observations of a client, and the verdict.
package struct Outcome: Sendable {
    package enum Verdict: String, Sendable {
        case accepted
        case blocked
        /// The client sent its request or its certificate to the wrong server, or took it for the right one.
        case letThrough = "let-through"
        /// The client ended by itself at a server that only asks for that.
        case ended
        /// The client did not end by itself within its time limit.
        case held
        /// The client's behavior allows no verdict.
        case inconclusive
        /// The scenario was not tried.
        case notRun = "not-run"
    }

    package let scenario: Scenario
    package internal(set) var verdict: Verdict
    /// The reason of the verdict, if it is not the usual one.
    package internal(set) var remark: String?
    package let observation: Observation
    /// The host of the scenario; `nil` for a client that is sent to the only server by its URL.
    package var host: String?
    /// The reason why the client's end of its connections is no refusal, if that is all that is missing.
    package internal(set) var doubt: Evidence.Doubt?
    /// The number of the connection that decided, from 1. Counts the connections of one run of the client, or with
    /// `--serve --proxy` all connections to the host.
    package var connection: Int?
    package var milliseconds: Int?
    /// The end of the client's standard error, or of its standard output if standard error is empty.
    package var clientWords: [UInt8] = []
    /// The bytes that the connections brought, if they were kept.
    package var transcripts: [Transcript] = []

    /// Judges a scenario.
    ///
    /// - Parameters:
    ///   - trials: The earlier trials and the one that is observed; `nil` for only that one.
    ///   - habit: The client's known decisions.
    package init(
        _ scenario: Scenario, _ observation: Observation, beside control: ControlBehavior, trials: [Trial]? = nil,
        habit: ClientHabit = ClientHabit()
    ) {
        let judgement = control.judge(scenario, observation, trials ?? [observation.trial], habit)
        self.init(scenario, judgement.verdict, remark: judgement.remark, observation: observation)
        doubt = judgement.doubt
    }

    /// Makes an outcome without a judgement: of a scenario that was not run, or of the right server.
    package init(
        _ scenario: Scenario, _ verdict: Verdict, remark: String? = nil, observation: Observation = Observation()
    ) {
        (self.scenario, self.verdict, self.remark, self.observation) = (scenario, verdict, remark, observation)
    }

    /// Makes the outcome of the right server, to which the client sent its request: over TLS or without it.
    package init(rightServer scenario: Scenario, _ observation: Observation) {
        let isPlain = observation.exposedByteCount > 0 && observation.exposedByteCount == observation.clearByteCount
        self.init(
            scenario, isPlain ? .letThrough : .accepted, remark: isPlain ? Outcome.inTheClear : nil,
            observation: observation)
    }

    /// Takes the verdict back.
    mutating func withdraw(_ doubt: Evidence.Doubt) {
        (verdict, remark, self.doubt) = (.inconclusive, doubt.words, doubt)
    }

    /// The exit status, or 128 plus the number of the signal that ended the client; `nil` if the tool killed it or did
    /// not run it.
    package var clientExit: Int32? { observation.process?.exitCode }

    /// A Boolean value that indicates whether the client bypassed TLS, which does not mean that it trusted the server.
    package var wasInTheClear: Bool { remark == Outcome.inTheClear }

    /// A Boolean value that indicates whether the client sent the right server its request without TLS, so that no
    /// attack on the host was run.
    package var wasPlainHTTP: Bool { scenario.group == nil && wasInTheClear }

    /// A Boolean value that indicates whether no client that the user starts came.
    package var wasUnmet: Bool { verdict == .notRun && remark == Outcome.noClient }

    /// A Boolean value that indicates whether another connection of a client that the user starts may decide.
    var isUndecided: Bool { doubt != nil || wasUnmet }

    /// A Boolean value that indicates whether the client showed its certificate to an interceptor.
    package var showedCertificate: Bool { remark == Outcome.showedCertificate }

    /// A Boolean value that indicates whether the client's time limit left no time for a verdict, because it may have
    /// tried again.
    package var mayHaveRetried: Bool { remark == Outcome.retried }

    /// A Boolean value that indicates whether the client never asked the proxy for the named host.
    package var wasNotAsked: Bool { remark == Outcome.notAsked }

    /// A Boolean value that indicates whether the client may have no time-out of its own: it was waiting for this
    /// server when its time was up.
    package var wasWaiting: Bool {
        if verdict == .held { return true }
        guard scenario.id == "stall-mid-handshake", verdict == .inconclusive else { return false }
        guard let process = observation.process else { return true }
        // Otherwise the client ended, or it was not at this server.
        return process.exitCode == nil && !mayHaveRetried && observation.connectionCount > 0
    }

    /// A Boolean value that indicates whether the verdict needs no action.
    package var isAsItMustBe: Bool {
        switch verdict {
        case .accepted: scenario.expectation == .accepted
        case .blocked: scenario.expectation == .refused
        case .notRun: true
        case .ended: scenario.expectation == .ended
        case .letThrough, .held, .inconclusive: false
        }
    }

    /// The explanation beside the verdict.
    package var why: String? {
        if verdict == .inconclusive || verdict == .notRun { return remark }
        guard !isAsItMustBe else { return nil }
        // The right server's impact is about clients that refuse it.
        let impact = wasPlainHTTP ? "anyone on the way can read and change it" : scenario.impact
        return [remark, impact].compactMap(\.self).joined(separator: "; ")
    }

    /// The remark for bytes that came without TLS.
    fileprivate static let inTheClear = "sent in the clear"
    /// The remark for a named host that the client did not ask the proxy for.
    package static let notAsked = "the client did not ask for this host"
    /// The remark for the attacks on a host whose right server got a request without TLS.
    package static let plainHTTP = "the client sends this host plain HTTP"
    package static let missedProxy = "it did not use the proxy"
    package static let moreTime = "give it more time with --timeout"
    fileprivate static let retried = "ended by --timeout; it may have tried again"
    fileprivate static let lacksHTTP2 = "this client speaks HTTP/1.1"
    fileprivate static let showedCertificate = "it showed its certificate"
    fileprivate static let noClient = "no client came"
    fileprivate static let noRequest = "this client sends no request"

    package static func seconds(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

/// A verdict and its reason, if that is not the usual one.
private struct Judgement {
    let verdict: Outcome.Verdict
    let remark: String?
    let doubt: Evidence.Doubt?

    init(_ verdict: Outcome.Verdict, _ remark: String? = nil) {
        (self.verdict, self.remark, doubt) = (verdict, remark, nil)
    }

    init(_ doubt: Evidence.Doubt, _ remark: String? = nil) {
        (verdict, self.remark, self.doubt) = (.inconclusive, remark ?? doubt.words, doubt)
    }
}

/// The behavior of a client at the right server, with which its behavior in each scenario is compared.
package struct ControlBehavior: Sendable {
    /// A Boolean value that indicates whether the client sends a request. If so, the request decides, otherwise the
    /// exit code.
    package let sendsRequest: Bool
    private let end: GuardedProcess.End?
    /// The protocol that ALPN selected.
    private let applicationProtocol: String?
    /// A Boolean value that indicates whether the client showed its certificate.
    private let showsCertificate: Bool

    /// The control for clients that the user starts. They send requests, and the tool does not see their end.
    package static let device = ControlBehavior()

    private init() { (sendsRequest, end, applicationProtocol, showsCertificate) = (true, nil, nil, false) }

    /// - Parameter observation: the observation of a client that the tool ran.
    /// - Returns: `nil` if the client did not accept the right server, because its other outcomes then prove nothing.
    package init?(_ observation: Observation) {
        sendsRequest = observation.exposedByteCount > observation.clearByteCount
        end = observation.process?.end
        applicationProtocol = observation.applicationProtocol
        showsCertificate = observation.hasClientCertificate
        guard sendsRequest || observation.isAcceptedInSilence else { return nil }
    }

    /// A Boolean value that indicates whether the client ends with exit code 0.
    package var endsWell: Bool { end == .exited(0) }

    /// A Boolean value that indicates whether the client ends by itself.
    var endsByItself: Bool { end != .timedOut }

    /// Returns `true` if the client sent a request in both runs or in none, and ended both alike.
    func isLike(_ other: ControlBehavior) -> Bool { sendsRequest == other.sendsRequest && end == other.end }

    /// Returns the reason why a scenario would prove nothing about the client; `nil` if it proves something.
    ///
    /// - Parameters:
    ///   - hasSecondPin: `true` if the client gets the pin of the second host.
    ///   - hasIdentity: `true` if the client gets a certificate of its own.
    package func obstacle(to scenario: Scenario, hasSecondPin: Bool, hasIdentity: Bool) -> String? {
        if scenario.needsRequest, !sendsRequest { return Outcome.noRequest }
        if scenario.needsHTTP2, scenario.offered == .http1 { return "--http 1.1 leaves HTTP/2 out" }
        if scenario.needsHTTP2, applicationProtocol != "h2" { return Outcome.lacksHTTP2 }
        if scenario.needsHTTP1, scenario.offered == .http2 { return "--http 2 leaves HTTP/1.1 out" }
        if scenario.needsSecondPin, !hasSecondPin {
            return "this client has no pin for the other host: {other-pin} is one"
        }
        if scenario.needsIdentity, !hasIdentity { return "this client has no certificate: {identity} is one" }
        if scenario.needsIdentity, !showsCertificate { return "this client showed the right server no certificate" }
        return nil
    }

    /// Returns `true` if the time limit ended the client, and more time could lead to another verdict.
    func lacksTime(_ scenario: Scenario, _ seen: Observation) -> Bool {
        guard seen.process?.end == .timedOut, endsByItself || seen.connectionCount == 0 else { return false }
        let verdict = judge(scenario, seen, [seen.trial], ClientHabit()).verdict
        return verdict == .inconclusive || verdict == .held
    }

    /// Judges a scenario. A shown certificate and bytes of a request decide first, then the reasons that allow no
    /// verdict, then the evidence of a refusal.
    fileprivate func judge(
        _ scenario: Scenario, _ seen: Observation, _ trials: [Trial], _ habit: ClientHabit
    ) -> Judgement {
        var habit = habit
        habit.slack = scenario.transferSeconds
        if scenario.needsRequest, !sendsRequest { return Judgement(.notRun, Outcome.noRequest) }
        // Of several clients that the user starts, one may use plain HTTP and another be accepted.
        let isOthers = scenario.expectation == .accepted && seen.process == nil
        if seen.clearByteCount > 0, !isOthers || seen.exposedByteCount == seen.clearByteCount {
            return Judgement(.letThrough, Outcome.inTheClear)
        }
        if scenario.needsHTTP2, seen.wasTried(scenario), seen.exposedByteCount == 0, seen.applicationProtocol != "h2" {
            return Judgement(.notRun, Outcome.lacksHTTP2)
        }
        return switch scenario.expectation {
        case .refused: refused(scenario, seen, trials, habit)
        case .accepted: accepted(scenario, seen, trials, habit)
        case .ended: ended(scenario, seen)
        }
    }

    private func refused(
        _ scenario: Scenario, _ seen: Observation, _ trials: [Trial], _ habit: ClientHabit
    ) -> Judgement {
        if scenario.needsIdentity, seen.hasClientCertificate {
            return Judgement(.letThrough, Outcome.showedCertificate)
        }
        if seen.exposedByteCount > 0 { return Judgement(.letThrough) }
        if let doubt = doubt(scenario, seen) { return doubt }
        if !sendsRequest, seen.isAcceptedInSilence { return Judgement(.letThrough, "it reports success") }
        if scenario.needsRequest, !seen.wasFollowed { return unfollowed(seen, trials) }
        // A client of a server that stalls must only give up. And a request over a connection of its own is an answer.
        let isStalled = scenario.stalls && !seen.ends.contains { $0.end.manner == .silence }
        if isStalled || seen.ends.isEmpty { return Judgement(.blocked) }
        return Evidence.doubt(about: trials, habit: habit).map { Judgement($0) } ?? Judgement(.blocked)
    }

    /// Judges a client that got a response, and did not go on to the place that it names. A client that then ends as it
    /// does at the right server had nothing more to do.
    private func unfollowed(_ seen: Observation, _ trials: [Trial]) -> Judgement {
        let isSettled =
            if let process = seen.process {
                process.end == end || trials.count > 1 && trials[trials.count - 2].process == process.end
            } else {
                seen.leadingCount > 1
            }
        return isSettled
            ? Judgement(.blocked, "it did not follow") : Judgement(.few, "it has not followed yet")
    }

    private func accepted(
        _ scenario: Scenario, _ seen: Observation, _ trials: [Trial], _ habit: ClientHabit
    ) -> Judgement {
        guard seen.exposedByteCount > 0 else {
            if !sendsRequest, seen.isAcceptedInSilence { return Judgement(.accepted) }
            if let doubt = doubt(scenario, seen) { return doubt }
            return Evidence.doubt(about: trials, habit: habit).map { Judgement($0) } ?? Judgement(.blocked)
        }
        // Exit code 0 needs no comparison: if the control run failed, the server was not the cause.
        guard seen.process?.end == end || seen.process?.end == .exited(0) else {
            let end = seen.process?.exitCode.map { "ended with exit code \($0)" } ?? "did not end"
            return Judgement(.inconclusive, "it sent its request, but \(end)")
        }
        return Judgement(.accepted)
    }

    /// Judges only whether the client ended by itself. Its request proves nothing, because the server may be the right
    /// one.
    private func ended(_ scenario: Scenario, _ seen: Observation) -> Judgement {
        if !endsByItself { return Judgement(.notRun, "this client never ends by itself") }
        if let process = seen.process, process.end == .timedOut, seen.wasTried(scenario) {
            return Judgement(.held, process.ended)
        }
        return doubt(scenario, seen) ?? Judgement(.ended)
    }

    /// Returns the judgement if there is no verdict; `nil` if there is one.
    ///
    /// A client that ends by itself at the right server but is killed in a scenario has no verdict, whatever alert it
    /// sent: it may retry. A client that never ends, not even at the right server, is judged by its connections.
    ///
    /// A crash is not a refusal, unless the client sent an alert about the certificate on every connection. For
    /// example, a Swift program that throws an error at its top level ends by a signal.
    private func doubt(_ scenario: Scenario, _ seen: Observation) -> Judgement? {
        guard let process = seen.process else { return seen.doubt(scenario) }
        if let doubt = seen.doubt(scenario, process) { return Judgement(.inconclusive, doubt) }
        if process.end == .timedOut, endsByItself { return Judgement(.inconclusive, Outcome.retried) }
        guard process.end != end, !seen.refusedEveryCertificate, let signal = process.signal else { return nil }
        return Judgement(.inconclusive, signal)
    }
}

extension Observation {
    /// A Boolean value that indicates whether a client that sends nothing finished the handshake and ended with exit
    /// code 0.
    fileprivate var isAcceptedInSilence: Bool { process?.end == .exited(0) && completedHandshakeCount > 0 }

    /// Returns the reason why there is no verdict about a client that the tool ran, for reasons that hold for every
    /// scenario.
    fileprivate func doubt(_ scenario: Scenario, _ process: ClientEnd) -> String? {
        if process.end == .timedOut, connectionCount == 0 {
            return "\(process.ended) before it connected; \(Outcome.moreTime)"
        }
        guard wasTried(scenario) else {
            guard connectionCount == 0 else { return "the client sent the right server nothing" }
            return process.isProxied ? Outcome.missedProxy : "the client did not connect"
        }
        if process.end == .timedOut, !process.wasOverWhenKilled {
            return "killed after \(Outcome.seconds(process.timeout)); no verdict"
        }
        return process.isQuiet ? nil : "a connection was still open"
    }

    /// Returns the judgement if there is no verdict about clients that the user starts.
    fileprivate func doubt(_ scenario: Scenario) -> Judgement? {
        let waiting = "a client was still waiting"
        if scenario.expectation == .ended {
            if isHeldAtEnd { return Judgement(.inconclusive, waiting) }
            if wasGivenUp { return Judgement(.inconclusive, waiting + " when the server gave up") }
        }
        // If the attack comes after a request, that request shows that the client came.
        if wasTried(scenario) { return nil }
        return openAtEndCount > 0 ? Judgement(.inconclusive, waiting) : Judgement(.notRun, Outcome.noClient)
    }
}

extension Observation.ClientEnd {
    /// A message such as `the client was ended after 5 s`.
    package var ended: String { "the client was ended after \(Outcome.seconds(timeout))" }

    /// A message such as `ended by signal 11`. If a shell ran the client, the shell's exit code tells the signal.
    fileprivate var signal: String? {
        guard let exitCode, (129...192).contains(exitCode) else { return nil }
        return "ended by signal \(exitCode - 128)"
    }
}
