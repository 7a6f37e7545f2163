/// A policy inside another document, such as an update, as far as it can be read: somebody may have to judge what it
/// says before what is wrong with it.
package struct EmbeddedPolicy: Sendable {
    package let unpinnedHosts: PinningPolicy.UnpinnedHosts
    /// As many as there are, in their order. Anchors that stand in a file are the system's here.
    package let hosts: [PinnedHost]
    /// Everything that is wrong, with lines and columns, in the order of the document.
    package let problems: [PolicyProblem]
    /// The policy, unless there are problems.
    package let policy: PinningPolicy?

    /// What reading the document of this policy once more would give.
    package init(_ policy: PinningPolicy) {
        unpinnedHosts = policy.unpinnedHosts
        hosts = Array(policy.hosts)
        problems = []
        self.policy = policy
    }

    /// - Parameter isPublicSuffix: as in ``PinningPolicy/init(json:resolvingFile:isPublicSuffix:)``.
    /// - Throws: every problem, where something could not be read for what it is: an unknown key, a wrong type, no host.
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
