package import Pintle
package import PintleConsole
package import PintlePolicyLint

/// Libraries that also connect to servers, by TLS.
package protocol ServerLibraries: Libraries {
    /// Returns a function that lists the certificates of a live server. Its second parameter is the server as the
    /// command line has it.
    func pins(
        _ invocation: Invocation
    ) throws(ToolError) -> (ServerEndpoint, _ source: String) throws(ToolError) -> PinListing

    /// Returns a function that compares a policy with a live server. A server that cannot be reached is a problem.
    func lint(
        _ policy: LintedPolicy, _ invocation: Invocation
    ) throws(ToolError) -> (ServerEndpoint) throws(ToolError) -> (server: LintedServer, problems: [LintProblem])
}

extension Invocation {
    /// - Throws: an error in a build that cannot connect to servers.
    func servers() throws(ToolError) -> any ServerLibraries {
        guard let servers = libraries as? any ServerLibraries else {
            throw .needsOpenSSL("asking a server")
        }
        return servers
    }
}
