internal import Foundation
internal import Glibc

/// The content of a request, read from where the transfer is.
final class BodyReader {
    private let body: TransferRequest.Body
    private var offset: Int64 = 0
    private let file: CInt

    init(_ body: TransferRequest.Body) throws(TransferFailure) {
        self.body = body
        guard case .file(let path, _) = body else {
            file = -1
            return
        }
        // Opening a pipe waits for its other end, and everybody would wait with this thread.
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw .refused(SessionRefusal(.invalidRequest, "the file to upload cannot be read: \(path)"))
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            // Everything has its value by now, so that `deinit` closes it.
            throw .refused(
                SessionRefusal(.invalidRequest, "what is to be uploaded is no file: \(path)", hint: "upload its data"))
        }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// How many bytes there were; `nil` where they cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = Int(min(Int64(buffer.count), body.size - offset))
        guard count > 0, let base = buffer.baseAddress else { return 0 }
        switch body {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            data.copyBytes(to: buffer, from: start..<start + count)
            offset += Int64(count)
            return count
        case .file:
            let got = pread(file, base, count, off_t(offset))
            // A file that has become shorter cannot keep the promised length.
            guard got > 0 else { return nil }
            offset += Int64(got)
            return got
        }
    }

    func seek(to offset: Int64) -> Bool {
        guard (0...body.size).contains(offset) else { return false }
        self.offset = offset
        return true
    }
}
