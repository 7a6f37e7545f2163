internal import PintleSystem

// The functions of the dynamic linker are not in the module Darwin.
#if canImport(MachO)
internal import MachO
#endif

/// Facts about the running program.
package enum RunningProgram {
    /// The environment variables, each as `NAME=value`.
    package static var environment: [String] {
        #if canImport(Darwin)
        var entry = _NSGetEnviron().pointee
        #else
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        #endif
        var variables: [String] = []
        while let text = entry?.pointee {
            variables.append(String(cString: text))
            entry = entry?.advanced(by: 1)
        }
        return variables
    }

    /// The words behind the program's name; `nil` if one of them is not UTF-8.
    ///
    /// `CommandLine.arguments` repairs such a word, so the program would read or write a file of another name.
    package static var arguments: [String]? {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[index].flatMap({ String(validatingCString: $0) }) else {
                return nil
            }
            words.append(word)
        }
        return words
    }

    /// The absolute path of the program's file; `nil` if the system does not say it.
    package static var path: String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        #if canImport(Darwin)
        var size = UInt32(buffer.count)
        guard _NSGetExecutablePath(&buffer, &size) == 0 else { return nil }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        #else
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #endif
    }

    /// Opens `/dev/null` for each standard stream that the program was started without. Call it before anything else.
    ///
    /// Otherwise the next file to be opened gets the descriptor of that stream, and output for the stream is written
    /// into the file. The open mode does not fit the stream, so reading or writing it still fails.
    package static func openMissingStreams() {
        for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor, because the ones before it are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// The limit of open descriptors; `nil` if the system does not say it.
    package static var descriptorLimit: Int? {
        var limit = rlimit()
        #if canImport(Darwin)
        guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return nil }
        #else
        guard getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        #endif
        return Int(clamping: limit.rlim_cur)
    }
}
