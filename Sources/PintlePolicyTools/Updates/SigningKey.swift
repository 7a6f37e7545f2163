package import Pintle
package import PintleConsole
internal import PintleCrypto
internal import PintleProcess
package import PintleSystem
internal import PintleText
package import PintleUpdates

/// A private Ed25519 key while it is in use. Its creator wipes it.
package struct SigningKey {
    /// The seed of RFC 8032 section 5.1.5: 32 bytes.
    private var seed: [UInt8]
    package let publicKey: UpdateKey

    private init?(seed: [UInt8]) {
        guard let raw = Ed25519.publicKey(ofSeed: seed), let key = try? UpdateKey(rawRepresentation: raw) else {
            return nil
        }
        self.seed = seed
        publicKey = key
    }

    func signature(of message: [UInt8]) throws(ToolError) -> SignedEnvelope.Signature {
        guard let bytes = Ed25519.signature(of: message, seed: seed) else {
            throw .unusable("no-signature", "no signature could be made")
        }
        return .init(keyID: publicKey.id, bytes: bytes)
    }

    /// Returns an update that only this key has signed.
    package func update(
        _ policy: PinningPolicy, version: Int, issued: Date, expires: Date
    ) throws(ToolError) -> [UInt8] {
        var envelope = SignedEnvelope(
            payload: UpdatePayload.json(version: version, issuedAt: issued, expiresAt: expires, policy: policy))
        envelope.signatures = [try signature(of: envelope.signedBytes)]
        return envelope.json
    }

    mutating func wipe() { SecretBytes.wipe(&seed) }

    /// The key as PKCS#8 (RFC 8410 section 7), PEM.
    var pem: [UInt8] { Array(PEMBlock.text(label: "PRIVATE KEY", bytes: Self.pkcs8Beginning + seed).utf8) }

    /// SubjectPublicKeyInfo (RFC 8410 section 4), PEM.
    var publicPEM: String {
        PEMBlock.text(label: "PUBLIC KEY", bytes: Self.publicBeginning + publicKey.rawRepresentation)
    }

    // Both structures are constant but for the key: one algorithm without parameters, one length.
    private static let pkcs8Beginning: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    private static let publicBeginning: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    package static func generate() throws(ToolError) -> SigningKey {
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<Ed25519.keySize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        guard let made = SigningKey(seed: seed) else {
            throw .unusable("no-key", "no Ed25519 key could be made")
        }
        return made
    }

    /// Reads a PKCS#8 key in PEM. Asks for the passphrase of an encrypted one.
    static func read(_ path: String, _ invocation: Invocation) throws(ToolError) -> SigningKey {
        var file = try invocation.file(path, limit: 64 << 10)
        defer { SecretBytes.wipe(&file.bytes) }
        var blocks: [PEMBlock]
        do {
            blocks = try PEMReader.blocks(in: file.bytes)
        } catch {
            throw .unusable("malformed-pem", error.message, file: file.name, line: error.line, hint: error.hint)
        }
        guard blocks.count == 1 else {
            throw unusable(
                "\(blocks.count) PEM blocks instead of one private key", in: file.name,
                hint: "give the file that pintle keygen wrote, without .pub")
        }
        // Removed, so that no other variable shares the bytes that are wiped.
        var block = blocks.removeFirst()
        defer { SecretBytes.wipe(&block.bytes) }
        var passphrase: [UInt8] = []
        defer { SecretBytes.wipe(&passphrase) }
        switch block.label {
        case "PRIVATE KEY": break
        case "ENCRYPTED PRIVATE KEY":
            guard invocation.libraries.readsEncryptedKeys else {
                throw .needsOpenSSL("reading an encrypted key").placed(in: file.name)
            }
            passphrase = try Passphrase.read(for: file.name, invocation)
        case "PUBLIC KEY":
            throw unusable("a public key cannot sign", in: file.name, hint: "give the private one, without .pub")
        default:
            throw unusable(
                "a \(block.label) instead of a PRIVATE KEY", in: file.name,
                hint: newKey)
        }
        let seed = try invocation.libraries.signingSeed(
            of: block.bytes, passphrase: passphrase.isEmpty ? nil : passphrase, in: file.name)
        guard let key = SigningKey(seed: seed) else { throw otherKind(in: file.name) }
        return key
    }

    // MARK: Errors

    /// A file that has no key for updates.
    package static func unusable(_ message: String, in file: String, hint: String? = nil) -> ToolError {
        .unusable("unusable-key", message, file: file, hint: hint)
    }

    package static func unreadable(in file: String) -> ToolError {
        unusable("the private key cannot be read", in: file)
    }

    package static func foreignHalf(in file: String) -> ToolError {
        unusable(
            "the private key does not belong to the public key in its file", in: file,
            hint: "the file was damaged or changed; take the key from a backup")
    }

    package static func otherKind(in file: String) -> ToolError {
        unusable("not an Ed25519 key", in: file, hint: newKey)
    }

    private static let newKey = "make an Ed25519 key: pintle keygen --out update.key"

    package static func wrongPassphrase(in file: String) -> ToolError {
        .unusable(
            "wrong-passphrase", "the passphrase does not open the key", file: file,
            hint: "or the file is damaged: openssl pkey -in FILE -noout")
    }
}

