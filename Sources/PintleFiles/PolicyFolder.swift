/// The folder of a policy file, from which the paths in `anchors.include` lead.
package struct PolicyFolder: Sendable {
    /// Empty, or with a slash at its end.
    private let path: String

    package init(ofFile policy: String) {
        path = policy.lastIndex(of: "/").map { String(policy[...$0]) } ?? ""
    }

    /// The content of a file that the policy names; where it cannot be read there, of one of the same name beside the
    /// policy. The resources of an app stand in one folder, whatever folders they came from.
    package func flatContent(of name: String) throws(FileError) -> [UInt8] {
        do {
            return try content(of: name)
        } catch {
            guard let slash = name.lastIndex(of: "/"), !name.hasPrefix("/"),
                let beside = try? content(of: String(name[name.index(after: slash)...]))
            else { throw error }
            return beside
        }
    }

    /// The content of a file that the policy names.
    package func content(of name: String) throws(FileError) -> [UInt8] {
        try RegularFile.content(
            name.hasPrefix("/") ? name : path + name, limit: CertificateFiles.maximumSize)
    }
}
