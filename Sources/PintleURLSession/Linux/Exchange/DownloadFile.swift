internal import Foundation
internal import Glibc
internal import Synchronization

/// The temporary file of a download. It is deleted with this object, unless ``persist()`` was called.
final class DownloadFile: Sendable {
    let url: URL
    private let descriptor: CInt
    private let isKept = Atomic(false)

    /// - Throws: an error if the file cannot be created.
    init() throws(SessionError) {
        let directory = FileManager.default.temporaryDirectory
        url = directory.appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
        // Other users share this directory: use mode 0600 and a random name, and never open an existing file.
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SessionError(
                .invalidRequest, "no file can be made in \(directory.path): \(String(cString: strerror(errno)))",
                hint: "downloads need a temporary directory; TMPDIR names it", errorCode: NSURLErrorCannotCreateFile)
        }
    }

    deinit {
        // Without a descriptor, a file of this name belongs to another program.
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !isKept.load(ordering: .relaxed) { remove() }
    }

    func append(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { return false }
                rest = rest.dropFirst(max(0, count))
            }
            return true
        }
    }

    /// Lets the file outlive this object. The caller of the download owns it from now on.
    func persist() {
        isKept.store(true, ordering: .relaxed)
    }

    func remove() {
        unlink(url.path)
    }
}
