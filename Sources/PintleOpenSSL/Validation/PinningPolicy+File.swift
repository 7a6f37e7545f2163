public import Pintle
internal import PintleStorage

extension PinningPolicy {
    /// Reads a policy file from disk, with what the core cannot know: the anchor files that it names, relative to its
    /// own folder, and the public suffixes, from libpsl.
    ///
    ///     let policy = try PinningPolicy(contentsOfFile: "/etc/myservice/policy.json")
    ///
    /// Only regular files are read: the policy up to 64 MiB, each anchor file up to 16 MiB.
    ///
    /// - Parameter path: of the policy file; relative to the current folder of the process.
    /// - Throws: everything that is wrong, as ``Pintle/PinningPolicy/init(json:)`` does; `unreadable-file` where the
    ///   file cannot be read at all.
    public init(contentsOfFile path: String) throws(PolicyError) {
        try self.init(policyFile: path, isPublicSuffix: PublicSuffixList.contains)
    }
}
