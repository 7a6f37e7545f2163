internal import Pintle
package import PintleConsole
internal import PintlePolicyLint
internal import PintleStorage
internal import PintleSystem

extension Command {
    package static let lint = Command(
        name: "lint",
        summary: "Find every mistake in a policy file, each with its place and remedy",
        examples: [
            Example(line: "pintle lint policy.json", purpose: "all problems at once, in the form that editors jump to"),
            Example(line: "pintle lint policy.json --expires-within 180d", purpose: "before a release that lives long"),
            Example(
                line: "pintle lint policy.json --live",
                purpose: "against the server of each rule: changed keys, backups in use, certificates that end"),
            Example(
                line: "pintle lint policy.json --against api.example.com --github",
                purpose: "against one server, as annotations of a pull request"),
            Example(
                line: "pintle lint policy.json --allow report-only:api.example.com",
                purpose: "accept one warning, until it has no reason any more"),
            Example(
                line: "pintle lint policy-8.json --sync pintle-sync.json",
                purpose: "before an update: does the app's Info.plist have its keys?"),
            Example(line: "pintle lint policy.json --json", purpose: "for a script: ids are stable"),
        ],
        overview: [
            """
            Reads the policy and the anchor files it names. Errors make a policy unusable; warnings are for allowed \
            values that are probably mistakes, such as pins that end soon. Both count as problems.
            """,
            """
            With `--live` or `--against` it makes a TLS handshake with each server, one after the other, and sends \
            nothing else. The ids of problems at a server begin with `live-`.
            """,
            """
            `--allow ID:HOST` accepts a warning: it is listed as allowed and does not count. Write HOST as the message \
            has it, with its port if there is one. A warning about the whole file is `--allow ID`. Errors cannot be \
            allowed. An `--allow` that hides nothing is a problem itself, so that it goes when its reason goes; it is \
            not judged while there are errors.
            """,
            """
            If `pintle-sync.json` beside the policy names it, or `--sync` names such a file, `pintle lint` also reads \
            the `NSPinnedDomains` of the app's Info.plist, which the system enforces whatever an update brings.
            """,
        ],
        arguments: [Argument(name: "POLICY", help: "The policy file, or `-` for standard input")],
        ownOptions: [
            .live, .against, .from, .families, .expiresWithin, .allow, .sync, .github, .identity, .connectTo, .anchors,
            .connectTimeout,
            .handshakeTimeout,
        ],
        rules: [
            .needs(.from, .live, .against, to: "know the servers"),
            .needs(.identity, .live, .against, to: "know the servers"),
            .excludes(.github, .json, because: "both are formats of one report"),
        ],
        environment: EnvironmentVariables.ofServers + [EnvironmentVariables.passphrase],
        exitCodes: [
            (.fine, "no problem"), (.rejected, "there are errors, or warnings that are not allowed"),
            (.unusable, "the file cannot be read"),
            (.unreachable, "the only problem is that servers cannot be reached"),
        ],
        sections: [
            ReferenceSection(
                "Live problems",
                .paragraph(
                    """
                    At a server, `pintle lint` finds changed keys, backups in use, pins that match nothing, missing \
                    intermediates and certificates that end soon.
                    """),
                .paragraph(
                    """
                    A problem that more than 20 rules share is one line with their number; `--json` and `--github` \
                    list all of them.
                    """)),
            .json(keys: [
                (
                    "problems",
                    "A list of `id`, `severity` (`error`, `warning`), `path`, `line`, `column`, `message`, "
                        + "`help`, `note`, `server`"
                ),
                ("errors, warnings", "The numbers of both"),
                ("allowed", "The warnings that `--allow` hides, as in `problems`"),
                (
                    "servers",
                    "`host`, `port`, `decision`, `reason`; `fragility` (`id`, `until`, "
                        + "`because`) if pins will not match for long"
                ),
            ]),
        ],
        articles: [.policyProblems, .policyFile, .publicAuthorities, .continuousIntegration],
        run: { invocation throws(ToolError) in try LintCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let expiresWithin = Option(
        "expires-within", .days("DAYS"), defaultText: "90d", help: "Warn of pins that end within this time")
    fileprivate static let live = OptionSpecification(
        "live", help: "Compare each rule with its live server, at its port or 443")
    fileprivate static let against = Option(
        repeated: "against", .server("HOST"),
        help: "Hold the policy against this server: a host, host:port or an https URL; may be repeated")
    fileprivate static let from = Option(
        repeated: "from", .file("FILE"),
        help: "Results of earlier audits, which show whether keys outlive a renewal; with `--live` or `--against`")
    fileprivate static let allow = Option(
        repeated: "allow",
        .reading("ID:HOST") { text throws(ToolError) in
            try LintAllowances.check(text)
            return text
        },
        help: "Accept this warning; may be repeated. One about the whole file has no `:HOST`")
    fileprivate static let sync = Option(
        "sync", .file("FILE"), defaultText: "\(SyncFile.name) beside the policy",
        help: "The file of `pintle sync` that names the app's Info.plist")
    fileprivate static let github = OptionSpecification(
        "github", help: "Write annotations for GitHub's runners")
}

/// `pintle lint POLICY`
struct LintCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let allowances = LintAllowances(names: invocation.arguments[.allow])
        let input = try PolicyInput(invocation.arguments.positionals[0], invocation)
        let authority = invocation.libraries.publicAuthorities(invocation.environment)
        let families = try FamilyFile.read(invocation)
        var lint = input.lint(families.families, authority, at: invocation.now)
        if let seconds = invocation.arguments[.expiresWithin] { lint.expiresWithin = seconds }
        lint.infoPlists = try infoPlists(besides: input.file.path)
        let report = lint.report(on: input.file.bytes)
        if report.policy == nil, let error = input.otherKind { throw error }
        var entries = report.findings
        let servers = try look(report.policy, input.file, authority, families.families, &entries)
        if families.families.isOld(at: invocation.now),
            report.policy?.hosts.contains(where: families.families.isUsed) == true
        {
            invocation.console.warn(families.age)
        }
        let rules = report.hosts.map(\.description)
        let allowed = allowances.apply(
            to: &entries, rules: rules, isComplete: !report.hasMore,
            isLive: !servers.isEmpty)
        let text = LintReportText(
            entries: entries, allowed: allowed, rules: rules, hasMore: report.hasMore, servers: servers,
            file: input.file)
        if invocation.writesJSON {
            invocation.console.print(text.document)
        } else if invocation.arguments.has(.github) {
            text.annotate(invocation.console)
        } else {
            invocation.print(text.report)
        }
        guard !entries.isEmpty else { return text.isFine ? .fine : .rejected }
        return entries.allSatisfy { $0.problem.id == LiveProblem.unreachable.rawValue } ? .unreachable : .rejected
    }

