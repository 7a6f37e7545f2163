internal import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleStorage
internal import PintleText

extension Command {
    package static let trust = Command(
        name: "trust",
        summary: "List, approve and revoke servers that no rule covers",
        examples: [
            Example(
                line: "pintle trust list --store trust.json",
                purpose: "every approval with its dates, and those that were revoked"),
            Example(
                line: "pintle trust approve nas.home.arpa --certificate A2:2A:F0:... --store trust.json",
                purpose: "a fingerprint that you got another way: from the device itself or from its owner"),
            Example(
                line: "pintle trust approve nas.home.arpa:8443 --key sha256/... --expires 2027-11-20T00:00:00Z "
                    + "--store trust.json",
                purpose: "a key, in any certificate for that name, until that day"),
            Example(
                line: "pintle trust revoke nas.home.arpa --store trust.json",
                purpose: "end the approval; the next contact asks again"),
        ],
        overview: [
            """
            Approvals count for hosts that no rule of a policy covers, and only if the policy says `"unpinnedHosts": \
            "askUser"`. Each is for one host and port, and for one certificate or key. It accepts a certificate that \
            does not come from an authority which this machine trusts. Name and dates still count, unless you approve \
            the exact certificate with `--accept name-mismatch` or `--accept expired`.
            """,
            """
            An approval never replaces that of another certificate, because a changed key is an alarm. Revoke the old \
            one first, once the server's owner has confirmed the change. Several processes may use a store at a time.
            """,
        ],
        arguments: [
            Argument(name: "ACTION", help: "The action", words: TrustCommand.Action.allCases.map(\.rawValue)),
            Argument(
                name: "HOST[:PORT]", help: "For approve and revoke; port 443 by default, IPv6 in brackets",
                isOptional: true),
        ],
        ownOptions: [.approvals, .certificate, .key, .accept, .expires, .note],
        rules: [
            .only(action: "approve", takes: .certificate, .key, .accept, .expires, .note),
            .needs(action: "approve", .certificate, .key, to: "name what you compared"),
            .excludes(.certificate, .key, because: "an approval is for one of them"),
        ],
        exitCodes: [
            (.fine, "done"),
            (
                .rejected,
                "nothing to revoke, another certificate is approved, or a damaged store was set aside by the change"
            ),
            (.unusable, "the command line or the store cannot be used"),
        ],
        sections: [
            ReferenceSection(
                "Actions",
                .table(
                    "Action", "Effect",
                    [
                        ("`list`", "Prints every approval and its state"),
                        ("`export`", "Prints the store as JSON, always in the same spelling"),
                        ("`approve`", "Approves a certificate's fingerprint, in any form, or the pin of a key"),
                        ("`revoke`", "Ends the approval of a server"),
                    ])),
            ReferenceSection(
                "Damaged stores",
                .paragraph(
                    """
                    A damaged store approves no server. `list` and `export` leave it as it is and exit with 2. \
                    `approve` and `revoke` rename it to `NAME.corrupt`, say so, go on without it and exit with 1. Look \
                    into that file, then move it away.
                    """),
                .paragraph(
                    """
                    A file that does not look like a store is always left as it is, and the exit code is 2. If it was \
                    the store once, move it away yourself.
                    """)),
            .json(
                """
                `pintle trust list` writes `store`, `generation`, `record` (`complete`, or `lost` while `NAME.corrupt` \
                stands beside the store) and `approvals`, a list of these objects. `approve` and `revoke` write one of \
                them.
                """,
                keys: ApprovalText.facts.rows()),
        ],
        articles: [.userDecisions],
        run: { invocation throws(ToolError) in try TrustCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let approvals = Option(
        "store", .file("FILE"), required: "approvals are kept there",
        help: "The file of approvals; it need not exist yet")
    fileprivate static let certificate = Option(
        "certificate", .reading("HEX") { text throws(ToolError) in try TrustCommand.read(text, CertificatePin.init) },
        help: "Approve this certificate: its SHA-256 fingerprint")
    fileprivate static let key = Option(
        "key", .reading("PIN") { text throws(ToolError) in try TrustCommand.read(text, PublicKeyPin.init) },
        help: "Approve this key: sha256/ and base64, in any certificate for the name")
    fileprivate static let accept = Option(
        repeated: "accept",
        .choice("FAILURE", TrustApproval.AcceptedFailure.ofCertificate.sorted { $0.rawValue < $1.rawValue }),
        help: "With `--certificate`, also accept that it is for another name, or that its last day has passed")
    fileprivate static let expires = Option(
        "expires", .instant("TIME"), defaultText: "never",
        help: "The end of the approval, such as 2027-11-20, which is its first second in UTC")
    fileprivate static let note = Option(
        "note", .text("TEXT"), help: "Your own words, kept beside the approval")
}

/// `pintle trust list|approve|revoke|export --store FILE`
struct TrustCommand {
    enum Action: String, CaseIterable {
        case list, approve, revoke, export
    }

    let invocation: Invocation
    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    func run() throws(ToolError) -> ExitCode {
        let action = Action(rawValue: arguments.positionals[0]) ?? .list
        let endpoint = try endpoint(for: action)
        let path = arguments[.approvals]
        let store = try ApprovalStore(path, console)
        // A change sets a damaged store aside. `list` and `export` instead fail, because an empty list would hide that
        // approvals were lost.
        if action == .list || action == .export, let problem = store.problem { throw ToolError(problem) }
        switch (action, endpoint, subject) {
        case (.approve, let endpoint?, let subject?):
            let approval = try store.approve(try approval(of: subject, for: endpoint))
            printChange("approved", approval)
            printLimits(approval)
        case (.revoke, let endpoint?, _):
            guard let revoked = try store.revoke(endpoint, at: invocation.now) else {
                throw ToolError(
                    exitCode: .rejected, code: "not-approved", message: "nothing is approved for \(endpoint)",
                    file: path, hint: "list the approvals: pintle trust list --store \(ShellWord.quoted(path))")
            }
            printChange("revoked", revoked)
        case (.export, _, _):
            // The valid approvals in one spelling, also if the file is spelt otherwise.
            console.write(store.approvals.json())
        default:
            list(store)
        }
        return store.wasSetAside ? .rejected : .fine
    }

    private func list(_ store: ApprovalStore) {
        let approvals = store.approvals
        if approvals.record == .lost {
            console.warn(
                "approvals were lost: \(store.path).corrupt is what is left of a damaged store; move it away once you "
                    + "have looked into it")
        }
        if invocation.writesJSON {
            let document = JSONWriter.document { json in
                json.member("store", store.path)
                json.member("generation", Int(clamping: approvals.revision))
                json.member("record", approvals.record.rawValue)
                json.objects("approvals", approvals.all) { $0.write(ApprovalText.facts, of: text($1)) }
            }
            return console.print(document)
        }
        let count = approvals.count == 0 ? "no approvals" : ValidityText.counted(approvals.count, "approval")
        console.print("\(count) in \(SafeText.escape(store.path))")
        if approvals.count == 0, !InputFile.exists(store.path) { console.printMessage("there is no such file yet") }
        for approval in approvals.all {
            console.print()
            console.print(text(approval).report)
        }
    }

    private func text(_ approval: TrustApproval) -> ApprovalText { ApprovalText(approval, at: invocation.now) }

    private func printChange(_ verb: String, _ approval: TrustApproval) {
        if invocation.writesJSON {
            console.print(.document { $0.write(ApprovalText.facts, of: text(approval)) })
        } else {
            console.print(Report("\(verb, .good)   \(approval.endpoint)   \(ApprovalText.subject(approval))"))
        }
    }
}

// MARK: What an approval leaves out

extension TrustCommand {
    /// Prints what the approval does not cover. A device that is reached by an address which its certificate lacks is
    /// still refused.
    private func printLimits(_ approval: TrustApproval) {
        let isKey = if case .publicKey = approval.subject { true } else { false }
        var gaps: [String] = []
        if !approval.accepts.contains(.nameMismatch) { gaps.append("is not for \(approval.endpoint.host)") }
        if !approval.accepts.contains(.expired) { gaps.append("has expired") }
        guard !gaps.isEmpty else { return }
        console.printMessage("it does not cover a certificate that " + gaps.joined(separator: ", or that "))
        if !isKey {
            console.printMessage("--accept name-mismatch and --accept expired cover that for this exact certificate")
        }
    }
}

// MARK: The command line

extension TrustCommand {
    private func endpoint(for action: Action) throws(ToolError) -> ServerEndpoint? {
        let host = arguments.positionals.dropFirst().first
        switch action {
        case .approve, .revoke:
            guard let host else { throw .usage("HOST is missing", of: .trust, code: "missing-argument") }
            let endpoint = try HostArgument.endpoint(host)
            if action == .approve, let alias = AddressAlias(endpoint.host) {
                throw .unusable("invalid-host", "\(alias.message), so it is never asked about", hint: alias.hint)
            }
            return endpoint
        case .list, .export:
            if let host { throw .usage("\"\(host)\" is one argument too many for \(action.rawValue)", of: .trust) }
            return nil
        }
    }

    private func approval(
        of subject: Pin.Subject, for endpoint: ServerEndpoint
    ) throws(ToolError) -> TrustApproval {
        do {
            return try TrustApproval(
                subject, for: endpoint,
                accepting: TrustApproval.AcceptedFailure.missingAuthority.union(arguments[.accept]), at: invocation.now,
                until: arguments[.expires], note: arguments[.note])
        } catch {
            throw ToolError(error)
        }
    }

    /// The certificate or key that the user compared.
    private var subject: Pin.Subject? {
        arguments[.certificate].map { .certificate($0) } ?? arguments[.key].map { .publicKey($0) }
    }

    /// Reads a fingerprint or a pin of the command line.
    fileprivate static func read<Value>(
        _ text: String, _ read: (String) throws(PinError) -> Value
    ) throws(ToolError) -> Value {
        do {
            return try read(text)
        } catch {
            throw .unusable(error.code, error.description, hint: error.hint)
        }
    }
}
