/// Starts programs with `posix_spawn`.
package enum ProgramStart {
    /// Starts a program in a process group of its own, without blocked signals and with the default action of SIGPIPE.
    ///
    /// - Parameters:
    ///   - arguments: the program, looked up in `PATH` unless its name holds a slash, its arguments, and a null
    ///     pointer.
    ///   - variables: the environment, with a null pointer at its end.
    /// - Returns: the process id, and 0 or the number of the error.
    package static func start(
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        _ variables: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, stdin: CInt, stdout: CInt, stderr: CInt
    ) -> (child: pid_t, code: CInt) {
        guard let program = arguments[0] else { return (-1, ENOENT) }
        var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        // The program inherits the three descriptors below and no other one.
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        posix_spawn_file_actions_adddup2(&actions, stderr, 2)

        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var child: pid_t = -1
        let code = posix_spawnp(&child, program, &actions, &attributes, arguments, variables)
        return (child, code)
    }
}
