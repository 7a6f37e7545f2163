internal import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText
internal import PintleUpdates

extension Command {
    package static let sign = Command(
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
            With `--append` the argument is an existing update. Its payload stays the same to the byte. Look at it \
            first with `pintle inspect`.
            """,
        ],
        arguments: [
            Argument(name: "POLICY", help: "The policy file; with `--append` the update; or `-` for standard input")
        ],
        ownOptions: [.signingKey, .updateVersion, .expires, .issued, .append, .updateOut],
        rules: [
            .excludes(
                .append, .updateVersion, .expires, .issued, because: "it is in the update already and stays as it is")
        ],
        environment: [EnvironmentVariables.passphrase],
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
        run: { invocation throws(ToolError) in try SignCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let signingKey = Option(
        repeated: "key", short: "k", .file("FILE"), required: "the key signs",
        help: "A private Ed25519 key, PKCS#8 in PEM, encrypted or not; may be repeated")
    fileprivate static let updateVersion = Option(
        "version", .number("N", in: 1...UpdatePayload.maximumVersion),
        help: "The update's number, required without `--append`")
    fileprivate static let expires = Option(
        "expires", .instant("TIME"),
        help:
            "The time until which apps may take it, such as 2027-02-18, which is its first second in UTC; required "
            + "without `--append`")
    fileprivate static let issued = Option(
        "issued", .instant("TIME"), defaultText: "now", help: "The time from which on apps may take it")
    fileprivate static let append = OptionSpecification("append", help: "Add signatures to an existing update")
    fileprivate static let updateOut = Option(
        "out", short: "o", .output("FILE", orStandardOutput: true), defaultText: "standard output",
        help: "The file for the update")
}

/// `pintle sign --key K --version N --expires T POLICY -o OUT`
struct SignCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let arguments = invocation.arguments
        let paths = arguments[.signingKey]
        // With `--append` the update may be overwritten by its new version.
        var guarded = GuardedFiles(paths + (arguments.has(.append) ? [] : arguments.positionals), of: .sign)
        if let path = arguments[.updateOut] { try guarded.reserve(path, for: .updateOut) }
        // Until this command ends. Of two that add a signature at once, the later one reads what the earlier one wrote.
        let lock = arguments.has(.append) ? FolderLock(of: arguments.positionals[0]) : nil
        defer { lock?.unlock() }
        let file = arguments.has(.append) ? try invocation.file(arguments.positionals[0]) : nil
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
            let signature = try key.signature(of: message)
            try refuseChanged(envelope, key.publicKey)
            guard !envelope.signatures.contains(where: { $0.bytes == signature.bytes }) else {
                throw .unusable(
                    "already-signed", "the key \(key.publicKey.id) has signed already", file: path,
                    hint: "a threshold counts distinct keys; sign with another")
            }
            envelope.signatures.append(signature)
        }
        let added = Array(envelope.signatures[before...])
        let bytes = if let file { try appending(added, to: file) } else { envelope.json }
        try write(bytes, envelope, payload, added.compactMap(\.keyID))
        return .fine
    }

    /// Refuses an update that names this key as a signer although the key has not signed this payload. The keys of the
    /// other signers are not known here.
    private func refuseChanged(_ envelope: SignedEnvelope, _ key: UpdateKey) throws(ToolError) {
        guard envelope.signatures.contains(where: { $0.keyID == key.id }), let trust = try? UpdateTrust(keys: [key]),
            envelope.signers(trustedBy: trust, hashing: SignedEnvelope.maximumHashedBytes).isEmpty
        else { return }
        let path = invocation.arguments.positionals[0]
        throw .unusable(
            "changed-payload",
            "a signature that names the key \(key.id) does not verify: the payload or the signature was changed, or "
                + "another key made it", file: inputName,
            hint: "to sign the payload nevertheless, take that signature out of the file; look at the payload first: "
                + "pintle inspect \(path == "-" ? "UPDATE" : ShellWord.quoted(path))")
    }

    /// The name of the policy or update in messages.
    private var inputName: String {
        let path = invocation.arguments.positionals[0]
        return path == "-" ? "stdin" : path
    }

    /// Warns of pins that end before apps could take the update. Such an update protects nothing, or locks apps out.
    private func warnOfEndedPins(_ policy: PinningPolicy, issued: Date) {
        for host in policy.hosts {
            guard let end = host.expiry.date, end <= max(invocation.now, issued), !host.pins.isEmpty else { continue }
            let then =
                if case .rejecting = host.expiry { "every connection is refused" } else { "pins are not compared" }
            let day = ValidityText.day(end)
            invocation.console.warn(
                end <= invocation.now
                    ? "the pins of \(host) ended \(day): \(then)"
                    : "the pins of \(host) end \(day), before apps may take the update: then \(then)")
        }
    }

    // MARK: What is signed

    private func newUpdate() throws(ToolError) -> SignedEnvelope {
        let arguments = invocation.arguments
        let version = try arguments.require(.updateVersion, because: "it is the update's number")
        let expires = try arguments.require(.expires, because: "apps take the update until then")
        let issued = arguments[.issued] ?? invocation.now
        guard issued < expires else { throw .usage("--expires lies before the update is issued", of: .sign) }
        if expires <= invocation.now { invocation.console.warn("this update has expired already: no app takes it") }
        let policy = try PolicyInput(arguments.positionals[0], invocation).policy()
        warnOfEndedPins(policy, issued: issued)
        if policy.updateVersion != 0, policy.updateVersion != version {
            invocation.console.warn("the policy says that it equals update \(policy.updateVersion), not \(version)")
        }
        return SignedEnvelope(
            payload: UpdatePayload.json(version: version, issuedAt: issued, expiresAt: expires, policy: policy))
    }

    private func existingUpdate(_ file: InputFile) throws(ToolError) -> SignedEnvelope {
        try Self.reading(file) { () throws(UpdateError.Reason) in try SignedEnvelope(file.bytes) }
    }

    /// Returns the file with more signatures; the other ones stay as they are.
    private func appending(
        _ signatures: [SignedEnvelope.Signature], to file: InputFile
    ) throws(ToolError) -> [UInt8] {
        try Self.reading(file) { () throws(UpdateError.Reason) in
            try SignedEnvelope.appending(signatures, to: file.bytes)
        }
    }

    private static func reading<Result>(
        _ file: InputFile, _ body: () throws(UpdateError.Reason) -> Result
    ) throws(ToolError) -> Result {
        do {
            return try body()
        } catch {
            throw .unusable(error.code.rawValue, "\(error)", file: file.name, hint: "--append needs an update")
        }
    }

    /// Reads the policy and refuses one that no app could accept.
    private func payload(of envelope: SignedEnvelope) throws(ToolError) -> UpdatePayload {
        do {
            guard envelope.payloadType == SignedEnvelope.policyType else {
                throw UpdateError.Reason.unknownPayloadType(envelope.payloadType)
            }
            let payload = try UpdatePayload(envelope.payload)
            _ = try PinningPolicy(json: payload.policy)
            return payload
        } catch {
            throw .unusable("unusable-update", "\(error)", file: inputName)
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
        let path = invocation.arguments[.updateOut]
        if let path { try OutputFile.replace(path, bytes) } else { console.write(bytes) }
        let version = if case .number(let number) = payload.version { number } else { 0 }
        if let path, invocation.writesJSON {
            let document = JSONWriter.document { json in
                json.member("update", path)
                json.member("version", version)
                json.member("issuedAt", payload.issuedAt)
                json.member("expiresAt", payload.expiresAt)
                json.member("keyids", signers)
                json.member("signatures", envelope.signatures.count)
            }
            console.print(document)
        }
        let count = ValidityText.counted(envelope.signatures.count, "signature")
        console.printMessage("version \(version), expires \(ValidityText.day(payload.expiresAt)), \(count)")
        for signer in signers { console.printMessage("signed by \(signer)") }
        let name = path.map(SafeText.escape) ?? "UPDATE"
        console.printMessage("next: pintle verify --trusted PUBLIC-KEY --bundled SHIPPED-POLICY \(name)")
    }
}
