import FoundationEssentials
import Glibc
import PintleTools

/// One run of the tool inside this process, on a terminal of its own: what was typed, and what somebody sees there.
struct TerminalRun {
    let code: Int32
    /// Everything on the screen: what was typed, the talk and the verdict.
    let screen: String

    /// - Parameter typed: waits in the terminal before the tool asks; `\u{04}` ends the input.
    init(_ arguments: [String], typing typed: String, now: Date = Date()) throws {
        let terminal = try PseudoTerminal()
        terminal.type(typed)
        let tool = CommandLineTool(
            environment: ["LANG": "C.UTF-8", "TERM": "dumb"], input: ByteSource(descriptor: terminal.slave),
            output: ByteSink(descriptor: terminal.slave), errors: ByteSink(descriptor: terminal.slave), now: now)
        code = tool.run(arguments)
        screen = terminal.closeAndRead()
    }
}

/// Both ends of a terminal.
final class PseudoTerminal {
    private let master: Int32
    /// What a program has as its input and outputs.
    private(set) var slave: Int32

    struct Unavailable: Error {
        let code: Int32
    }

    init() throws {
        // What posix_openpt, unlockpt and ptsname do, which Glibc's module leaves out.
        let (getNumber, setLock): (UInt, UInt) = (0x8004_5430, 0x4004_5431)
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked): (CInt, CInt) = (0, 0)
        guard master >= 0, ioctl(master, setLock, &isLocked) == 0, ioctl(master, getNumber, &number) == 0 else {
            slave = -1
            throw Unavailable(code: errno)
        }
        slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Unavailable(code: errno) }
    }

    deinit {
        if slave >= 0 { close(slave) }
        close(master)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Everything that was shown; nothing more can be written.
    func closeAndRead() -> String {
        close(slave)
        slave = -1
        var shown: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(master, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // A terminal whose other end is closed is an error, not an end.
            guard count > 0 else { break }
            shown += buffer.prefix(count)
        }
        return String(decoding: shown.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }
}
