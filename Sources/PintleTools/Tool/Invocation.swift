internal import FoundationEssentials

/// The input of a command.
struct Invocation {
    let arguments: ParsedArguments
    let environment: [String: String]
    let input: ByteSource
    let console: Console
    /// The instant when the tool was started.
    let now: Date

    var writesJSON: Bool { arguments.has(.json) }
    var isVerbose: Bool { arguments.has(.verbose) }

    func file(_ path: String, limit: Int = 16 << 20) throws(ToolError) -> InputFile {
        try InputFile(path, limit: limit, standardInput: input)
    }
}
