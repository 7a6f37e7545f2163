internal import Pintle

/// Reads several files as one bundle: all of them or none.
struct CertificateFiles {
    /// The size limit of a file, in bytes.
    static let maximumSize = 16 << 20
    /// The size limit of all files together, in bytes.
    private static let maximumTotal = 64 << 20
    /// The most problems; a longer list would not be read.
    private static let maximumProblems = 100

    private var certificates: [Certificate] = []
    private var known: Set<CertificatePin> = []
    private var problems: [CertificateBundleError.Problem] = []
    private var total = 0

    /// Reads the certificates. A certificate that occurs in several files is taken once.
    static func read(_ paths: [String]) throws(CertificateBundleError) -> [Certificate] {
        var files = CertificateFiles()
        for path in paths where files.problems.count < maximumProblems {
            files.read(path)
        }
        guard files.problems.isEmpty else { throw CertificateBundleError(problems: files.problems) }
        return files.certificates
    }

    private mutating func read(_ path: String) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try RegularFile.content(path, limit: Self.maximumSize)
            total += bytes.count
            guard total <= Self.maximumTotal else {
                throw FileError(
                    id: "too-large", path: path, message: "the files together are larger than 64 MiB",
                    help: "leave out what is not needed")
            }
        } catch {
            problems.append(.init(error))
            return
        }
        do throws(CertificateBundleError) {
            for certificate in try CertificateBundle(bytes).certificates
            where known.insert(certificate.fingerprint).inserted {
                certificates.append(certificate)
            }
        } catch {
            problems += error.problems.prefix(Self.maximumProblems).map { $0.placed(in: path) }
        }
    }
}

extension CertificateBundleError.Problem {
    init(_ error: FileError) {
        self.init(file: error.path, message: error.message, help: error.help)
    }
}
