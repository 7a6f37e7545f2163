internal import Glibc
internal import Pintle

/// The passphrase of a signing key: from the environment if it is set there, else from the terminal.
enum Passphrase {
    static let variable = "PINTLE_KEY_PASSPHRASE"

    /// Returns the bytes in UTF-8, without a line break; never empty. The caller wipes them.
    static func read(for file: String, _ invocation: Invocation) throws(ToolError) -> [UInt8] {
        if let value = invocation.environment[variable], !value.isEmpty { return Array(value.utf8) }
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw .unusable(
                "encrypted-key", "the key has a passphrase, and there is no terminal to ask for it", file: file,
                hint: "set \(variable)")
        }
        defer { close(terminal) }
        return try ask("passphrase of \(SafeText.escape(file)): ", on: terminal, file: file)
    }

    private static func ask(_ question: String, on terminal: Int32, file: String) throws(ToolError) -> [UInt8] {
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { throw unread(file) }
        var silent = before
        // Signals are blocked, because one that ended the program here would leave the terminal without echo.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { throw unread(file) }
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        let sink = ByteSink(descriptor: terminal)
        _ = sink.write(Array(question.utf8))
        let line: [UInt8]
        do {
            line = try ByteSource(descriptor: terminal).readSome(4_096)
        } catch {
            throw unread(file)
        }
        _ = sink.write([0x0A])
        let interrupt: UInt8 = 3
        let text = line.prefix { $0 != 0x0A && $0 != 0x0D }
        guard !text.isEmpty, !text.contains(interrupt) else { throw unread(file) }
        return Array(text)
    }

    private static func unread(_ file: String) -> ToolError {
        .unusable("encrypted-key", "no passphrase was given", file: file, hint: "set \(variable), or type it")
    }
}