/// The passphrase of a key: from the environment if it is set there, else from the terminal.
package enum Passphrase {
    private static let variable = EnvironmentVariables.passphrase.name

    /// Returns the bytes in UTF-8, without a line break; never empty. The caller wipes them.
    package static func read(for file: String, _ invocation: Invocation) throws(ToolError) -> [UInt8] {
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
        silent.c_lflag &= ~tcflag_t(ECHO)
        let sink = ByteSink(descriptor: terminal)
        while true {
            let signals = HeldSignals()
            guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { throw unread(file) }
            _ = sink.write(Array(question.utf8))
            let line = readLine(terminal)
            tcsetattr(terminal, TCSAFLUSH, &before)
            _ = sink.write([0x0A])
            // A signal usually ends the program here. After a stop (SIGTSTP) the question is asked again.
            let signal = signals.deliver()
            if signal == SIGTSTP { continue }
            guard signal == nil, let text = line?.prefix(while: { $0 != 0x0A && $0 != 0x0D }), !text.isEmpty else {
                throw unread(file)
            }
            return Array(text)
        }
    }

    /// Returns a line of the terminal; `nil` after a signal or an error. The terminal hands over whole lines.
    private static func readLine(_ terminal: Int32) -> [UInt8]? {
        var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        // The short wait also notices a signal that came just before it.
        while !HeldSignals.areNoted {
            guard poll(&entry, 1, 100) > 0 else { continue }
            let count = PintleSystem.read(terminal, &bytes, bytes.count)
            if count >= 0 { return Array(bytes.prefix(count)) }
            if errno != EINTR { return nil }
        }
        return nil
    }

    private static func unread(_ file: String) -> ToolError {
        .unusable("encrypted-key", "no passphrase was given", file: file, hint: "set \(variable), or type it")
    }
}

/// Holds back the signals that would end or stop the program while its terminal has no echo. Signals that the process
/// ignores stay ignored.
private struct HeldSignals: ~Copyable {
    private static let noted = SignalNumber()
    private var replaced: [(signal: CInt, action: sigaction)] = []

    static var areNoted: Bool { noted.value != 0 }

    init() {
        // Also initialises the value, because the handler must not do it.
        Self.noted.store(0)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] {
            var before = sigaction()
            sigaction(signal, nil, &before)
            if before.isIgnored { continue }
            var action = sigaction(calling: { HeldSignals.noted.store(Int($0)) })
            if sigaction(signal, &action, nil) == 0 { replaced.append((signal, before)) }
        }
    }

    deinit { restore() }

    /// Puts the earlier actions back and sends the last held signal to this process. Returns the signal if the process
    /// lives on; `nil` if none was held.
    consuming func deliver() -> CInt? {
        restore()
        let signal = CInt(Self.noted.value)
        guard signal != 0 else { return nil }
        raise(signal)
        return signal
    }

    private borrowing func restore() {
        for (signal, action) in replaced {
            var action = action
            sigaction(signal, &action, nil)
        }
    }
}
