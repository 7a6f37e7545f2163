internal import Foundation
internal import Glibc

/// The file that a download is written to, in the temporary directory.
final class DownloadFile: Sendable {
    let url: URL
    private let descriptor: CInt

    init?() {
        let directory = FileManager.default.temporaryDirectory
        url = directory.appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
        // 0600 and never a file that is there already: the name is known to nobody, the directory is shared.
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
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

    func remove() {
        unlink(url.path)
    }
}
