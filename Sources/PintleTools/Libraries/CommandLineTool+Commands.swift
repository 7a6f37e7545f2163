package import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem

extension Command {
    /// Every command, in the order of the help.
    static let all: [Command] = [
        .pin, .check, .trust, .lint, .audit, .report, .inspect, .plan, .renew, .export, .import, .sync,
        .evaluate, .keygen, .sign, .verify, .rehearse, .demo,
    ]
}

extension CommandLineTool {
    /// The tool with every command.
    init(
        environment: [String: String], input: ByteSource, output: ByteSink, errors: ByteSink, now: Date = Date()
    ) {
        self.init(
            commands: Command.all, libraries: LinkedLibraries(), environment: environment, input: input,
            output: output, errors: errors, now: now)
    }

    /// Runs the tool with every command on this process's own arguments and streams. Call it once, on the main thread.
    ///
    /// - Returns: the exit code of the process: 0 for success, 1 for a refusal or a problem, 2 if the command line or
    ///   an input cannot be used, 3 if no server answered.
    package static func main() -> Int32 { main(Command.all, LinkedLibraries()) }

    /// A Boolean value that indicates whether a thread that cannot be interrupted still runs. If so, end the process by
    /// `_exit`.
    package static var leavesThreads: Bool { AuditThread.isAnyLeftBehind }
}
