internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

extension Command {
    static let check = Command(
        name: "check",
        summary: "Decide about a live server by a policy, and explain the verdict",
        examples: [
            Example(
                line: "pintle check https://example.com --policy policy.json",
                purpose: "the verdict, the rule that decided, the path and what to do next"),
            Example(
                line: "pintle check https://example.com --policy policy.json --connect-to 192.0.2.7:8443",
                purpose: "one machine behind a load balancer, or before its DNS entry moves"),
            Example(
                line: "pintle check https://api.test --policy policy.json --anchors root.pem",
                purpose: "as if this machine trusted only that root"),
            Example(
                line: "pintle check https://example.com --policy policy.json --at 2027-11-20T00:00:00Z",
                purpose: "what will be when pins or certificates have expired"),
        ],
        overview: [
            """
            Makes a real TLS handshake and decides inside it: the certificate path first, then the pins, as \
            an app with this policy would. A refusal is sent to the server as a TLS alert; nothing else is ever \
            sent.
            """
        ],
        arguments: [Argument(name: "URL", help: "An https URL, host or host:port")],
        ownOptions: [.policy, .connectTo, .anchors, .instant, .connectTimeout, .handshakeTimeout],
        environment: LiveEnvironment.variables,
        exitCodes: [
            (.fine, "trusted"), (.rejected, "rejected"), (.unusable, "the command line or the policy cannot be used"),
            (.unreachable, "no certificate arrived, or the handshake broke"),
        ],
        run: { invocation throws(ToolError) in try CheckCommand(invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let policy = OptionSpecification(
        name: "policy", value: .file("FILE"), help: "The policy file that decides (required)")
}

/// `pintle check URL --policy P`
struct CheckCommand {
    private let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        guard let path = invocation.arguments.value(of: .policy) else {
            throw .usage("--policy FILE is missing: it is what decides", of: .check, code: "missing-option")
        }
        let endpoint = try HostArgument.endpoint(invocation.arguments.positionals[0])
        let handshake = try LiveHandshake(endpoint, invocation)
        let validator = try invocation.validator()
        let policy = try PolicyInput(path, invocation).policy()
        let check = LiveCheck(
            policy: policy, validator: validator, instant: try invocation.instant(), handshake: handshake)
        let findings = try check.run()
        findings.connection?.close()
        if invocation.writesJSON {
            invocation.console.print(findings.document)
        } else {
            CheckReport(findings: findings, policy: policy, invocation: invocation).print()
        }
        return findings.decision.isTrusted ? .fine : .rejected
    }
}
