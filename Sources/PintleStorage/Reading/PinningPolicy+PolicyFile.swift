package import Pintle
internal import PintlePolicyFile

extension PinningPolicy {
    /// Reads a policy file from disk, with the anchor files that it names.
    ///
    /// - Parameters:
    ///   - path: the policy file, relative to the current directory of the process.
    ///   - allowsFlatFolder: `true` to look for a missing anchor file beside the policy, as in the resources of an app,
    ///     which have no folders.
    ///   - isPublicSuffix: as for `init(json:resolvingFile:isPublicSuffix:)`.
    /// - Throws: all problems of the policy; `unreadable-file` if the file cannot be read.
    package init(
        policyFile path: String, allowsFlatFolder: Bool = false,
        isPublicSuffix: (_ name: String) -> Bool = PinningPolicy.isPublicSuffix
    ) throws(PolicyError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try RegularFile.content(path, limit: JSONDocument.Limits().maximumBytes)
        } catch {
            throw PolicyError([PolicyProblem(id: error.id, at: .root, message: "\(error)", help: error.help)])
        }
        let folder = PolicyFolder(ofFile: path)
        var flat = FlatFolder(folder)
        do throws(PolicyError) {
            try self.init(
                json: bytes,
                resolvingFile: { name in
                    try allowsFlatFolder ? flat.content(of: name) : folder.content(of: name)
                }, isPublicSuffix: isPublicSuffix)
        } catch {
            throw PolicyError(error.problems.map { flat.remedied($0) })
        }
    }
}

/// The folder of a policy file. The paths in `anchors.include` are relative to it.
package struct PolicyFolder: Sendable {
    /// The path: empty, or with a trailing slash.
    private let path: String

    package init(ofFile policy: String) {
        path = policy.lastIndex(of: "/").map { String(policy[...$0]) } ?? ""
    }

    /// Returns the path of a file that the policy names.
    package func path(of name: String) -> String { name.hasPrefix("/") ? name : path + name }

    /// Returns the content of a file that the policy names.
    package func content(of name: String) throws(FileError) -> [UInt8] {
        try RegularFile.content(path(of: name), limit: CertificateFiles.maximumSize)
    }
}
