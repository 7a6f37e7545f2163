internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient
internal import PintleText

/// A server that the current policy trusts because a pin matched. Keys of other servers are never kept.
struct MatchedServer {
    let endpoint: ServerEndpoint
    /// The index of the rule that decided.
    let rule: Int
    /// The validated path from leaf to anchor.
    let path: [PathPositions.Place]
    /// The chain as the server sent it.
    let presented: [[UInt8]]
    let leaf: Certificate

    /// Returns `nil` unless a pin matched.
    init?(_ facts: CheckFacts) {
        guard case .trusted(.pinMatched) = facts.decision, let rule = facts.rule?.index,
            let leaf = facts.positions.onPath.first?.certificate
        else { return nil }
        (endpoint, self.rule, self.leaf) = (facts.endpoint, rule, leaf)
        path = facts.positions.onPath
        presented = facts.positions.sent.map(\.der)
    }

    /// Returns `true` if the pin matches a certificate of the path.
    func isMatched(by pin: Pin) -> Bool { path.isMatched(by: pin) }

    /// Returns `true` if the pin matches a certificate between leaf and anchor.
    func isIntermediateMatched(by pin: Pin) -> Bool {
        path.indices.dropFirst().dropLast().contains { path[$0].isMatched(by: pin, depth: $0) }
    }

    func isLeafMatched(by pin: Pin) -> Bool { path.first?.isMatched(by: pin, depth: 0) ?? false }
}

/// A reason why a server gives nothing to the proposal. It names the server and the reason, and no key, so that the key
/// of an interceptor cannot be copied from it.
struct RenewProblem {
    let id: String
    let endpoint: ServerEndpoint
    /// The reason of the decision; `nil` if there is none.
    var reason: String?
    let message: String
    /// The remedy in words.
    let help: String
    /// The command that does it; `nil` if there is none.
    var command: String?

    var isUnreachable: Bool { id == LiveProblem.unreachable.rawValue }
}

/// Asks the servers of a policy's rules, each with one handshake, as `pintle lint --live` does.
struct RenewSurvey {
    let policy: PinningPolicy
    let file: String
    let invocation: Invocation

    /// - Throws: an error if the command line cannot be used. A server that cannot be reached is a finding.
    func run() throws(ToolError) -> (servers: [MatchedServer], findings: [RenewProblem], notes: [String]) {
        let validator = try invocation.validator()
        var servers: [MatchedServer] = []
        var findings: [RenewProblem] = []
        var notes: [String] = []
        var seen: Set<ServerEndpoint> = []
        for host in policy.hosts where !host.pins.isEmpty {
            let endpoint = ServerEndpoint(host: host.host, port: host.port ?? 443)
            guard seen.insert(endpoint).inserted else {
                notes.append("\(host): another rule decides about \(endpoint), so no server of this rule was asked")
                continue
            }
            let handshake = try LiveHandshake(endpoint, invocation)
            let verdict = LiveVerdict(of: endpoint, by: policy, validator: validator, instant: invocation.now)
            do throws(ToolError) {
                let result = try verdict.facts(of: handshake)
                result.connection?.close()
                if let server = MatchedServer(result) {
                    servers.append(server)
                } else {
                    findings.append(finding(endpoint, result.decision))
                }
            } catch {
                guard error.exitCode == .unreachable else { throw error }
                findings.append(
                    RenewProblem(
                        id: LiveProblem.unreachable.rawValue, endpoint: endpoint, message: error.message,
                        help: error.hint ?? "check the host and port"))
            }
        }
        return (servers, findings, notes)
    }

    private func finding(_ endpoint: ServerEndpoint, _ decision: TrustDecision) -> RenewProblem {
        let command = Invocation.line(
            ["pintle", "check", "\(endpoint)", "--policy", file] + invocation.serverOptions)
        let (id, cause) =
            switch decision {
            case .rejected(.pinMismatch), .trusted(.mismatchReportedOnly):
                (LiveProblem.mismatch.rawValue, "\(endpoint) shows none of the pinned keys")
            case .rejected(.invalidPath(let failure)):
                (LiveProblem.invalidPath.rawValue, "the path of \(endpoint) is invalid (\(failure.code.rawValue))")
            case .rejected(.pinsExpired), .trusted(.pinsExpired):
                (decision.reason, "the pins of \(endpoint) have expired")
            default: (LiveProblem.noRule.rawValue, "no pin decides about \(endpoint)")
            }
        return RenewProblem(
            id: id, endpoint: endpoint, reason: decision.reason,
            message: "\(cause), so none of its keys is proposed",
            help: "find out why first", command: command)
    }
}
