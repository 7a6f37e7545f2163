public import Foundation
public import Pintle
internal import PintleStorage

extension PinningPolicy {
    /// Reads a policy that is a resource of the app, with the anchor files next to it.
    ///
    ///     let policy = try PinningPolicy(resource: "policy", withExtension: "json")
    ///
    /// The paths in `anchors.include` are relative to the resource's folder. Xcode and SwiftPM put all resources into
    /// one folder, so a file that the policy calls `roots/private.pem` may also be next to the policy as `private.pem`.
    /// That copy is read only if the path leads to no file. If two anchor files have the same name and one of them
    /// would be read as such a copy, the policy is refused.
    ///
    /// Reads only regular files: the policy up to 64 MiB, each anchor file up to 16 MiB. This reads from disk, so make
    /// the policy once, at the start.
    ///
    /// - Parameters:
    ///   - name: The name of the resource, without its extension.
    ///   - fileExtension: The extension without a dot; `json` by default.
    ///   - subdirectory: The folder inside the bundle's resources.
    ///   - bundle: `Bundle.module` for the resources of a package.
    /// - Throws: An error that lists every problem. `missing-resource`: the bundle has no such resource.
    ///   `unreadable-file`: the resource cannot be read. `unreadable-anchor-file`: an anchor file is missing. The
    ///   problems of the policy itself come with lines and columns.
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
        try self.init(policyFile: url.path, allowsFlatFolder: true)
    }
}
