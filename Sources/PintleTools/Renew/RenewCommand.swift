internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleStorage
internal import PintleSystem

extension Command {
    static let renew = Command(
        name: "renew",
        summary: "Propose the next policy from live servers and keys on disk",
        examples: [
            Example(line: "pintle renew policy.json", purpose: "the pins to add and to remove, with dates"),
            Example(
                line: "pintle renew policy.json --key backup.csr -o next.json",
                purpose: "write the proposal, with the key of a request as a backup pin"),
            Example(
                line:
                    "pintle renew policy.json --key api.example.com=api.key --key www.example.com=www.key -o next.json",
                purpose: "a policy with several rules"),
            Example(line: "pintle renew policy.json -o next.json --json", purpose: "in CI, for a pull request"),
        ],
        overview: [
            """
            Makes a TLS handshake with the server of each rule, as `pintle lint --live` does, and compares it with the \
            rule's pins. A key that a server shows is proposed only if the current policy trusts that very connection \
            because a pin matched (`pin-matched`). Any other server is a finding, and its keys are in no output. Keys \
            of `--key` need no server that shows them: they become backup pins.
            """,
            """
            A server that has moved to a backup key makes it a pin. One that shows a new key under a pinned root gets \
            a pin of that key, if another pin of the rule matches nothing; under a pinned intermediate give the key's \
            file. Pins that match nothing get a day from which on `--remove` takes them out: one handshake shows one \
            machine, and only you know the others. Keep keys for later in `backupPins`. Dates come from the validity \
            of the server's certificate. The last pin that matches is never removed. A rule that pins a root of a \
            public authority gets the other roots from which that authority issues, as `pintle pin --authority` lists \
            them.
            """,
            """
            The proposal is the policy with other lists of pins, and with the next `updateVersion` if it has one. All \
            else stays, to the byte. Nothing is signed: the command prints the line of `pintle sign` for the person \
            who has reviewed the proposal.
            """,
        ],
        arguments: [Argument(name: "POLICY", help: "The policy file, or `-` for standard input")],
        ownOptions: [
            .backupKey, .removal, .proposal, .families, .connectTo, .anchors, .connectTimeout, .handshakeTimeout,
        ],
        environment: EnvironmentVariables.ofServers,
        exitCodes: [
            (.fine, "a proposal was made, or nothing has to change"), (.rejected, "there are findings at servers"),
            (.unusable, "the policy has problems, or a key or an option cannot be used"),
            (.unreachable, "the only findings are servers that cannot be reached"),
        ],
        sections: [
            .json(keys: [
                ("result", "`proposal` or `unchanged`, by the servers of `judged`"),
                ("servers, judged", "The number of servers asked, and of those that matched a pin"),
                (
                    "changes",
                    "A list of `action`, `rule`, `list`, `pin`, `at`, `by`, `from`, `message`"
                ),
                (
                    "findings",
                    "A list of `id`, `host`, `port`, `reason`, `message`, `help`; never a key"
                ),
                ("updateVersion", "The number of the proposal, if the policy has one"),
                ("written", "The file of `-o`, if it was written"), ("sign", "The line that signs the proposal"),
                ("notes", "Other remarks, in words"),
            ]),
            ReferenceSection(
                "Actions",
                .table(
                    "Action", "Meaning",
                    [
                        ("`add`", "A new pin; `by` is the last day to publish it"),
                        ("`move`", "A pin goes to the other list of its rule"),
                        ("`remove`", "The pin is not in the proposal"),
                        ("`removeLater`", "The pin is in the proposal, and can be removed from `from` on"),
                    ])),
        ],
        articles: [.signedUpdates, .planningRotations],
        run: { invocation throws(ToolError) in try RenewCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let backupKey = Option(
        repeated: "key", short: "k", .file("[HOST=]FILE"),
        help: "A request (CSR), public key or private key to pin as a backup; HOST names the rule; may be repeated")
    fileprivate static let removal = Option(
        repeated: "remove", .text("PIN"),
        help: "Remove this pin if it matches nothing and its day has come: no other machine has its key")
    fileprivate static let proposal = Option(
        "out", short: "o", .output("NEXT"), help: "The file for the proposal, beside the policy")
}

/// `pintle renew POLICY -o NEXT`
struct RenewCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let arguments = invocation.arguments
        let words = arguments[.backupKey]
        let output = arguments[.proposal]
        // The files of --key are known only with the rules, but the policy must be safe even if it has problems.
        var guarded = GuardedFiles(arguments.positionals, of: .renew)
        if let output {
            try guarded.reserve(output, for: .proposal)
            try OutputFile.checkFolder(of: output)
        }
        let input = try PolicyInput(arguments.positionals[0], invocation)
        let policy = try input.policy()
        var keyFiles: [String] = []
        for word in words { keyFiles.append(try RenewCandidate.path(in: word, policy)) }
        if let output {
            let named = arguments.files(of: .anchors, .families)
            var others = GuardedFiles(keyFiles + named + Self.anchorFiles(of: input.file), of: .renew)
            try others.reserve(output, for: .proposal)
        }
        let families = try FamilyFile.read(invocation)
        let candidates =
            try RenewCandidate.files(words, policy, invocation) + RenewCandidate.roots(families.families, policy)
        var removals: Set<Pin.Subject> = []
        for text in arguments[.removal] { removals.insert(try Self.pin(text, in: policy)) }
        let survey = try RenewSurvey(policy: policy, file: input.file.path, invocation: invocation).run()
        let proposal = RenewProposal(
            of: policy, survey.servers, candidates, RenewAuthorities(families.families, invocation),
            removing: removals, notes: survey.notes, now: invocation.now)
        let findings = survey.findings + proposal.findings
        let isWritten = output != nil && proposal.isChanged
        if proposal.isChanged {
            let place = output ?? input.file.path
            let bytes = try proposal.file(from: input.file.bytes, survey.servers, invocation.validator()) {
                bytes throws(ToolError) in try read(bytes, besides: place)
            }
            if let output { try invocation.write(bytes, to: output) }
        }
        if families.families.isOld(at: invocation.now), policy.hosts.contains(where: families.families.isUsed) {
            invocation.console.warn(families.age)
        }
        if let output, !isWritten, InputFile.exists(output) {
            invocation.console.warn("\(output) was not written: there is an older file of that name")
        }
        let report = RenewReport(
            proposal: proposal, findings: findings, servers: survey.servers.count + survey.findings.count,
            judged: survey.servers.count, file: input.file.name, written: isWritten ? output : nil, now: invocation.now)
        invocation.print(report.report, orJSON: report.document)
        if findings.isEmpty { return .fine }
        return findings.allSatisfy(\.isUnreachable) ? .unreachable : .rejected
    }

