internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient
internal import PintleText

extension Command {
    static let check = Command(
        name: "check",
        summary: "Decide about a live server by a policy, and explain the verdict",
        examples: [
            Example(
                line: "pintle check https://example.com --policy policy.json",
                purpose: "the verdict, the rule that decided, the path and what to do next"),
            Example(
                line: "pintle check https://example.com --policy policy.json --connect-to 192.0.2.7:8443",
                purpose: "one machine behind a load balancer, or before its DNS entry moves"),
            Example(
                line: "pintle check https://api.test --policy policy.json --anchors root.pem",
                purpose: "as if this machine trusted only that root"),
            Example(
                line: "pintle check https://nas.home.arpa --policy policy.json --store trust.json --ask",
                purpose: "a server that no authority vouches for: show it, ask once, remember the answer"),
            Example(
                line: "pintle check https://api.test --policy policy.json --identity client.p12",
                purpose: "a server that asks for a client certificate: show it after the verdict"),
            Example(
                line: "pintle check https://example.com --policy policy.json --at 2027-11-20T00:00:00Z",
                purpose: "the verdict on a day when pins or certificates have expired"),
        ],
        overview: [
            """
            Makes a real TLS handshake and decides inside it: the certificate path first, then the pins, as \
            an app with this policy would. A refused server gets a TLS alert. No application data is ever sent.
            """,
            """
            With `--store`, the approvals in that file count for hosts that no rule covers. The policy must say \
            `"unpinnedHosts": "askUser"`. With `--ask`, an unknown server is shown on the terminal with a question: \
            yes, no, or its fingerprint, pasted. A server whose certificate has changed since its approval is refused \
            without a question. If the store was damaged, approvals may be missing: then every unknown server is \
            refused without a question, until `NAME.corrupt` beside the store is moved away.
            """,
        ],
        arguments: [Argument(name: "URL", help: "An https URL, host or host:port")],
        ownOptions: [
            .policy, .store, .ask, .identity, .connectTo, .anchors, .families, .instant, .connectTimeout,
            .handshakeTimeout, .verbose,
        ],
        rules: [
            .needs(.ask, .store, to: "keep the answer"),
            .excludes(.ask, .instant, because: "the question is about now"),
        ],
        environment: EnvironmentVariables.ofServers + [EnvironmentVariables.passphrase],
        exitCodes: [
            (.fine, "trusted"), (.rejected, "rejected"), (.unusable, "the command line or the policy cannot be used"),
            (.unreachable, "no certificate arrived, or the handshake broke"),
        ],
        sections: [.asking, .json(keys: CheckFacts.all.rows())],
        articles: [.decisions, .userDecisions],
        run: { invocation throws(ToolError) in try CheckCommand(invocation: invocation).run() }
    )
}

extension ReferenceSection {
    fileprivate static let asking = ReferenceSection(
        "Asking a person",
        .paragraph(
            """
            `--ask` shows the names, dates, key and fingerprint of a server that is not approved, and asks whether to \
            trust it. The handshake does not wait for the answer: it was refused, and a yes starts another one.
            """),
        .list([
            "Only a whole word counts. An empty answer means no, and so do two answers that cannot be understood.",
            """
            The fingerprint or the key's pin means yes if it is this server's; the approval then has the note \
            `compared`. The fingerprint or pin of another server means no.
            """,
            """
            If the certificate is for another name or has expired, the question says so, and a yes accepts that for \
            this certificate only. Other failures beside `self-signed` and `untrusted-root` cannot be approved.
            """,
            """
            If another process has approved or revoked the server meanwhile, the answer is not stored, and the exit \
            code is 1.
            """,
            "Without a terminal there is no question: the exit code is 1, and a hint names `pintle trust`.",
            "If the approvals were damaged, no question is asked until `NAME.corrupt` beside the store is moved away.",
        ]))
}

extension OptionSpecification {
    fileprivate static let policy = Option(
        "policy", .file("FILE"), required: "the policy decides", help: "The policy file that decides")
    static let store = Option("store", .file("FILE"), help: "The file of approvals; it need not exist yet")
    static let ask = OptionSpecification(
        "ask", help: "Ask on the terminal about a server that is not approved yet, and keep a yes in `--store`")
}

