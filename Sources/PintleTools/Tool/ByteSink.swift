internal import Glibc

/// Where text goes: a terminal, a file, a pipe, or a test.
public struct ByteSink {
    /// Whether a person looks at it directly: colours and progress only there.
    public let isTerminal: Bool
    /// Columns, where known.
    public let width: Int?
    /// Gives false where the bytes could not be written.
    let write: ([UInt8]) -> Bool

    public init(isTerminal: Bool = false, width: Int? = nil, write: @escaping ([UInt8]) -> Bool) {
        self.isTerminal = isTerminal
        self.width = width
        self.write = write
    }

    /// An open file, such as 1 for standard output.
    public init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        width = Self.columns(descriptor)
        write = { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR, !Interrupts.areAsking { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
                // What a signal cut short would wait again.
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
