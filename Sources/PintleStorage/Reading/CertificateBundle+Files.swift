public import Pintle

extension CertificateBundle {
    /// Reads the certificates of a file: PEM, with any text around the blocks, or a single DER.
    ///
    ///     let roots = try CertificateBundle(contentsOfFile: "/etc/myservice/root.pem")
    ///     let anchors = TrustAnchors.only(roots)
    ///
    /// Only regular files are read, up to 16 MiB.
    ///
    /// - Throws: everything that cannot be read, with the file and the block of its PEM.
    public init(contentsOfFile path: String) throws(CertificateFilesError) {
        try self.init(contentsOfFiles: [path])
    }

    /// Reads the certificates of several files, in the order of the files: all of them or none.
    ///
    /// A certificate that stands in two of them is taken once. Each file has to hold a certificate, and nothing
    /// that is none; together they hold at most 64 MiB.
    ///
    /// - Throws: as ``init(contentsOfFile:)``, for all files at once.
    public init(contentsOfFiles paths: [String]) throws(CertificateFilesError) {
        let certificates = try CertificateFiles.read(paths)
        guard let bundle = CertificateBundle(certificates: certificates) else {
            throw CertificateFilesError(problems: [
                .init(file: "", message: "no file was named", help: "name a file of certificates")
            ])
        }
        self = bundle
    }

    /// Reads the certificates of every file in a folder, in the order of the files' names: all of them or none.
    ///
    /// Names that begin with a dot are passed over. Whatever else is in the folder has to be a file of certificates,
    /// whatever it is called: a file that was passed over for its name would be a root or a pin fewer than its
    /// owner thinks there are. Folders within the folder are refused for the same reason.
    ///
    /// - Throws: as ``init(contentsOfFiles:)``; also where the folder holds nothing.
    public init(contentsOfFolder path: String) throws(CertificateFilesError) {
        let names: [String]
        do throws(FileError) {
            names = try Folder.names(in: path)
        } catch {
            throw CertificateFilesError(error)
        }
        guard !names.isEmpty else {
            throw CertificateFilesError(problems: [
                .init(file: path, message: "no file in it", help: "put files of certificates into the folder")
            ])
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        try self.init(contentsOfFiles: names.map { folder + $0 })
    }
}
