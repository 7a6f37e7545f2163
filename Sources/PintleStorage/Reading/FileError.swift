internal import PintleSystem

/// The reason that a file was not read.
package struct FileError: Error, Sendable {
    /// The code; stable: `unreadable-file` or `too-large`.
    package let id: String
    package let path: String
    /// The problem; lower case, no full stop.
    package let message: String
    /// The remedy.
    package let help: String
    /// A Boolean value that indicates whether the file does not exist, as opposed to one that cannot be read.
    let isMissing: Bool

    init(id: String, path: String, message: String, help: String, isMissing: Bool = false) {
        self.id = id
        self.path = path
        self.message = message
        self.help = help
        self.isMissing = isMissing
    }

    init(unreadable path: String, _ message: String, help: String, isMissing: Bool = false) {
        self.init(id: "unreadable-file", path: path, message: message, help: help, isMissing: isMissing)
    }

    /// - Parameter number: `errno`.
    init(unreadable path: String, _ number: Int32) {
        let help =
            switch number {
            case ENOENT: "check the name and the folder"
            case EACCES: "you may not read it: check its owner and mode"
            case ENOTDIR: "name a folder"
            default: "check that it can be read"
            }
        // A path that goes through a file leads nowhere, so it counts as missing too.
        let isMissing = number == ENOENT || number == ENOTDIR
        self.init(
            unreadable: path, Descriptor.errorText(number), help: help, isMissing: isMissing)
    }
}

extension FileError: CustomStringConvertible {
    package var description: String { "\(path): \(message)" }
}
