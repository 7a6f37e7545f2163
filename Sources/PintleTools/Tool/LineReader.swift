internal import PintleSystem

/// Splits a stream into lines, in memory that does not grow with the stream.
struct LineReader {
    enum Line {
        /// A line without its line break.
        case text([UInt8])
        /// A line that is longer than allowed. It was skipped.
        case tooLong
    }

    private let source: ByteSource
    private let limit: Int
    private var buffer: [UInt8] = []
    /// The index of the first byte in `buffer` that was not handed out yet.
    private var start = 0
    private var isAtEnd = false
    /// A Boolean value that indicates whether the last line that was read had no line break.
    private(set) var isTorn = false

    /// - Parameter limit: the longest line in bytes.
    init(_ source: ByteSource, limit: Int) {
        self.source = source
        self.limit = limit
    }

    /// Returns the next line, or `nil` at the end. Bytes behind the last line break are a line if there are any.
    mutating func next() throws(ByteSource.SystemError) -> Line? {
        var scanned = start
        var isSkipping = false
        while true {
            if let end = lineBreak(from: scanned) {
                let line = buffer[start..<end]
                start = end + 1
                return isSkipping || line.count > limit ? .tooLong : .text(Array(line))
            }
            if isAtEnd {
                let line = buffer[start...]
                start = buffer.count
                isTorn = isSkipping || !line.isEmpty
                if isSkipping || line.count > limit { return .tooLong }
                return line.isEmpty ? nil : .text(Array(line))
            }
            if buffer.count - start > limit { isSkipping = true }
            if isSkipping { start = buffer.count }
            buffer.removeSubrange(..<start)
            start = 0
            scanned = buffer.count
            let bytes = try source.readSome(65_536)
            isAtEnd = bytes.isEmpty
            buffer += bytes
        }
    }

    private func lineBreak(from index: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard index < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + index, 0x0A, bytes.count - index)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
