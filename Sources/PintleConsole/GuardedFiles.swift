internal import PintleStorage
internal import PintleSystem

/// Files that a command must not overwrite: its inputs, and its other outputs.
package struct GuardedFiles {
    private let command: Command
    private var reserved: [(name: String, file: FileIdentity?)]

    /// - Parameter inputs: the paths on the command line; `-` is standard input, which may be a file.
    package init(_ inputs: [String], of command: Command) {
        self.command = command
        reserved = inputs.map { $0 == "-" ? ("standard input", .standardInput) : ($0, FileIdentity($0)) }
    }

    /// Checks all outputs of a command line.
    package static func check(
        _ outputs: Option<String?>..., of arguments: ParsedArguments, reading inputs: [String]
    ) throws(ToolError) {
        var files = GuardedFiles(inputs, of: arguments.command)
        for option in outputs { if let path = arguments[option] { try files.reserve(path, for: option) } }
    }

    /// - Parameters:
    ///   - path: the file that will be written.
    ///   - option: the option that names it, or its folder.
    ///   - name: the name of the file in the errors of later files; `nil` for the path.
    /// - Throws: an error if it is one of the other files, also under another name.
    package mutating func reserve(
        _ path: String, for option: OptionSpecification, calling name: String? = nil
    ) throws(ToolError) {
        guard let file = FileIdentity(path) else { return }
        if let other = reserved.first(where: { $0.file == file }) {
            var error = ToolError.usage("--\(option.name) \(path) would replace \(other.name)", of: command)
            error.hint = "give --\(option.name) another name"
            throw error
        }
        reserved.append((name ?? path, file))
    }
}

/// The identity of a regular file, which all its names share. A file that does not exist yet is identified by its
/// folder and name.
struct FileIdentity: Equatable {
    private let device: UInt
    private let inode: UInt
    private let name: String?

    /// The file that standard input was redirected from, if it is one.
    static var standardInput: FileIdentity? {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return nil }
        return FileIdentity(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        (device, inode, name) = (UInt(truncatingIfNeeded: status.st_dev), UInt(status.st_ino), nil)
    }

    /// Returns `nil` for anything but a regular file, and if the folder does not exist.
    init?(_ path: String) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            name = nil
        } else {
            let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            let folder = String(path.dropLast(name.count))
            guard !name.isEmpty, stat(folder.isEmpty ? "." : folder, &status) == 0 else { return nil }
            self.name = String(name)
        }
        device = UInt(truncatingIfNeeded: status.st_dev)
        inode = UInt(status.st_ino)
    }
}
