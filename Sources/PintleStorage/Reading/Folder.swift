package import Pintle
internal import PintleSystem

/// Lists the names in a folder.
package enum Folder {
    /// The most entries. A folder with more is hardly a folder of certificates.
    package static let maximumEntries = 10_000

    /// Returns the names that do not begin with a dot, in the order of their bytes.
    package static func names(in path: String) throws(FileError) -> [String] {
        guard !path.utf8.contains(0) else {
            throw FileError(unreadable: path, "the name has a NUL in it", help: "write the name of a folder")
        }
        guard let stream = opendir(path) else { throw FileError(unreadable: path, errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(unreadable: path, errno) }
                break
            }
            let name = Self.name(of: entry)
            guard !name.hasPrefix(".") else { continue }
            guard names.count < maximumEntries else {
                throw FileError(
                    id: "too-large", path: path, message: "more than \(maximumEntries) files",
                    help: "name the files one by one")
            }
            names.append(name)
        }
        return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    /// Returns the names with the extensions of certificates, `.cer`, `.crt`, `.der` or `.pem` in either case, for
    /// folders that also contain other files.
    package static func certificateNames(in path: String) throws(CertificateBundleError) -> [String] {
        do throws(FileError) {
            let endings = [".cer", ".crt", ".der", ".pem"]
            return try names(in: path).filter { name in endings.contains(where: name.lowercased().hasSuffix) }
        } catch {
            throw CertificateBundleError(problems: [.init(error)])
        }
    }

    /// Reads the name in place, because an entry is shorter than the C type `dirent`.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return "" }
        return String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }
}