    /// Returns the pins of the Info.plists that a file of `pintle sync` names. If the command line does not name that
    /// file, one that cannot be read is a warning.
    private func infoPlists(besides policy: String) throws(ToolError) -> [InfoPlistPins] {
        let named = invocation.arguments[.sync]
        let path = named ?? PolicyFolder(ofFile: policy).path(of: SyncFile.name)
        guard named != nil || policy != "-" && InputFile.exists(path) else { return [] }
        let sync: SyncFile
        do throws(ToolError) {
            sync = try SyncFile.read(path, invocation)
        } catch {
            guard named == nil else { throw error }
            invocation.console.warn("\(path) is left out: \(error.message)")
            return []
        }
        guard named != nil || InputFile.isSame(sync.policy, policy) else { return [] }
        var found: [InfoPlistPins] = []
        for target in sync.targets where target.format == .ats {
            do throws(ToolError) {
                if let pins = try ATSImport.pins(inFile: target.path) { found.append(pins) }
            } catch {
                guard named == nil else { throw error.file == nil ? error.placed(in: target.path) : error }
                invocation.console.warn("the policy is not held against \(target.path): \(error.message)")
            }
        }
        return found
    }

    /// Asks the servers of the command line and inserts their problems among the entries, in the file's order.
    private func look(
        _ policy: PinningPolicy?, _ file: InputFile, _ authority: @escaping @Sendable (Pin) -> String?,
        _ families: AuthorityFamilies, _ entries: inout [LintProblem]
    ) throws(ToolError) -> [LintedServer] {
        var endpoints = invocation.arguments[.against]
        if invocation.arguments.has(.live) {
            endpoints += policy?.hosts.map { ServerEndpoint(host: $0.host, port: $0.port ?? 443) } ?? []
        }
        guard !endpoints.isEmpty || invocation.arguments.has(.live) else { return [] }
        guard let policy else {
            invocation.console.warn("the policy has errors, so no server was asked")
            return []
        }
        let lint = try invocation.servers().lint(
            LintedPolicy(
                policy: policy, json: file.bytes, authority: authority, families: families,
                histories: try KeyHistory.read(invocation.arguments[.from], warning: invocation.console.warn)),
            invocation)
        var seen: Set<ServerEndpoint> = []
        var servers: [LintedServer] = []
        for endpoint in endpoints where seen.insert(endpoint).inserted {
            let (server, found) = try lint(endpoint)
            servers.append(server)
            entries += found
        }
        entries = entries.inFileOrder
        return servers
    }
}

extension ValueFormat<Double> {
    /// A number of days, in seconds.
    fileprivate static func days(_ placeholder: String) -> ValueFormat {
        ValueFormat(shape: .text(placeholder), range: "days, such as 180d") { text in
            text.hasSuffix("d") ? UInt16(text.dropLast()).map { Double($0) * 86_400 } : nil
        }
    }
}
