package import Pintle
package import PintleConsole
internal import PintleOpenSSL
package import PintlePolicyLint
package import PintlePolicyTools
internal import PintleSuffixes

/// The libraries of this build: OpenSSL for keys and TLS, and the list of public suffixes.
package struct LinkedLibraries: ServerLibraries {
    package init() {}

    package var readsEncryptedKeys: Bool { true }

    package var knowsSuffixes: Bool { !PublicSuffixList.system.isMissing }

    package func isPublicSuffix(_ name: String) -> Bool { PublicSuffixList.system.contains(name) }
    package func isListedSuffix(_ name: String) -> Bool { PublicSuffixList.system.containsAny(name) }

    package func publicAuthorities(_ environment: [String: String]) -> @Sendable (Pin) -> String? {
        let authorities = PublicAuthorities(environment: environment)
        return { authorities.name(pinnedBy: $0) }
    }

    package func pins(
        _ invocation: Invocation
    ) throws(ToolError) -> (ServerEndpoint, _ source: String) throws(ToolError) -> PinListing {
        let pins = try LivePins(invocation)
        return { endpoint, source throws(ToolError) in try pins.listing(of: endpoint, source: source) }
    }

    package func lint(
        _ policy: LintedPolicy, _ invocation: Invocation
    ) throws(ToolError) -> (ServerEndpoint) throws(ToolError) -> (server: LintedServer, problems: [LintProblem]) {
        let path = invocation.arguments.positionals[0]
        let lint = LiveLint(
            policy, now: invocation.now, options: invocation.serverOptions,
            familyOptions: invocation.arguments[.families].map { ["--families", $0] } ?? [],
            file: path == "-" ? "FILE" : path)
        let validator = try invocation.validator()
        let identity = try invocation.identity()
        return { endpoint throws(ToolError) in try lint.look(at: endpoint, validator, identity, invocation) }
    }
}
