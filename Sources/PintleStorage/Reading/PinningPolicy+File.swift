public import Pintle

#if !PINTLE_APPLE
internal import PintleSuffixes
#endif

extension PinningPolicy {
    /// Reads a policy file from disk. Resolves the anchor files that it names, relative to the policy's folder.
    ///
    ///     let policy = try PinningPolicy(contentsOfFile: "/etc/myservice/policy.json")
    ///
    /// Reads only regular files: a policy of up to 64 MiB, and anchor files of up to 16 MiB each. The public suffixes
    /// come from libpsl; on Apple's systems only single labels count as such.
    ///
    /// - Parameter path: the policy file, relative to the current directory of the process.
    /// - Throws: all problems of the policy, as ``/PintlePolicyFile/Pintle/PinningPolicy/init(json:)`` does;
    ///   `unreadable-file` if the file cannot be read.
    public init(contentsOfFile path: String) throws(PolicyError) {
        try self.init(policyFile: path)
    }

    /// Returns whether registries hand out names directly below this one, as far as this system knows.
    package static func isPublicSuffix(_ name: String) -> Bool {
        #if PINTLE_APPLE
        false
        #else
        PublicSuffixList.system.contains(name)
        #endif
    }
}
