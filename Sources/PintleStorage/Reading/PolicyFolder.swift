/// The folder of a policy file. The paths in `anchors.include` are relative to it.
package struct PolicyFolder: Sendable {
    /// The path: empty, or with a trailing slash.
    private let path: String

    package init(ofFile policy: String) {
        path = policy.lastIndex(of: "/").map { String(policy[...$0]) } ?? ""
    }

    /// Returns the content of a file that the policy names.
    package func content(of name: String) throws(FileError) -> [UInt8] {
        try RegularFile.content(
            name.hasPrefix("/") ? name : path + name, limit: CertificateFiles.maximumSize)
    }
}
