internal import CZlib
internal import Foundation

/// A decoder of content in gzip or deflate (RFC 9110 section 8.4.1).
///
/// It decodes one piece at a time, when the task takes it. So content that expands a few bytes to very many needs no
/// more memory than other content. Other codings are not offered: a decoder for br may keep 16 MiB for each response,
/// one for zstd 128 MiB.
final class ContentDecoder {
    /// The value of `Accept-Encoding`.
    static let offered = "gzip, deflate"
    /// The largest number of bytes in a decoded piece.
    static let pieceSize = 256 << 10
    /// The number of encoded bytes that may come without any decoded content.
    static let silentLimit = 256 << 10

    private enum Format {
        case gzip
        /// A member of gzip was read. Another one may follow (RFC 1952 section 2.2).
        case betweenMembers
        /// Most servers mean the zlib format by deflate (RFC 1950), as the standard does; some mean bare deflate (RFC
        /// 1951). The first two bytes tell.
        case unknown
        case deflate
        /// The end of the coding was read. What follows is ignored, as in browsers.
        case over
    }

    /// Not moved, because zlib's state refers to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var format: Format
    private var input = Data()
    /// A Boolean value that indicates whether zlib may have more output without more input.
    private var hasOutput = false
    private var silentBytes = 0

    /// - Parameter isGzip: `false` for deflate.
    init(isGzip: Bool) {
        stream.initialize(to: z_stream())
        format = isGzip ? .gzip : .unknown
        if isGzip { begin(windowBits: 16 + MAX_WBITS) }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// A Boolean value that indicates whether nothing can be decoded without more input.
    var needsInput: Bool { !hasOutput && input.count < (format == .unknown ? 2 : 1) }

    /// Adds encoded bytes. What is left is copied, because a slice keeps the bytes before it.
    func feed(_ bytes: Data) { input = input.isEmpty ? bytes : input + bytes }

    /// Decodes the next piece, which may be empty. Call it only if ``needsInput`` is `false`.
    func decode() throws(ContentError) -> Data {
        switch format {
        case .unknown: recognize()
        case .betweenMembers:
            format = input.first == 0x1F ? .gzip : .over
            inflateReset(stream)
        case .gzip, .deflate, .over: break
        }
        guard format != .over else {
            try count(input.count, decoded: 0)
            input = Data()
            return Data()
        }
        var output = Data(count: min(Self.pieceSize, max(input.count * 8, 4 << 10)))
        let (read, written, result) = inflate(into: &output)
        output.count = written
        hasOutput = written > 0 && stream.pointee.avail_out == 0
        input = input.dropFirst(read)
        switch result {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: (format, hasOutput) = (format == .gzip ? .betweenMembers : .over, false)
        case Z_MEM_ERROR: throw ContentError(text: "out of memory: the content of the response cannot be decoded")
        default: throw ContentError(text: "the content of the response is not in the coding that its head names")
        }
        try count(read, decoded: written)
        return output
    }

    private func inflate(into output: inout Data) -> (read: Int, written: Int, result: CInt) {
        let (room, given) = (output.count, input.count)
        let result = input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                // zlib does not write to its input.
                stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: input.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(clamping: given)
                stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_out = UInt32(clamping: room)
                return CZlib.inflate(stream, Z_NO_FLUSH)
            }
        }
        return (given - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out), result)
    }

    private func recognize() {
        guard input.count >= 2 else { return }
        let (first, second) = (input[input.startIndex], input[input.startIndex + 1])
        // RFC 1950 section 2.2: the method, and a check of both bytes.
        let isZlib = first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
        format = .deflate
        begin(windowBits: isZlib ? MAX_WBITS : -MAX_WBITS)
    }

    /// If zlib has no memory, the first call to decode reports it.
    private func begin(windowBits: CInt) { _ = pintle_inflate_init(stream, windowBits) }

    private func count(_ read: Int, decoded: Int) throws(ContentError) {
        silentBytes = decoded > 0 ? 0 : silentBytes + read
        guard silentBytes <= Self.silentLimit else {
            throw ContentError(text: "more than \(Self.silentLimit >> 10) KiB of coded content decode to nothing")
        }
    }
}

/// The reason why content cannot be decoded within the limits, as a sentence without its full stop.
struct ContentError: Error {
    let text: String
}
