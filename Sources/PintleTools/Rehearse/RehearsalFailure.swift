internal import Pintle
internal import PintleTestKit

/// A rehearsal that proves nothing, because of what the client did at the right server.
struct RehearsalFailure {
    let client: ClientCommand
    let play: RehearsalPlay
    /// The name of `--host`, if the client finds it by its own means.
    var resolvedHost: String?

    private var evidence: RehearsalEvidence { play.evidence }

    /// Prints the last lines that the client wrote.
    func printOutput(_ console: Console, most: Int) {
        let process = play.process
        for line in RehearsalText.words(process.stderr.isEmpty ? process.stdout : process.stderr, most: most) {
            console.printMessage("  " + line)
        }
    }

    /// Prints the client's own words and returns the error.
    func error(_ console: Console) -> ToolError {
        printOutput(console, most: 20)
        var hint = "as it was run: " + client.line
        let message: String
        switch evidence.end {
        case .timedOut where evidence.observation.connections.isEmpty:
            message = "\(evidence.ended) before it connected to the right server"
            hint = "\(RehearsalEvidence.remedy); " + hint
        case _ where evidence.observation.connections.isEmpty:
            message = "the client did not connect to the right server"
            if client.hasOwnHosts {
                hint =
                    "--resolve-by hosts needs root or user namespaces, which the lines above may say are missing; "
                    + hint
            } else if let resolvedHost {
                hint =
                    "does it find \(resolvedHost) at 127.0.0.1? with curl: --resolve {host}:{port}:127.0.0.1; with any client: "
                    + "--resolve-by hosts"
            }
        case .timedOut: message = "the client did not end within \(RehearsalEvidence.seconds(evidence.timeout))"
        default:
            message = "the client refused even the valid server"
            if !client.uses("ca"), !client.uses("policy") {
                hint = "does it trust the rehearsal's authorities? {ca} is their file, as in curl --cacert {ca}"
            }
        }
        let end = evidence.clientExit.map { " (exit code \($0))" } ?? ""
        return .unusable("control-failed", "proves nothing: \(message)\(end)", hint: hint)
    }

    /// Prints the client's own words and returns the error for a client that did not ask the proxy for any named host.
    func notProxied(_ console: Console) -> ToolError {
        printOutput(console, most: 20)
        let others = play.refusals.map(\.authority)
        return .unusable(
            "proxy-not-used", "proves nothing: \(RehearsalEvidence.missedProxy) for a named host",
            hint: others.isEmpty
                ? "give the client the proxy {proxy}; HTTPS_PROXY, https_proxy and ALL_PROXY have it too"
                : "it asked for \(SafeText.escape(others.prefix(5).joined(separator: ", "))): name these with --host")
    }
}
