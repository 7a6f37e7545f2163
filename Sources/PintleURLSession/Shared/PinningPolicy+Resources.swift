public import Foundation
public import Pintle
internal import PintleStorage

#if !PINTLE_APPLE
internal import PintleOpenSSL
#endif

extension PinningPolicy {
    /// Reads a policy that comes with the app, with the anchor files beside it.
    ///
    ///     let policy = try PinningPolicy(resource: "policy", withExtension: "json")
    ///
    /// The paths in `anchors.include` lead from the resource's folder. Because Xcode and SwiftPM put resources into one
    /// folder, `roots/private.pem` may also stand beside the policy as `private.pem`. The copy counts only where the path
    /// leads to no file. Two anchor files of one name are refused if one of them would be read from there.
    ///
    /// Only regular files are read: the policy up to 64 MiB, each anchor file up to 16 MiB. It reads from disk: make the
    /// policy once, at the start.
    ///
    /// - Parameters:
    ///   - name: of the resource, without its extension.
    ///   - fileExtension: without a dot, `json`.
    ///   - subdirectory: of the bundle's resources.
    ///   - bundle: `Bundle.module` for the resources of a package.
    /// - Throws: everything that is wrong: `missing-resource` where the bundle has no such resource, `unreadable-file` where
    ///   it cannot be read, `unreadable-anchor-file` for each anchor file that is not there, and the problems of the
    ///   policy itself, with lines and columns.
    public init(
        resource name: String, withExtension fileExtension: String, subdirectory: String? = nil,
        in bundle: Bundle = .main
    ) throws(PolicyError) {
        guard let url = bundle.url(forResource: name, withExtension: fileExtension, subdirectory: subdirectory) else {
            let folder = subdirectory.map { "\($0)/" } ?? ""
            throw PolicyError([
                PolicyProblem(
                    id: "missing-resource", at: .root,
                    message: "no resource \(folder)\(name).\(fileExtension) in \(bundle.bundlePath)",
                    help: "add the file to the resources of the target")
            ])
        }
        try self.init(policyFile: url.path, allowsFlatFolder: true, isPublicSuffix: Self.isPublicSuffix)
    }

    /// Reads a policy file from disk, with the anchor files that it names, relative to its own folder.
    ///
    ///     let policy = try PinningPolicy(contentsOfFile: "/etc/myservice/policy.json")
    ///
    /// Only regular files are read: the policy up to 64 MiB, each anchor file up to 16 MiB. On Linux the public suffixes
    /// of libpsl are known too; elsewhere only single labels count as public suffixes.
    ///
    /// - Parameter path: of the policy file; relative to the current folder of the process.
    /// - Throws: everything that is wrong, as ``Pintle/PinningPolicy/init(json:)`` does; `unreadable-file` where the
    ///   file cannot be read at all.
    // On Linux, PintleOpenSSL has the same for programs without a session. Where both are imported, that one is called.
    @_disfavoredOverload
    public init(contentsOfFile path: String) throws(PolicyError) {
        try self.init(policyFile: path, isPublicSuffix: Self.isPublicSuffix)
    }

    private static func isPublicSuffix(_ name: String) -> Bool {
        #if PINTLE_APPLE
        false
        #else
        PublicSuffixList.contains(name)
        #endif
    }
}
