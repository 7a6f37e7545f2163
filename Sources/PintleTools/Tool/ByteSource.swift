internal import Glibc

/// Where bytes come from: standard input, a file, or a test.
public struct ByteSource {
    /// Whether a person types it.
    let isTerminal: Bool
    /// Drops what was typed before it was asked for; where nobody types, nothing.
    let discardTyped: () -> Void
    /// At most so many bytes, at least one; none at the end. Throws the number of a system error.
    let readSome: (Int) throws(SystemError) -> [UInt8]

    struct SystemError: Error {
        let number: Int32
        var message: String { String(cString: strerror(number)) }
    }

    public init(descriptor: Int32) {
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

    public init(_ bytes: [UInt8]) {
        isTerminal = false
        discardTyped = {}
        var rest = bytes[...]
        readSome = { (limit) throws(SystemError) in
            defer { rest = rest.dropFirst(limit) }
            return Array(rest.prefix(limit))
        }
    }

    /// Everything, up to `limit` bytes; `nil` where there is more.
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
