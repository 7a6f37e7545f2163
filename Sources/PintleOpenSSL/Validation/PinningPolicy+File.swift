public import Pintle
internal import PintleStorage

extension PinningPolicy {
    /// Reads a policy file from disk. Resolves the anchor files that it names, relative to the policy's folder, and
    /// takes the public suffixes from libpsl.
    ///
    ///     let policy = try PinningPolicy(contentsOfFile: "/etc/myservice/policy.json")
    ///
    /// Reads only regular files: a policy of up to 64 MiB, and anchor files of up to 16 MiB each.
    ///
    /// - Parameter path: the policy file, relative to the current directory of the process.
    /// - Throws: all problems of the policy, as ``Pintle/PinningPolicy/init(json:)`` does; `unreadable-file` if the
    ///   file cannot be read.
    public init(contentsOfFile path: String) throws(PolicyError) {
        try self.init(policyFile: path, isPublicSuffix: PublicSuffixList.system.contains)
    }
}
