import FoundationEssentials
import Glibc
import Synchronization

@testable import PintleConsole
@testable import PintleTools

/// One run of the tool inside this process, with a pseudo-terminal as its input and screen.
struct TerminalRun {
    let code: Int32
    /// Everything on the screen: the typed answers, the questions and the verdict.
    let screen: String

    /// - Parameters:
    ///   - answers: each is typed when its question appears; `\u{04}` ends the input. If there are more questions than
    ///     answers, the input ends.
    ///   - early: the text that waits in the terminal before the tool starts.
    ///   - output: the sink for standard output, instead of the screen.
    ///   - meanwhile: called while the first question waits for its answer.
    init(
        _ arguments: [String], answers: [String], early: String = "",
        environment: [String: String] = ["LANG": "C.UTF-8"],
        now: Date = Date(), output: ByteSink? = nil, meanwhile: @escaping @Sendable () -> Void = {}
    ) throws {
        let terminal = try PseudoTerminal()
        terminal.type(early)
        try terminal.watch { number in
            if number == 0 { meanwhile() }
            return number < answers.count ? answers[number] : "\u{04}"
        }
        let screen = ByteSink(descriptor: terminal.slave)
        let tool = CommandLineTool(
            environment: environment.merging(["TERM": "dumb"]) { $1 }, input: ByteSource(descriptor: terminal.slave),
            output: output ?? screen, errors: screen, now: now)
        code = tool.run(arguments)
        self.screen = terminal.closeAndRead()
    }
}

/// Both ends of a pseudo-terminal.
final class PseudoTerminal {
    private let master: Int32
    /// The end that a program uses for input and output.
    private(set) var slave: Int32
    private var watcher: pthread_t?
    private let shown = OutputLog()

    struct Unavailable: Error {
        let code: Int32
    }

    private final class OutputLog: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    /// The state of the watching thread.
    private final class Watch: Sendable {
        let master: Int32
        let shown: OutputLog
        let answer: @Sendable (Int) -> String

        init(master: Int32, shown: OutputLog, answer: @escaping @Sendable (Int) -> String) {
            self.master = master
            self.shown = shown
            self.answer = answer
        }

        func run() {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var answered = 0
            while true {
                let count = read(master, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                // `read` fails if the other end of a terminal is closed. It does not return 0.
                guard count > 0 else { return }
                let screen = shown.bytes.withLock { bytes in
                    bytes += buffer.prefix(count)
                    return bytes
                }
                // Only questions end like this.
                let questions =
                    String(decoding: screen, as: UTF8.self).split(
                        separator: " [no]: ", omittingEmptySubsequences: false
                    ).count - 1
                while answered < questions {
                    PseudoTerminal.type(answer(answered), into: master)
                    answered += 1
                }
            }
        }
    }

    init() throws {
        // These are the ioctls behind posix_openpt, unlockpt and ptsname, which Glibc's module leaves out.
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
        _ = closeAndRead()
        close(master)
    }

    func type(_ text: String) { Self.type(text, into: master) }

    private static func type(_ text: String, into master: Int32) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Reads the screen on a separate thread, and types an answer to each question.
    ///
    /// - Parameter answer: returns the text to type for the question with this number, from 0.
    func watch(_ answer: @escaping @Sendable (Int) -> String) throws {
        let watch = Unmanaged.passRetained(Watch(master: master, shown: shown, answer: answer))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { pointer in
                if let pointer { Unmanaged<Watch>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            }, watch.toOpaque())
        guard code == 0 else {
            watch.release()
            throw Unavailable(code: code)
        }
        watcher = thread
    }

    /// Returns everything that was shown. Nothing more can be written after that.
    func closeAndRead() -> String {
        if slave >= 0 { close(slave) }
        slave = -1
        if let watcher { pthread_join(watcher, nil) }
        watcher = nil
        let bytes = shown.bytes.withLock { $0 }
        return String(decoding: bytes.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }
}
