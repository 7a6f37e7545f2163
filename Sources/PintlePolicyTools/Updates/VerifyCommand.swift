internal import Pintle
package import PintleConsole
internal import PintleSystem
internal import PintleText
internal import PintleUpdates

extension Command {
    package static let verify = Command(
        name: "verify",
        summary: "Decide about an update as an app with these keys would",
        examples: [
            Example(
                line: "pintle verify --trusted update.key.pub --bundled policy.json 7.json",
                purpose: "would the app that shipped policy.json take it?"),
            Example(
                line: "pintle verify --trusted a.pub --trusted b.pub --threshold 2 --bundled policy.json 7.json",
                purpose: "two people must have signed"),
            Example(
                line: "pintle verify --trusted update.key.pub --bundled policy.json --min-version 7 6.json",
                purpose: "an app that has number 7 already refuses number 6"),
        ],
        overview: [
            """
            Makes the checks in the order in which an app makes them, and names the first that fails: size, envelope, \
            signatures, payload type, payload, version, floor, dates, scope, policy. `--verbose` lists them.
            """,
            """
            Without `--bundled` the tool does not know which hosts the app shipped rules for. It then skips the checks \
            of scope and floor, and says so.
            """,
        ],
        arguments: [Argument(name: "UPDATE", help: "The update, or `-` for standard input")],
        ownOptions: [.trustedKey, .threshold, .bundled, .minimumVersion, .instant, .verbose],
        exitCodes: [
            (.fine, "accepted"), (.rejected, "rejected: something is wrong with UPDATE"),
            (.unusable, "a file, key or option is missing or cannot be used"),
        ],
        sections: [
            .json(keys: [
                ("result", "`accepted` or `rejected`"), ("error", "The code of a rejection"),
                ("version", "The update's number, if enough keys signed and the payload could be read"),
                ("keyids", "The trusted keys that signed it, each once"),
                ("threshold", "The number of keys that must sign"),
                ("issuedAt, expiresAt", "The dates of the update"),
                ("hosts, ignoredMembers", "Contents of an accepted update"),
                ("changes", "The rules that differ from those of `--bundled`: `rule`, and its `changes` in words"),
                ("isUnchanged", "Whether `version` is the `updateVersion` of `--bundled`, so that apps know it"),
                ("minimumVersion, violations, problems", "Details of a rejection"),
                ("message, next", "The problem and the remedy, in words"),
                ("notChecked", "`floor` and `scope`, without `--bundled`"),
            ])
        ],
        articles: [.signedUpdates],
        run: { invocation throws(ToolError) in try VerifyCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let trustedKey = Option(
        repeated: "trusted", .file("PUB"), required: "the keys that the app ships decide",
        help: "A public key that the app trusts, SubjectPublicKeyInfo in PEM; may be repeated")
    fileprivate static let threshold = Option(
        "threshold", .number("N", in: 1...Int.max), default: 1,
        help: "The number of distinct keys that must have signed")
    fileprivate static let bundled = Option("bundled", .file("POLICY"), help: "The policy that the app shipped with")
    fileprivate static let minimumVersion = Option(
        "min-version", .number("N", in: 0...UpdatePayload.maximumVersion), default: 0,
        help: "Refuse versions below N")
}

/// `pintle verify --trusted PUB UPDATE`
struct VerifyCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let trust = try trust()
        let instant = invocation.instant
        let minimum = invocation.arguments[.minimumVersion]
        let bundled = try invocation.arguments[.bundled].map { path throws(ToolError) in
            try PolicyInput(path, invocation).policy()
        }
        var verifier = UpdateVerifier(trust: trust, unscoped: bundled)
        let (libraries, asksAboutSuffix) = (invocation.libraries, Locked(false))
        verifier.isPublicSuffix = { name in
            asksAboutSuffix.withLock { $0 = true }
            return libraries.isPublicSuffix(name)
        }
        let report = VerifyReport(
            outcome: try outcome(verifier, minimum, instant), trust: trust, bundled: bundled, instant: instant,
            invocation: invocation)
        invocation.print(report.report, orJSON: report.document)
        if asksAboutSuffix.withLock({ $0 }) { invocation.warnOfMissingSuffixes() }
        // The text of an accepted update says so itself.
        if bundled == nil, invocation.writesJSON || !report.isAccepted {
            invocation.console.warn("scope and floor were not checked: that needs --bundled POLICY")
        }
        return report.isAccepted ? .fine : .rejected
    }

    private func outcome(
        _ verifier: UpdateVerifier, _ minimum: Int, _ instant: Date
    ) throws(ToolError) -> Result<VerifiedUpdate, UpdateError> {
        let file: InputFile
        do {
            file = try invocation.file(invocation.arguments.positionals[0], limit: SignedEnvelope.maximumBytes)
        } catch {
            // The only problem of the update itself that reading can find.
            guard error.code == "too-large" else { throw error }
            return .failure(UpdateError(.tooLarge(maximum: SignedEnvelope.maximumBytes)))
        }
        do {
            return .success(try verifier.verify(file.bytes, floor: nil, minimumVersion: minimum, at: instant))
        } catch {
            if let kind = FileKind(of: file.bytes), kind != .update {
                invocation.console.hint("the file is \(kind.name): \(kind.remedy(for: file.path))")
            }
            return .failure(error)
        }
    }

    private func trust() throws(ToolError) -> UpdateTrust {
        let paths = invocation.arguments[.trustedKey]
        var keys: [UpdateKey] = []
        for path in paths {
            let file = try invocation.file(path, limit: 64 << 10)
            do {
                keys.append(try UpdateKey(pem: String(decoding: file.bytes, as: UTF8.self)))
            } catch {
                throw .unusable(
                    "unusable-key", "\(error)", file: file.name,
                    hint: "give the file that pintle keygen wrote beside the key: its name ends in .pub")
            }
        }
        let threshold = invocation.arguments[.threshold]
        guard threshold <= paths.count else {
            throw .usage(
                "--threshold \(threshold) with \(paths.count) --trusted: no update could have that many signatures",
                of: .verify)
        }
        let count = Set(keys.map(\.id)).count
        if threshold > count {
            invocation.console.warn(
                "--trusted names \(ValidityText.counted(count, "key")), and a key counts once: name \(threshold) keys")
        }
        do {
            return try UpdateTrust(countingOnce: keys, threshold: threshold)
        } catch {
            throw .usage("\(error)", of: .verify)
        }
    }
}
