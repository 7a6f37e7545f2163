internal import Foundation
internal import Glibc
internal import Synchronization

/// The file that a download is written to, in the temporary directory. It goes with this object, unless
/// somebody keeps it.
final class DownloadFile: Sendable {
    let url: URL
    private let descriptor: CInt
    private let isKept = Atomic(false)

    /// - Throws: why there can be none.
    init() throws(SessionRefusal) {
        let directory = FileManager.default.temporaryDirectory
        url = directory.appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
        // 0600 and never a file that is there already: the name is known to nobody, the directory is shared.
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SessionRefusal(
                .invalidRequest, "no file can be made in \(directory.path): \(String(cString: strerror(errno)))",
                hint: "downloads need a temporary directory; TMPDIR names it", errorCode: NSURLErrorCannotCreateFile)
        }
    }

    deinit {
        // Without a descriptor the file, where there is one, is somebody else's.
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

    /// Leaves the file to whoever has been given its place.
    func persist() {
        isKept.store(true, ordering: .relaxed)
    }

    func remove() {
        unlink(url.path)
    }
}
