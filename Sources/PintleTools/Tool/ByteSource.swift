internal import Glibc

/// A source of bytes: standard input, a file, or a test.
struct ByteSource {
    /// A Boolean value that indicates whether a person types the bytes.
    let isTerminal: Bool
    /// Drops the bytes that were typed before the question. Does nothing for a source without a terminal.
    let discardTyped: () -> Void
    /// Reads at least one byte and at most the given number; returns none at the end. Throws the number of a system error.
    let readSome: (Int) throws(SystemError) -> [UInt8]

    struct SystemError: Error {
        let number: Int32
        var message: String { String(cString: strerror(number)) }
    }

    init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        discardTyped = { [isTerminal] in if isTerminal { _ = tcflush(descriptor, TCIFLUSH) } }
        readSome = { (limit) throws(SystemError) in
            while true {
                var count = 0
                var number: Int32 = 0
                let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
                    count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
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
