internal import COpenSSL
package import Pintle
internal import PintleStorage
internal import PintleSystem
internal import Synchronization

/// The authorities that this machine trusts for every host, identified by the keys and certificates of their roots.
///
/// Read lazily and once, because there may be hundreds of files. Intermediates are not included. A root that the
/// machine's owner has installed counts like any other, because it may also sign for every host. Safe to use from any
/// thread.
package final class PublicAuthorities: Sendable {
    private let files: [String]
    private let folders: [String]
    private let names = Mutex<[Pin.Subject: String]?>(nil)

    /// - Parameters:
    ///   - files: files of PEM certificates.
    ///   - folders: folders whose regular files are read. Unreadable files, and files without certificates, are
    ///     ignored.
    package init(files: [String], folders: [String]) {
        self.files = files
        self.folders = folders
    }

    /// Creates the authorities from OpenSSL's default places, which `environment` may override.
    package convenience init(environment: [String: String]) {
        let file = environment["SSL_CERT_FILE"] ?? X509_get_default_cert_file().map { String(cString: $0) }
        let folders = environment["SSL_CERT_DIR"] ?? X509_get_default_cert_dir().map { String(cString: $0) }
        self.init(
            files: file.map { [$0] } ?? [], folders: (folders ?? "").split(separator: ":").map { String($0) })
    }

    /// A Boolean value that indicates whether this machine trusts no authority, for example in a container without the
    /// package of roots.
    package var isEmpty: Bool { known().isEmpty }

    /// Returns the subject of the root with this key or certificate; `nil` if there is none.
    package func name(pinnedBy pin: Pin) -> String? { known()[pin.subject] }

    private func known() -> [Pin.Subject: String] {
        names.withLock { names in
            let known = names ?? Self.read(files + folders.flatMap(Self.entries))
            names = known
            return known
        }
    }

    private static let maximumFileSize = 16 << 20
    /// The most files of a folder that are read.
    private static let maximumEntries = 4_096

    private static func read(_ files: [String]) -> [Pin.Subject: String] {
        var names: [Pin.Subject: String] = [:]
        for file in files {
            guard let bytes = try? RegularFile.content(file, limit: maximumFileSize) else { continue }
            var reader = PEMReader(bytes, maximumBlockSize: Certificate.maximumSize)
            var isAtEnd = false
            while !isAtEnd {
                do {
                    if let block = try reader.next() { add(block, to: &names) } else { isAtEnd = true }
                } catch {
                    // Continue: the reader is already after the block that it could not read.
                }
            }
        }
        return names
    }

    private static func add(_ block: PEMBlock, to names: inout [Pin.Subject: String]) {
        // The same root is often both in a bundle and in a file of its own.
        guard block.isCertificate, names[.certificate(CertificatePin(certificate: block.bytes))] == nil,
            let root = try? Certificate(der: block.bytes)
        else { return }
        let name = root.subject.description
        names[.certificate(root.fingerprint)] = name
        names[.publicKey(root.publicKeyPin)] = name
    }

    private static func entries(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).prefix(maximumEntries)
            .map { "\(folder)/\($0)" }
    }
}
