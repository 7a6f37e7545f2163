internal import PintleSystem

/// A new directory under `$TMPDIR` or `/tmp`, mode 0700. It is removed with its contents when the last reference to
/// this object is released.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a slash at the end.
    package let path: String

    /// Makes a directory with a unique name.
    ///
    /// - Parameter parent: the folder that stands for `$TMPDIR`.
    package init(under parent: String? = nil) throws(SystemCallError) {
        let base = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/pintle-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw .last("making a temporary directory under \(base)") }
        path = String(cString: made)
    }

    deinit { removeTree(path) }

    /// Returns the absolute path of a name in this directory. No file is made.
    package func path(of name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, by default with mode 0600, and returns its absolute path. Makes the directories in `name`.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o600) throws(SystemCallError) -> String {
        let target = path(of: name)
        try makeParents(of: name)
        let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(truncatingIfNeeded: mode))
        guard descriptor >= 0 else { throw .last("opening \(target)") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { PintleSystem.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .last("writing \(target)") }
            rest = rest.dropFirst(count)
        }
        return target
    }

    /// Writes a file of text, UTF-8, and returns its absolute path.
    @discardableResult
    package func write(_ text: String, to name: String, mode: UInt32 = 0o600) throws(SystemCallError) -> String {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    /// Returns the bytes of a file in this directory.
    package func read(_ name: String) throws(SystemCallError) -> [UInt8] {
        let source = path(of: name)
        let descriptor = open(source, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("opening \(source)") }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = PintleSystem.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last("reading \(source)") }
            if count == 0 { return content }
            content.append(contentsOf: buffer.prefix(count))
        }
    }

    private func makeParents(of name: String) throws(SystemCallError) {
        var directory = path
        for component in name.split(separator: "/").dropLast() {
            directory += "/\(component)"
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .last("making \(directory)") }
        }
    }
}

/// Removes a directory and its contents. Does not follow symbolic links.
private func removeTree(_ path: String) {
    if let stream = opendir(path) {
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != "." && name != ".." else { continue }
            var status = stat()
            let child = "\(path)/\(name)"
            if lstat(child, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR {
                removeTree(child)
            } else {
                unlink(child)
            }
        }
        closedir(stream)
    }
    rmdir(path)
}
