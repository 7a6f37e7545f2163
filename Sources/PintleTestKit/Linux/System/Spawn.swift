internal import PintleProcess
internal import PintleSystem
internal import Synchronization

/// Starts a program in a process group of its own, with the default action of SIGPIPE, and returns its process id.
///
/// `removed` names variables of this process that the program does not get.
func spawn(
    _ command: [String], input: [UInt8], stdout: Int32, stderr: Int32,
    environment: [String: String], without removed: Set<String> = [], workingDirectory: String?
) throws(SystemCallError) -> pid_t {
    let operation = "starting \(command.first ?? "a program without a name")"
    // A file and not a pipe: no thread has to write to it, and there is no SIGPIPE if the program does not read.
    let stdin = try unnamedFile(holding: input)
    let words = workingDirectory.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] + command } ?? command
    let (child, code) = withCStrings(words) { arguments in
        withCStrings(mergedEnvironment(environment, without: removed)) { variables in
            descriptorLock.withLock { _ in
                ProgramStart.start(arguments, variables, stdin: stdin.number, stdout: stdout, stderr: stderr)
            }
        }
    }
    guard code == 0 else { throw SystemCallError(operation: operation, code: code) }
    return child
}

/// Reaps a child that has ended. Returns its exit status, or 128 plus the number of the signal that ended it; `nil`
/// while it runs.
func reap(_ child: pid_t) -> Int32? {
    status(of: child, options: WNOHANG)
}

/// Waits for a child to end, and reaps it.
func waitForEnd(of child: pid_t) -> Int32? {
    status(of: child, options: 0)
}

private func status(of child: pid_t, options: Int32) -> Int32? {
    var status: Int32 = 0
    var result: pid_t
    repeat { result = waitpid(child, &status, options) } while result < 0 && errno == EINTR
    if result == 0 { return nil }
    guard result == child else { return -1 }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
}

/// Opens a deleted file with `bytes`, for reading from its start.
private func unnamedFile(holding bytes: [UInt8]) throws(SystemCallError) -> FileDescriptor {
    let directory = try TemporaryDirectory()
    let path = try directory.write(bytes, to: "stdin")
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw .last("opening \(path)") }
    return FileDescriptor(number)
}

private func mergedEnvironment(_ changes: [String: String], without removed: Set<String>) -> [String] {
    let variables = RunningProgram.environment.filter { variable in
        let name = String(variable.prefix { $0 != "=" })
        return changes[name] == nil && !removed.contains(name)
    }
    return variables + changes.map { "\($0.key)=\($0.value)" }
}

/// Runs `body` with a null-terminated array of C strings, which are freed when it returns.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
    for (index, string) in strings.enumerated() { (pointers + index).initialize(to: strdup(string)) }
    (pointers + strings.count).initialize(to: nil)
    defer {
        for index in strings.indices { free(pointers[index]) }
        pointers.deallocate()
    }
    return body(pointers)
}
