import FoundationEssentials
import Pintle

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// One run of the tool inside this process, with its exit code and outputs.
struct ToolRun {
    let code: Int32
    let output: String
    let errors: String

    /// - Parameters:
    ///   - input: standard input.
    ///   - terminalWidth: the width of both streams; `nil` for pipes.
    init(
        _ arguments: String..., input: [UInt8] = [], environment: [String: String] = ["LANG": "C.UTF-8"],
        now: Date = Date(), terminalWidth: Int? = nil
    ) {
        self.init(
            arguments: arguments, input: input, environment: environment, now: now, terminalWidth: terminalWidth)
    }

    /// - Parameters:
    ///   - commands: the commands of the build.
    ///   - libraries: the libraries of the build.
    init(
        arguments: [String], input: [UInt8] = [], environment: [String: String] = ["LANG": "C.UTF-8"],
        now: Date = Date(), terminalWidth: Int? = nil, commands: [Command] = Command.all,
        libraries: any Libraries = LinkedLibraries()
    ) {
        let outputBox = OutputLog()
        let errorBox = OutputLog()
        let tool = CommandLineTool(
            commands: commands, libraries: libraries, environment: environment, input: ByteSource(input),
            output: outputBox.sink(terminalWidth), errors: errorBox.sink(terminalWidth), now: now)
        code = tool.run(arguments)
        self.output = String(decoding: outputBox.bytes, as: UTF8.self)
        self.errors = String(decoding: errorBox.bytes, as: UTF8.self)
    }

    var lines: [Substring] { output.split(separator: "\n", omittingEmptySubsequences: false) }

    private final class OutputLog {
        var bytes: [UInt8] = []

        func sink(_ width: Int?) -> ByteSink {
            ByteSink(isTerminal: width != nil, width: width) { bytes in
                self.bytes += bytes
                return true
            }
        }
    }
}

extension ToolRun {
    /// Returns standard output, parsed as one JSON document.
    func json() throws -> JSONValue { try JSONDocument(Array(output.utf8)).root }

    /// Returns the keys of an object in their order.
    static func keys(_ value: JSONValue?) -> [String] { value?.members?.compactMap(\.key.string) ?? [] }
}
