#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Why a file was not read.
package struct FileError: Error, Sendable {
    /// Stable: `unreadable-file` or `too-large`.
    package let id: String
    package let path: String
    /// Lower case, no full stop.
    package let message: String
    /// What to do about it.
    package let help: String

    init(id: String, path: String, message: String, help: String) {
        self.id = id
        self.path = path
        self.message = message
        self.help = help
    }

    init(unreadable path: String, _ message: String, help: String) {
        self.init(id: "unreadable-file", path: path, message: message, help: help)
    }

    /// - Parameter number: `errno`.
    init(unreadable path: String, _ number: Int32) {
        let text = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        let help =
            switch number {
            case ENOENT: "check the name and the folder"
            case EACCES: "you may not read it: check its owner and mode"
            case ENOTDIR: "name a folder"
            default: "check that it can be read"
            }
        self.init(unreadable: path, text.prefix(1).lowercased() + text.dropFirst(), help: help)
    }
}

extension FileError: CustomStringConvertible {
    package var description: String { "\(path): \(message)" }
}
