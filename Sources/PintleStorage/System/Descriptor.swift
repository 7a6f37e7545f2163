internal import PintleSystem

/// An open file, which is closed with the last reference.
package final class Descriptor: Sendable {
    let number: Int32

    /// Takes ownership of a descriptor; `nil` for the negative number of a failed `open`.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Opens a file without waiting for the other end of a pipe. A child process does not inherit the descriptor.
    ///
    /// - Returns: `nil` on failure; `errno` gives the reason.
    static func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0, followingLinks followsLinks: Bool = false
    ) -> Descriptor? {
        // C would stop at the NUL and open another file than the named one.
        guard !path.utf8.contains(0) else {
            errno = EINVAL
            return nil
        }
        // With O_NONBLOCK, a pipe without a writer cannot block before `fstat` identifies it.
        let link = followsLinks ? 0 : O_NOFOLLOW
        return Descriptor(openFile(path, flags | link | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode))
    }

    /// The result of `fstat`; `nil` on failure, with the reason in `errno`.
    var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// Returns everything from the current position on, up to one byte more than `limit`.
    ///
    /// - Parameters:
    ///   - limit: the limit in bytes.
    ///   - size: the number of bytes to reserve memory for; the file may have fewer or more.
    /// - Returns: `nil` on failure; `errno` gives the reason.
    func content(limit: Int, expecting size: Int = 0) -> [UInt8]? {
        var content: [UInt8] = []
        content.reserveCapacity(max(0, min(size, limit)) + 1)
        while content.count <= limit {
            var count = 0
            let some = [UInt8](unsafeUninitializedCapacity: min(65_536, limit + 1 - content.count)) {
                buffer, initialized in
                repeat { count = read(number, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
                initialized = max(0, count)
            }
            if count < 0 { return nil }
            if count == 0 { break }
            content += some
        }
        return content
    }

    /// Writes all bytes. Returns `false` on failure; `errno` gives the reason.
    func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeFile(number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Returns the system's text for an error number, worded for the middle of a sentence: lower case, no full stop.
    package static func errorText(_ number: Int32) -> String {
        guard let text = strerror(number).map({ String(cString: $0) }) else { return "error \(number)" }
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Waits until the content is on the disk. Returns `false` on failure; `errno` gives the reason.
    func sync() -> Bool {
        #if canImport(Darwin)
        // On Darwin, `fsync` leaves the content in the drive's cache.
        if fcntl(number, F_FULLFSYNC) == 0 { return true }
        #endif
        while fsync(number) != 0 {
            // Some file systems report EINVAL because a folder has nothing to synchronize.
            if errno == EINVAL { return true }
            if errno != EINTR { return false }
        }
        return true
    }
}

// Methods with the same names hide the C functions.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func writeFile(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(number, bytes, count) }
