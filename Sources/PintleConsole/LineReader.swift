internal import PintleSystem

/// Splits a stream into lines, in memory that does not grow with the stream.
package struct LineReader {
    package enum Line {
        /// A line without its line break.
        case text([UInt8])
        /// A line that is longer than allowed. It was skipped, unless the reader stops there.
        case tooLong
    }

    private let source: ByteSource
    private let limit: Int
    private let stopsAtLongLine: Bool
    private var buffer: [UInt8] = []
    /// The index of the first byte in `buffer` that was not handed out yet.
    private var start = 0
    private var isAtEnd = false
    /// A Boolean value that indicates whether the last line that was read had no line break.
    package private(set) var isTorn = false

    /// - Parameters:
    ///   - limit: the longest line in bytes.
    ///   - stopsAtLongLine: `true` if nothing is read after a longer line, which may have no end.
    package init(_ source: ByteSource, limit: Int, stopsAtLongLine: Bool = false) {
        self.source = source
        self.limit = limit
        self.stopsAtLongLine = stopsAtLongLine
    }

    /// Returns the next line, or `nil` at the end. Bytes behind the last line break are a line if there are any.
    package mutating func next() throws(ByteSource.SystemError) -> Line? {
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
            if buffer.count - start > limit {
                if stopsAtLongLine { return .tooLong }
                isSkipping = true
            }
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
