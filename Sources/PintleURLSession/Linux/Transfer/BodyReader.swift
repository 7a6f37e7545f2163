internal import Foundation
internal import Glibc

/// A reader of a request's content, for one transfer.
final class BodyReader {
    enum Piece {
        /// The number of bytes read; 0 at the end.
        case bytes(Int)
        /// The stream has no bytes yet. It calls back when it has some.
        case later
        case failed
        /// The stream or file has more than the announced bytes.
        case excess
    }

    private let content: RequestContent
    private(set) var offset: Int64 = 0
    private let file: CInt

    init(_ content: RequestContent) throws(TransferError) {
        self.content = content
        if case .stream(let stream?, let size?) = content { stream.announce(size) }
        guard case .file(let path, _) = content else {
            file = -1
            return
        }
        // `O_NONBLOCK`: opening a pipe blocks until its other end is open, and this thread runs all transfers.
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw .refused(SessionError(.invalidRequest, "the file to upload cannot be read: \(path)"))
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            // All properties are set, so `deinit` closes the file.
            throw .refused(
                SessionError(.invalidRequest, "what is to be uploaded is no file: \(path)", hint: "upload its data"))
        }
        guard status.st_size == content.size ?? -1 else {
            throw .refused(
                SessionError(.invalidRequest, "the file to upload has changed since the upload began: \(path)"))
        }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let count = Int(min(Int64(buffer.count), (content.size ?? .max) - offset))
        guard count > 0, let base = buffer.baseAddress else { return .bytes(0) }
        let piece: Piece
        switch content {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            data.copyBytes(to: buffer, from: start..<start + count)
            piece = .bytes(count)
        case .file:
            let got = pread(file, base, count, off_t(offset))
            // The file has become shorter, so the announced length cannot be sent.
            if got <= 0 { return .failed }
            // Checked before the last bytes go, so that the server does not take a part for the whole file.
            if offset + Int64(got) == content.size, hasGrown { return .excess }
            piece = .bytes(got)
        case .stream(let stream?, let size):
            piece = stream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)))
            // The same holds for a stream that ends before its announced length.
            if case .bytes(0) = piece, size != nil { return .failed }
        case .none, .stream(nil, _), .refused: piece = .bytes(0)
        }
        if case .bytes(let count) = piece { offset += Int64(count) }
        return piece
    }

    /// A Boolean value that indicates whether the file is longer than its announced size.
    private var hasGrown: Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_size > content.size ?? .max
    }

    /// A Boolean value that indicates whether a stream was seen to have more than the announced bytes.
    var isTooLong: Bool {
        if case .stream(let stream?, _) = content { stream.isTooLong } else { false }
    }

    func seek(to offset: Int64) -> Bool {
        if case .stream(let stream?, _) = content { return offset == self.offset || offset == 0 && stream.isWhole }
        guard (0...(content.size ?? 0)).contains(offset) else { return false }
        self.offset = offset
        return true
    }
}
