internal import Pintle
internal import PintleAttacks
internal import PintleSystem

/// The client of a rehearsal as a place in a report.
///
/// Code scanning shows a finding only at a file of the repository, and keeps findings apart by that file. The place is
/// the first word of the client's command line that names a file below the working directory, such as `client.py`. For
/// an installed program, such as curl, it is the program's name.
struct ClientPlace {
    /// The command line; `nil` with `--serve`.
    let line: String?
    /// The path of the client's file relative to the working directory, or the program's name.
    let path: String

    /// - Parameter words: the client's command line; empty with `--serve`.
    init(_ words: [String]) {
        line = words.isEmpty ? nil : Client(words).line
        let program = words.first?.split(separator: "/").last.map(String.init) ?? "client"
        path = words.lazy.compactMap(Self.file).first ?? program
    }

    /// Returns the relative path if the word names a regular file below the working directory.
    private static func file(_ word: String) -> String? {
        let parts = word.split(separator: "/").filter { $0 != "." }
        guard !word.hasPrefix("/"), !word.contains("{"), !parts.isEmpty, !parts.contains("..") else { return nil }
        var status = stat()
        guard stat(word, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return parts.joined(separator: "/")
    }

    /// ``path`` as a relative URI reference (RFC 3986 section 4.2).
    var uri: String {
        let unreserved = Set("-._~/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        return path.utf8.reduce(into: "") { uri, byte in
            uri +=
                unreserved.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte], upperCase: true)
        }
    }
}