/// `pintle check URL --policy P`
struct CheckCommand {
    let invocation: Invocation

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    func run() throws(ToolError) -> ExitCode {
        let endpoint = try HostArgument.endpoint(arguments.positionals[0])
        let handshake = try LiveHandshake(endpoint, invocation)
        let validator = try invocation.validator()
        let policy = try PolicyInput(arguments[.policy], invocation).policy()
        let families = try FamilyFile.read(invocation).families
        let identity = try invocation.identity()
        func check(_ approvals: TrustApprovals) throws(ToolError) -> CheckReport {
            let verdict = LiveVerdict(
                of: endpoint, by: policy, validator: validator, instant: invocation.instant, approvals: approvals,
                identity: identity, families: families)
            let facts = try verdict.facts(of: handshake)
            facts.connection?.close()
            return CheckReport(facts: facts, policy: policy, invocation: invocation)
        }
        let store = try arguments[.store].map { path throws(ToolError) in try ApprovalStore(path, console) }
        store?.warnOfProblem()
        if store != nil, policy.unpinnedHosts != .askUser {
            console.warn(
                "approvals do not count, because \"unpinnedHosts\" of the policy is "
                    + "\"\(policy.unpinnedHosts.rawValue)\""
            )
        }
        let report = try check(store?.approvals ?? .none)
        if arguments.has(.ask), let store, case .rejected(.unknownHost(let host)) = report.facts.decision,
            host.unacceptableFailure == nil || !host.exceptionsOfCertificate.isEmpty
        {
            guard host.approvalRecord == .complete else { return printReport(report) }
            return try ask(about: host, store, report, again: check)
        }
        return printReport(report)
    }

    private func printReport(_ report: CheckReport, briefly: Bool = false) -> ExitCode {
        if invocation.writesJSON {
            console.print(.document { $0.write(CheckFacts.all, of: report.facts) })
        } else if briefly {
            invocation.print(Report(report.headline))
        } else {
            invocation.print(report.report)
        }
        return report.facts.decision.isTrusted ? .fine : .rejected
    }

    /// Refuses, asks, stores the answer and tries again, because nothing may wait inside a handshake.
    private func ask(
        about host: UnknownHost, _ store: ApprovalStore, _ report: CheckReport,
        again: (TrustApprovals) throws(ToolError) -> CheckReport
    ) throws(ToolError) -> ExitCode {
        let path = ShellWord.quoted(store.path)
        guard invocation.input.isTerminal, console.showsMessagesToPerson else {
            let code = printReport(report)
            let exceptions = host.exceptionsOfCertificate.map { " --accept \($0.rawValue)" }.sorted().joined()
            console.hint(
                "there is no terminal to ask on; once you have compared the fingerprint: pintle trust approve "
                    + "\(host.endpoint) --certificate FINGERPRINT\(exceptions) --store \(path)")
            return code
        }
        let answer = FirstContact(host: host, console: console, input: invocation.input).ask()
        guard answer != .no else {
            let code = printReport(report, briefly: true)
            console.printMessage("nothing was stored")
            return code
        }
        try store.approve(host, at: invocation.now, note: answer == .compared ? "compared" : nil)
        defer {
            let undo = "pintle trust revoke \(host.endpoint) --store \(path)"
            console.printMessage(SafeText.escape("stored in \(store.path); undo: \(undo)"))
        }
        let second = try again(store.approvals)
        return printReport(second, briefly: second.facts.decision.isTrusted)
    }
}

extension Invocation {
    /// Reads the client's identity of `--identity`, PEM or PKCS#12. Asks for its password if there is one.
    func identity() throws(ToolError) -> ClientIdentity? {
        guard let path = arguments[.identity] else { return nil }
        var file = try file(path, limit: 1 << 20)
        defer { SecretBytes.wipe(&file.bytes) }
        let isPEM = PEMReader.looksLikePEM(file.bytes)
        func read(_ password: String?) throws(ClientIdentityError) -> ClientIdentity {
            isPEM
                ? try ClientIdentity(certificates: file.bytes, key: file.bytes) { password }
                : try ClientIdentity(pkcs12: file.bytes) { password }
        }
        do {
            return try read(nil)
        } catch {
            guard error.code == .passwordRequired else { throw ToolError(error, file: file.name) }
        }
        var password = try Passphrase.read(for: file.name, self)
        defer { SecretBytes.wipe(&password) }
        do {
            return try read(String(decoding: password, as: UTF8.self))
        } catch {
            throw ToolError(error, file: file.name)
        }
    }
}

extension ToolError {
    fileprivate init(_ error: ClientIdentityError, file: String) {
        self = .unusable(error.code.rawValue, error.message, file: file, hint: error.hint)
    }
}
