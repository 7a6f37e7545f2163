internal import PintleTestKit

/// The outcome of an attack on a client.
enum RehearsalOutcome: String {
    case accepted
    case blocked
    /// The client sent its request to the wrong server, or took it for the right one.
    case letThrough = "let-through"
    /// The client ended by itself at a server that only asks for that.
    case ended
    /// The client did not end by itself within `--timeout`.
    case held
    /// The client's behaviour allows no verdict.
    case inconclusive
    /// The attack was not tried.
    case notRun = "not-run"

    /// The word in a table. Upper case marks the bad outcome without colours.
    var word: String {
        switch self {
        case .letThrough: "LET THROUGH"
        case .held: "HELD"
        case .notRun: "not run"
        default: rawValue
        }
    }
}

/// One attack and its outcome.
struct RehearsalResult {
    let attack: Attack
    /// The host of the attack; `nil` for a client that is sent to the only server by `{url}`.
    var host: String?
    var outcome: RehearsalOutcome
    /// The number of request bytes that reached the attack.
    var requestBytes = 0
    /// The number of the connection that the outcome stands on, from 1, in the order of the connections to this attack.
    var connection: Int?
    var milliseconds: Int?
    /// The exit status, or 128 plus the number of the signal that ended the client; `nil` if `pintle` killed it.
    var clientExit: Int32?
    /// The client's last fatal alert, such as `bad_certificate (42)`.
    var alert: String?
    /// The protocol that ALPN selected, such as `h2`; `nil` if the client chose none.
    var applicationProtocol: String?
    var remark: String?
    /// The beginning of the client's standard error, or of its standard output if standard error is empty.
    var clientWords: [UInt8] = []
    /// The bytes that the connections brought; empty without `--evidence`.
    var transcripts: [AttackTranscript] = []

    /// The remark for bytes that came without TLS.
    static let inTheClear = "sent in the clear"

    /// The remark for a named host that the client did not ask the proxy for.
    static let notAsked = "the client did not ask for this host"

    /// A Boolean value that indicates whether the client bypassed TLS, which does not mean that it trusted the server.
    var wasInTheClear: Bool { remark == RehearsalResult.inTheClear }

    /// A Boolean value that indicates whether the client may have no time-out of its own: it was waiting for this server when
    /// its time was up.
    var wasWaiting: Bool {
        if outcome == .held { return true }
        // Other remarks tell that the client ended, or that it was not at this server.
        let isOver =
            clientExit != nil || remark == RehearsalEvidence.mayHaveRetried
            || remark?.hasSuffix(RehearsalEvidence.remedy) == true
        return attack.id == "stall-mid-handshake" && outcome == .inconclusive && !isOver
    }

    /// A Boolean value that indicates whether the outcome needs no action.
    var isAsItMustBe: Bool {
        switch outcome {
        case .accepted: attack.expectation == .accepted
        case .blocked: attack.expectation == .refused
        case .notRun: true
        case .ended: attack.expectation == .ended
        case .letThrough, .held, .inconclusive: false
        }
    }

    /// The explanation beside the verdict.
    var why: String? {
        if outcome == .inconclusive || outcome == .notRun { return remark }
        guard !isAsItMustBe else { return nil }
        return [remark, attack.stake].compactMap(\.self).joined(separator: "; ")
    }
}

/// The behaviour of a client at one server, as both sides saw it.
struct RehearsalEvidence {
    let observation: AttackObservation
    let end: GuardedProcess.End
    /// A Boolean value that indicates whether the client had ended its connections when it was killed.
    var wasOverWhenKilled = false
    /// A Boolean value that indicates whether all connections had ended when they were observed.
    var isQuiet = true
    /// The time limit of the client, in seconds.
    let timeout: Double
    /// The time until the client ended, or if it did not end, until it connected, in seconds. Measured at the right server.
    var startSeconds = 0.0
    /// A Boolean value that indicates whether a proxy is the only way to the server.
    var isProxied = false

    private var isSuccess: Bool { end == .exited(0) }

    /// A Boolean value that indicates whether a client that sends nothing finished the handshake and ended with exit code 0.
    var isAcceptedInSilence: Bool { isSuccess && observation.completedHandshakeCount > 0 }

    var clientExit: Int32? {
        if case .exited(let status) = end { status } else { nil }
    }

    /// The reason why there is no verdict, for reasons that hold for every attack.
    var doubt: String? {
        if end == .timedOut, observation.connections.isEmpty { return "\(ended) before it connected; \(Self.remedy)" }
        guard observation.wasTried else {
            guard observation.connections.isEmpty else { return "the client sent the right server nothing" }
            return isProxied ? Self.missedProxy : "the client did not connect"
        }
        if end == .timedOut, !wasOverWhenKilled { return "killed after \(Self.seconds(timeout)); no verdict" }
        return isQuiet ? nil : "a connection was still open"
    }

    /// A message such as `the client was ended after 5 s`.
    var ended: String { "the client was ended after \(Self.seconds(timeout))" }

    static let missedProxy = "it did not use the proxy"

    static let mayHaveRetried = "ended by --timeout; it may have tried again"

    static let remedy = "give it more time with --timeout"

    /// A message such as `ended by signal 11`. If a shell ran the client, the shell's exit code tells the signal.
    var signal: String? {
        guard let clientExit, (129...192).contains(clientExit) else { return nil }
        return "ended by signal \(clientExit - 128)"
    }

    static func seconds(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}
