internal import Glibc

/// A destination of text: a terminal, a file, a pipe, or a test.
struct ByteSink {
    /// A Boolean value that indicates whether a person looks at it directly. Only then there are colours and progress.
    let isTerminal: Bool
    /// The width in columns, if it is known.
    let width: Int?
    /// Writes the bytes. Returns `false` if they could not be written.
    let write: ([UInt8]) -> Bool

    init(isTerminal: Bool = false, width: Int? = nil, write: @escaping ([UInt8]) -> Bool) {
        self.isTerminal = isTerminal
        self.width = width
        self.write = write
    }

    /// Writes to an open file, such as 1 for standard output.
    init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        width = Self.columns(descriptor)
        write = { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
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
