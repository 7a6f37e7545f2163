import Pintle

@testable import PintleConsole
@testable import PintleTools

/// The input is a command line, one argument a line. Each command parses it or reports a usage error with a hint. No
/// command is run.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let arguments = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for command in Command.all {
        do throws(ToolError) {
            let parsed = try ParsedArguments(arguments, for: command)
            guard parsed.positionals.count <= arguments.count else { fatalError("more arguments than were given") }
        } catch {
            guard error.exitCode == .unusable else { fatalError("a usage error that exits with \(error.exitCode)") }
        }
    }
    for argument in arguments {
        guard let endpoint = try? HostArgument.endpoint(argument) else { continue }
        guard (try? HostArgument.endpoint(endpoint.description)) == endpoint else {
            fatalError("\(endpoint) reads as something else")
        }
    }
    return 0
}
