/// What a command must not write to: what it reads, and what else it writes.
struct GuardedFiles {
    private let command: Command
    private var taken: [(path: String, file: FileIdentity?)]

    /// - Parameter inputs: as they stand on the command line; `-` is no file.
    init(_ inputs: [String], of command: Command) {
        self.command = command
        taken = inputs.filter { $0 != "-" }.map { ($0, FileIdentity($0)) }
    }

    /// - Parameters:
    ///   - path: what will be written.
    ///   - option: which names it, or its folder.
    /// - Throws: where it is one of the others, under whatever name.
    mutating func take(_ path: String, for option: OptionSpecification) throws(ToolError) {
        guard let file = FileIdentity(path) else { return }
        if let other = taken.first(where: { $0.file == file }) {
            throw .usage("--\(option.name) \(path) would replace \(other.path)", of: command)
        }
        taken.append((path, file))
    }
}
