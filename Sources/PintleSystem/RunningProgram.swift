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
