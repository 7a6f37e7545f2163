internal import PintleSystem

/// A source of bytes: standard input, a file, or a test.
package struct ByteSource {
    /// A Boolean value that indicates whether a person types the bytes.
    package let isTerminal: Bool
    /// Drops the bytes that were typed before the question. Does nothing for a source without a terminal.
    package let discardTyped: () -> Void
    /// Reads at least one byte and at most the given number; returns none at the end. Throws the number of a system
    /// error.
    let readSome: (Int) throws(SystemError) -> [UInt8]

    package struct SystemError: Error {
        let number: Int32
        package var message: String { String(cString: strerror(number)) }
    }

    package init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        discardTyped = { [isTerminal] in if isTerminal { _ = tcflush(descriptor, TCIFLUSH) } }
        readSome = { (limit) throws(SystemError) in
            while true {
                var count = 0
                var number: Int32 = 0
                let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
                    count = PintleSystem.read(descriptor, buffer.baseAddress, buffer.count)
                    number = errno
                    initialized = max(0, count)
                }
                if count >= 0 { return bytes }
                if number != EINTR { throw SystemError(number: number) }
            }
        }
    }

    init(_ bytes: [UInt8]) {
        isTerminal = false
        discardTyped = {}
        var rest = bytes[...]
        readSome = { (limit) throws(SystemError) in
            defer { rest = rest.dropFirst(limit) }
            return Array(rest.prefix(limit))
        }
    }

    /// Returns everything, or `nil` if there are more than `limit` bytes.
    func readAll(limit: Int) throws(SystemError) -> [UInt8]? {
        var content: [UInt8] = []
        while true {
            let bytes = try readSome(65_536)
            if bytes.isEmpty { return content }
            content += bytes
            if content.count > limit { return nil }
        }
    }
}

/// A destination of text: a terminal, a file, a pipe, or a test.
package struct ByteSink {
    /// A Boolean value that indicates whether a person looks at it directly. Only then there are colours and progress.
    let isTerminal: Bool
    /// The width in columns, if it is known.
    let width: Int?
    /// Writes the bytes. Returns `false` if they could not be written.
    package let write: ([UInt8]) -> Bool

    init(isTerminal: Bool = false, width: Int? = nil, write: @escaping ([UInt8]) -> Bool) {
        self.isTerminal = isTerminal
        self.width = width
        self.write = write
    }

    /// Writes to an open file, such as 1 for standard output.
    package init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        width = Self.columns(descriptor)
        write = { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { PintleSystem.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR, !Interrupts.areAsking { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
                // A write that a signal cut short would block again.
                if !rest.isEmpty, Interrupts.areAsking { return false }
            }
            return true
        }
    }

    private static func columns(_ descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
