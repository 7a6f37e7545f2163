internal import Pintle
internal import PintleSystem
internal import PintleUpdates

extension Command {
    static let sign = Command(
        name: "sign",
        summary: "Sign a policy as an update that installed apps take",
        examples: [
            Example(
                line: "pintle sign --key update.key --version 7 --expires 2027-02-18T00:00:00Z policy.json -o 7.json",
                purpose: "update number 7, from today on"),
            Example(
                line: "pintle sign --key offline.key --append 7.json -o 7.json",
                purpose: "the second signature, made by another person"),
        ],
        overview: [
            """
            Writes a DSSE envelope around the policy, its number and its dates. Anchor files that the policy names are \
            put into it as PEM text. Apps refuse a number that is not above the last they took, so give every change \
            a new one.
            """,
            """
            With `--append` the argument is an existing update. Its payload stays the same to the byte. Look at it first \
            with `pintle inspect`.
            """,
        ],
        arguments: [
            Argument(name: "POLICY", help: "The policy file; with `--append` the update; or `-` for standard input")
        ],
        ownOptions: [.signingKey, .updateVersion, .expires, .issued, .append, .updateOut],
        environment: [(Passphrase.variable, "The passphrase of encrypted keys; without it, the terminal asks")],
        exitCodes: [(.fine, "the update was written"), (.unusable, "a key, the policy or an option cannot be used")],
        sections: [
            .json(
                "With `-o` the update goes to the file, and standard output has these keys:",
                keys: [
                    ("update", "The name of the file"), ("version", "The update's number"),
                    ("issuedAt, expiresAt", "Its dates"), ("keyids", "The keys that signed now"),
                    ("signatures", "The number of all signatures"),
                ])
        ],
        articles: [.signedUpdates],
        run: { invocation throws(ToolError) in try SignCommand(invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let signingKey = OptionSpecification(
        name: "key", short: "k", value: .file("FILE"), mayRepeat: true,
        help: "A private Ed25519 key, PKCS#8 in PEM, encrypted or not; may be repeated (required)")
    fileprivate static let updateVersion = OptionSpecification(
        name: "version", value: .text("N"),
        help: "The update's number, 1 to 9007199254740991 (required without `--append`)")
    fileprivate static let expires = OptionSpecification(
        name: "expires", value: .text("TIME"),
        help: "The time until which apps may take it, such as 2027-02-18T00:00:00Z (required without `--append`)")
    fileprivate static let issued = OptionSpecification(
        name: "issued", value: .text("TIME"), help: "The time from which on apps may take it", defaultText: "now")
    fileprivate static let append = OptionSpecification(
        name: "append", help: "Add signatures to an existing update")
    fileprivate static let updateOut = OptionSpecification(
        name: "out", short: "o", value: .output("FILE", orStandardOutput: true), help: "The file for the update",
        defaultText: "standard output")
}

/// `pintle sign --key K --version N --expires T POLICY -o OUT`
struct SignCommand {
    private let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        let arguments = invocation.arguments
        let paths = arguments.values(of: .signingKey)
        guard !paths.isEmpty else {
            throw .usage("--key FILE is missing; the key signs", of: .sign, code: "missing-option")
        }
        // With `--append` the update may be overwritten by its new version.
        var guarded = GuardedFiles(paths + (arguments.has(.append) ? [] : arguments.positionals), of: .sign)
        if let path = arguments.value(of: .updateOut) { try guarded.reserve(path, for: .updateOut) }
        // Until this command ends. Of two that add a signature at once, the later one reads what the earlier one wrote.
        let lock = arguments.has(.append) ? FolderLock(of: arguments.positionals[0]) : nil
        defer { lock?.unlock() }
        let file = arguments.has(.append) ? try existingFile() : nil
        var envelope = if let file { try existingUpdate(file) } else { try newUpdate() }
        let payload = try payload(of: envelope)
        guard envelope.signatures.count + paths.count <= SignedEnvelope.maximumSignatures else {
            throw .unusable(
                "too-many-signatures",
                "\(envelope.signatures.count + paths.count) signatures; apps try \(SignedEnvelope.maximumSignatures)")
        }
        let before = envelope.signatures.count
        let message = envelope.signedBytes
        for path in paths {
            var key = try SigningKey.read(path, invocation)
            defer { key.wipe() }
            guard let signature = key.signature(of: message) else { throw .unusable("no-signature", "libcrypto fails") }
            guard !envelope.signatures.contains(where: { $0.bytes == signature }) else {
                throw .unusable(
                    "already-signed", "the key \(key.publicKey.id) has signed already", file: path,
                    hint: "a threshold counts distinct keys; sign with another")
            }
            envelope.signatures.append(.init(keyID: key.publicKey.id, bytes: signature))
        }
        let added = Array(envelope.signatures[before...])
        let bytes = if let file { try appending(added, to: file) } else { envelope.json }
        try write(bytes, envelope, payload, added.compactMap(\.keyID))
        return .fine
    }

    // MARK: What is signed

    private func newUpdate() throws(ToolError) -> SignedEnvelope {
        let version = try number()
        let expires = try date(.expires)
        let issued = try date(.issued) ?? invocation.now
        guard let expires else {
            throw .usage(
                "--expires TIME is missing; apps take the update until then", of: .sign, code: "missing-option")
        }
        guard issued < expires else { throw .usage("--expires lies before the update is issued", of: .sign) }
        if expires <= invocation.now { invocation.console.warn("this update has expired already: no app takes it") }
        let policy = try PolicyInput(invocation.arguments.positionals[0], invocation).policy()
        if policy.updateVersion != 0, policy.updateVersion != version {
            invocation.console.warn("the policy says that it equals update \(policy.updateVersion), not \(version)")
        }
        return SignedEnvelope(
            payload: UpdatePayload.json(version: version, issuedAt: issued, expiresAt: expires, policy: policy))
    }

    private func existingFile() throws(ToolError) -> InputFile {
        for option in [OptionSpecification.updateVersion, .expires, .issued] where invocation.arguments.has(option) {
            throw .usage("--\(option.name) is in the update already; --append leaves it as it is", of: .sign)
        }
        return try invocation.file(invocation.arguments.positionals[0])
    }

    private func existingUpdate(_ file: InputFile) throws(ToolError) -> SignedEnvelope {
        try Self.reading(file) { () throws(UpdateFailure) in try SignedEnvelope(file.bytes) }
    }

    /// Returns the file with more signatures; the other ones stay as they are.
    private func appending(
        _ signatures: [SignedEnvelope.Signature], to file: InputFile
    ) throws(ToolError) -> [UInt8] {
        try Self.reading(file) { () throws(UpdateFailure) in try SignedEnvelope.appending(signatures, to: file.bytes) }
    }

    private static func reading<Result>(
        _ file: InputFile, _ body: () throws(UpdateFailure) -> Result
    ) throws(ToolError) -> Result {
        do {
            return try body()
        } catch {
            throw .unusable(error.code, "\(error)", file: file.name, hint: "--append needs an update")
        }
    }

    /// Reads the policy and refuses one that no app could accept.
    private func payload(of envelope: SignedEnvelope) throws(ToolError) -> UpdatePayload {
        do {
            guard envelope.payloadType == SignedEnvelope.policyType else {
                throw UpdateFailure.unknownPayloadType(envelope.payloadType)
            }
            let payload = try UpdatePayload(envelope.payload)
            _ = try PinningPolicy(json: payload.policy)
            return payload
        } catch {
            throw .unusable("unusable-update", "\(error)", file: invocation.arguments.positionals[0])
        }
    }

    private func number() throws(ToolError) -> Int {
        guard let text = invocation.arguments.value(of: .updateVersion) else {
            throw .usage("--version N is missing: the update's number", of: .sign, code: "missing-option")
        }
        guard let number = Int(text), (1...UpdatePayload.maximumVersion).contains(number) else {
            throw .usage(
                "\"\(text)\" is not a version: give a number from 1 to \(UpdatePayload.maximumVersion)", of: .sign)
        }
        return number
    }

    private func date(_ option: OptionSpecification) throws(ToolError) -> Date? {
        guard let text = invocation.arguments.value(of: option) else { return nil }
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw .usage("--\(option.name) is \(error.message): \(error.hint)", of: .sign)
        }
    }

    // MARK: What is written

    private func write(
        _ bytes: [UInt8], _ envelope: SignedEnvelope, _ payload: UpdatePayload, _ signers: [String]
    ) throws(ToolError) {
        guard bytes.count <= SignedEnvelope.maximumBytes else {
            throw .unusable(
                "too-large", "the update has \(bytes.count) bytes; apps read \(SignedEnvelope.maximumBytes)")
        }
        let console = invocation.console
        let path = invocation.arguments.value(of: .updateOut)
        if let path { try OutputFile.replace(path, bytes) } else { console.write(bytes) }
        let version = if case .number(let number) = payload.version { number } else { 0 }
        if let path, invocation.writesJSON {
            var json = JSONWriter(.pretty)
            json.object {
                $0.member("update", path)
                $0.member("version", version)
                $0.member("issuedAt", RFC3339.string(from: payload.issuedAt))
                $0.member("expiresAt", RFC3339.string(from: payload.expiresAt))
                $0.member("keyids", signers)
                $0.member("signatures", envelope.signatures.count)
            }
            console.print(json)
        }
        let count = ValidityText.counted(envelope.signatures.count, "signature")
        console.printMessage("version \(version), expires \(ValidityText.day(payload.expiresAt)), \(count)")
        for signer in signers { console.printMessage("signed by \(signer)") }
        let name = path.map(SafeText.escape) ?? "UPDATE"
        console.printMessage("next: pintle verify --trusted PUBLIC-KEY --bundled SHIPPED-POLICY \(name)")
    }
}
