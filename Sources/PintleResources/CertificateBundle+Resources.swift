public import Foundation
public import Pintle
internal import PintleStorage

extension CertificateBundle {
    /// Reads the certificates of a resource, PEM or DER.
    ///
    ///     let roots = try CertificateBundle(resource: "private-root", withExtension: "pem")
    ///     let anchors = TrustAnchors.only(roots)
    ///
    /// - Parameters:
    ///   - name: the name of the file, without its extension.
    ///   - fileExtension: such as `pem`.
    ///   - subdirectory: of the bundle's resources.
    ///   - bundle: `Bundle.module` for the resources of a package.
    /// - Throws: An error if there is no such resource, or one that lists everything in it that cannot be read.
    public init(
        resource name: String, withExtension fileExtension: String, subdirectory: String? = nil,
        in bundle: Bundle = .main
    ) throws(CertificateBundleError) {
        guard let url = bundle.url(forResource: name, withExtension: fileExtension, subdirectory: subdirectory) else {
            let folder = subdirectory.map { "\($0)/" } ?? ""
            throw CertificateBundleError(problems: [
                .init(
                    file: "\(folder)\(name).\(fileExtension)", message: "no such resource in \(bundle.bundlePath)",
                    help: "add the file to the resources of the target")
            ])
        }
        try self.init(contentsOfFile: url.path)
    }

    /// Reads the certificates of every resource whose name ends in `.cer`, `.crt`, `.der` or `.pem`, in the order of
    /// the names. If one of them cannot be read, the whole call fails.
    ///
    /// Skips other resources, because a bundle holds many other files. For a folder that holds only certificates, use
    /// `CertificateBundle(contentsOfFolder:)`, which skips nothing.
    ///
    /// - Parameters:
    ///   - bundle: The bundle: `Bundle.module` for the resources of a package.
    ///   - subdirectory: The folder inside the bundle's resources. Without it, only resources at the top level are
    ///     read.
    /// - Throws: An error that lists everything that cannot be read. Also an error if there is no such folder, or no
    ///   such resource in it.
    public init(
        resourcesOf bundle: Bundle, subdirectory: String? = nil
    ) throws(CertificateBundleError) {
        let folder = [bundle.resourcePath ?? bundle.bundlePath, subdirectory].compactMap(\.self).joined(separator: "/")
        let names = try Folder.certificateNames(in: folder)
        guard !names.isEmpty else {
            throw CertificateBundleError(problems: [
                .init(
                    file: folder, message: "no certificate among the resources",
                    help: "add files that end in .cer, .crt, .der or .pem to the resources of the target")
            ])
        }
        try self.init(contentsOfFiles: names.map { "\(folder)/\($0)" })
    }
}
