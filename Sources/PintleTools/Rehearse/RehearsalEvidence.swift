internal import PintleTestKit

/// The behaviour of a client at one server, as both sides saw it.
struct RehearsalEvidence {
    let observation: AttackObservation
    let end: GuardedProcess.End
    /// A Boolean value that indicates whether the client had ended its connections when it was killed.
    var wasOverWhenKilled = false
    /// A Boolean value that indicates whether all connections had ended when they were observed.
    var isQuiet = true
    /// The limit of `--timeout`, in seconds.
    let timeout: Double

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
            return observation.connections.isEmpty
                ? "the client did not connect" : "the client sent the right server nothing"
        }
        if end == .timedOut, !wasOverWhenKilled { return "killed after \(Self.seconds(timeout)); no verdict" }
        return isQuiet ? nil : "a connection was still open"
    }

    /// Such as `the client was ended after 5 s`.
    var ended: String { "the client was ended after \(Self.seconds(timeout))" }

    static let mayHaveRetried = "ended by --timeout; it may have tried again"

    static let remedy = "give it more time with --timeout"

    /// Such as `ended by signal 11`, also where a shell reports it of what it ran.
    var signal: String? {
        guard let clientExit, (129...192).contains(clientExit) else { return nil }
        return "ended by signal \(clientExit - 128)"
    }

    static func seconds(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}
