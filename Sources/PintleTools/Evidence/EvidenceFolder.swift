internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintleStorage
internal import PintleSystem

/// A folder of files that prove a finding, with mode 0700, and a list of their hashes for `sha256sum -c`.
final class EvidenceFolder {
    private let path: String
    private var hashes: [String] = []

    /// The name of the list of hashes.
    static let sums = "SHA256SUMS"

    /// Creates the folder.
    /// - Parameter path: A new or an empty folder; its parent exists.
    init(_ path: String) throws(ToolError) {
        self.path = path
        try Self.check(path)
        try Self.create(path)
    }

    /// Checks that the folder can be created or used, without changing anything.
    static func check(_ path: String) throws(ToolError) {
        guard OutputFile.exists(path) else { return try OutputFile.checkFolder(of: path) }
        guard let folder = opendir(path) else { throw OutputFile.failure(path) }
        defer { closedir(folder) }
        // Two of the entries are "." and "..".
        var count = 0
        while count < 3, readdir(folder) != nil { count += 1 }
        guard count < 3 else {
            throw .unusable(
                "folder-not-empty", "the folder for the evidence has files already", file: path,
                hint: "name a new folder, so that each run has its own")
        }
    }

    private static func create(_ path: String) throws(ToolError) {
        do {
            _ = try PrivateFolder(path)
        } catch {
            throw .unusable(error.code.rawValue, error.message, file: error.path, hint: error.hint)
        }
    }

    /// Writes one file with mode 0600.
    ///
    /// - Parameter name: The path below the folder. Its folders are created; they have mode 0700.
    func write(_ name: String, _ bytes: [UInt8]) throws(ToolError) {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            try Self.create(folder)
        }
        try OutputFile.create("\(path)/\(name)", mode: 0o600, bytes)
        hashes.append("\(Hex.encode(SHA256Digest(hashing: bytes).bytes))  \(name)\n")
    }

    /// Writes the list of hashes.
    func finish() throws(ToolError) {
        try OutputFile.create("\(path)/\(Self.sums)", mode: 0o600, Array(hashes.joined().utf8))
    }
}
