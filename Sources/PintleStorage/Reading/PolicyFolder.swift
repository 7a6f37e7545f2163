/// The folder of a policy file, from which the paths in `anchors.include` lead.
package struct PolicyFolder: Sendable {
    /// Empty, or with a slash at its end.
    private let path: String

    package init(ofFile policy: String) {
        path = policy.lastIndex(of: "/").map { String(policy[...$0]) } ?? ""
    }

    /// The content of a file that the policy names.
    package func content(of name: String) throws(FileError) -> [UInt8] {
        try RegularFile.content(
            name.hasPrefix("/") ? name : path + name, limit: CertificateFiles.maximumSize)
    }
}
