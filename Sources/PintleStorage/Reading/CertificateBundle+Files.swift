public import Pintle

extension CertificateBundle {
    /// Reads the certificates of a file: PEM with any text around the blocks, or a single DER certificate.
    ///
    ///     let roots = try CertificateBundle(contentsOfFile: "/etc/myservice/root.pem")
    ///     let anchors = TrustAnchors.only(roots)
    ///
    /// Reads only regular files, up to 16 MiB.
    ///
    /// - Parameter path: the file.
    /// - Throws: all problems of the file, each with the file and the PEM block.
    public init(contentsOfFile path: String) throws(CertificateBundleError) {
        try self.init(contentsOfFiles: [path])
    }

    /// Reads the certificates of several files, in the order of the files: all of them or none.
    ///
    /// A certificate that occurs in two files is taken once. Each file must contain at least one certificate and no
    /// other kind of block. Together they may have at most 64 MiB.
    ///
    /// - Parameter paths: the files.
    /// - Throws: as ``init(contentsOfFile:)``, for all files at once.
    public init(contentsOfFiles paths: [String]) throws(CertificateBundleError) {
        let certificates = try CertificateFiles.read(paths)
        guard let bundle = CertificateBundle(certificates: certificates) else {
            throw CertificateBundleError(problems: [
                .init(message: "no file was named", help: "name a file of certificates")
            ])
        }
        self = bundle
    }

    /// Reads the certificates of every file in a folder, in the order of the files' names: all of them or none.
    ///
    /// Ignores names that begin with a dot. Every other file must contain certificates, whatever its name: silently
    /// skipping a file would give the owner one root or pin fewer than expected. For the same reason folders within the
    /// folder are refused.
    ///
    /// - Parameter path: the folder.
    /// - Throws: as ``init(contentsOfFiles:)``; also if the folder is empty.
    public init(contentsOfFolder path: String) throws(CertificateBundleError) {
        let names: [String]
        do throws(FileError) {
            names = try Folder.names(in: path)
        } catch {
            throw CertificateBundleError(problems: [.init(error)])
        }
        guard !names.isEmpty else {
            throw CertificateBundleError(problems: [
                .init(file: path, message: "no file in it", help: "put files of certificates into the folder")
            ])
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        try self.init(contentsOfFiles: names.map { folder + $0 })
    }
}