    /// Returns the pin of the policy that a word of the command line names.
    private static func pin(_ text: String, in policy: PinningPolicy) throws(ToolError) -> Pin.Subject {
        let pins = policy.hosts.flatMap { $0.pins }
        guard let pin = pins.first(where: { "\($0)" == text }) else {
            throw .usage("--remove \(text): no rule has this pin in its pins; copy it from the policy", of: .renew)
        }
        return pin.subject
    }

    /// Returns the paths of the anchor files that the policy names.
    private static func anchorFiles(of policy: InputFile) -> [String] {
        guard let root = try? JSONDocument.policy(policy.bytes).root, let rules = root["hosts"]?.elements else {
            return []
        }
        let folder = PolicyFolder(ofFile: policy.path)
        return rules.flatMap { rule in
            let names = rule["anchors"]?["include"]?.elements?.compactMap(\.string) ?? []
            return names.filter { !$0.hasPrefix("-----BEGIN") }.map(folder.path)
        }
    }

    /// Reads the proposal as its users will: the paths of its anchors are relative to its own folder.
    private func read(_ bytes: [UInt8], besides path: String) throws(ToolError) -> PinningPolicy {
        do {
            return try PinningPolicy(bytes, ofFile: path, invocation)
        } catch {
            var error = ToolError(error, file: path)
            error.hint = "write the proposal into the folder of the policy, where its anchors are"
            throw error
        }
    }
}
