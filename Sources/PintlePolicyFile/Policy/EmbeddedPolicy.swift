package import Pintle

/// A policy inside another document, such as an update, together with its problems. The rules are available even if the
/// policy has problems, because the scope of an update is checked before its mistakes are reported.
package struct EmbeddedPolicy: Sendable {
    package let unpinnedHosts: PinningPolicy.UnpinnedHosts
    /// All rules, in the order of the document. A rule whose anchors refer to a file has the system's anchors here,
    /// because no file can be read.
    package let hosts: [PinnedHost]
    /// The problems, with lines and columns, in the order of the document.
    package let problems: [PolicyProblem]
    /// The policy; `nil` if there are problems.
    package let policy: PinningPolicy?

    /// Wraps a policy, with the same result as parsing its document.
    package init(_ policy: PinningPolicy) {
        unpinnedHosts = policy.unpinnedHosts
        hosts = Array(policy.hosts)
        problems = []
        self.policy = policy
    }

    /// Parses a policy.
    ///
    /// - Parameter isPublicSuffix: as in ``PinningPolicy/init(json:resolvingFile:isPublicSuffix:)``.
    /// - Throws: all problems, if the meaning of some value is unknown: an unknown key, a wrong type, an invalid host.
    package init(_ value: JSONValue, isPublicSuffix: (String) -> Bool = { _ in false }) throws(PolicyError) {
        let draft = PolicyFileReader.read(value, resolvingFile: nil, isPublicSuffix: isPublicSuffix)
        do throws(PolicyError) {
            policy = try draft.finish()
            problems = []
        } catch {
            guard draft.isLegible else { throw error }
            policy = nil
            problems = error.problems
        }
        unpinnedHosts = draft.unpinnedHosts
        hosts = draft.hosts
    }
}
