internal import Pintle
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintleSystem

extension Command {
    static let audit = Command(
        name: "audit",
        summary: "Check many live servers against a policy at once, and keep the results",
        examples: [
            Example(
                line: "pintle audit policy.json",
                purpose: "the server of each rule; prints a line for each problem"),
            Example(
                line: "pintle audit policy.json --hosts hosts.txt -o results.ndjson --html report.html",
                purpose: "a list of hosts, one a line; results to keep, and a page to look at"),
            Example(
                line: "pintle audit policy.json --hosts hosts.txt -o results.ndjson --resume",
                purpose: "the same after an interruption: asks only the servers that are left"),
            Example(
                line: "pintle audit policy.json --hosts hosts.txt --shard 2/5 -o 2.ndjson",
                purpose: "the second of five parts, for five machines"),
            Example(
                line: "pintle audit --hosts hosts.txt --require hybrid",
                purpose: "fails unless every server's key exchange is safe from quantum computers"),
            Example(
                line: "pintle audit --from 1.ndjson --from 2.ndjson --html report.html",
                purpose: "one report of several parts; no server is asked"),
            Example(
                line:
                    "pintle audit policy.json --history --from monday.ndjson --from friday.ndjson --html history.html",
                purpose: "how the keys changed from audit to audit, and which pins died; no server is asked"),
            Example(line: "pintle audit example.com example.net --json", purpose: "no policy, only the path; NDJSON"),
        ],
        overview: [
            """
            Makes a TLS handshake with each server, many at a time on one thread, decides inside it as `pintle check` \
            does, and looks for the problems that `pintle lint` finds with `--live`. Nothing but the handshake is sent.
            """,
            """
            The servers are those on the command line and in the lists of `--hosts`, one a line: HOST[:PORT], and after \
            a blank, if it is reached elsewhere, HOST[:PORT] to connect to; # begins a comment. If no server is named, \
            they are the hosts of the policy's rules. An argument that is a file is the policy.
            """,
            """
            With `-o`, each result is appended to the file as a line of JSON when it is known. `--resume` skips servers \
            that have a result there; a line that was cut off does not count. The policy and `--anchors` must be the same.
            """,
            """
            `--shard I/N` takes a host if 1 + h mod N is I; h is the first 8 bytes of the SHA-256 of its name, \
            big-endian.
            """,
        ],
        arguments: [
            Argument(
                name: "POLICY|HOST", help: "A policy file; a host, host:port or https URL", isOptional: true,
                mayRepeat: true)
        ],
        ownOptions: [
            .policy, .hosts, .results, .resume, .html, .metrics, .from, .history, .shard, .parallel, .isStrict,
            .require,
            .timeLimit, .connectTo, .anchors, .families, .connectTimeout, .handshakeTimeout,
        ],
        environment: LiveEnvironment.variables,
        exitCodes: [
            (.fine, "every server is trusted"),
            (
                .rejected,
                """
                a server is rejected; with `--strict`, also a warning, or a rule whose host is in no list; with `--require`, \
                also a server without the property; with `--history`, a pin died
                """
            ),
            (
                .unusable,
                "the command line or an input cannot be used, or a server was not asked, or there is no server"
            ),
            (.unreachable, "the only problem is that servers were not reached"),
        ],
        sections: [.servers, .ending, .results, .auditJSON, .history],
        articles: [.continuousIntegration, .publicAuthorities, .decisions],
        run: { invocation throws(ToolError) in try AuditCommand(invocation).run() }
    )
}

extension ReferenceSection {
    fileprivate static let servers = ReferenceSection(
        "Servers",
        .paragraph(
            """
            A line of a list that cannot be read is an error with its place, and no server is asked. With `--hosts`, the \
            rules whose host is in no list are named on standard error, because their hosts may have \
            typing errors; in JSON they are `unmetRules`, at most 20.
            """),
        .paragraph(
            """
            Approvals of a store do not count: a server that a person would have to decide about is rejected with \
            `unknown-host`.
            """),
        .paragraph(
            """
            Results are printed in the order in which servers answer, those of trusted servers only with `-v`. Names are resolved, and proxies asked, 32 at a \
            time. If the process may open few files (`ulimit -n`), fewer servers are asked at a time. Memory does not \
            grow with the results; a list of hosts takes less than 200 bytes for each.
            """))

    fileprivate static let ending = ReferenceSection(
        "Interruptions",
        .paragraph(
            """
            After SIGINT, SIGTERM or `--time-limit` the results so far are whole, and the exit code is 2. Another signal, \
            at least half a second later, ends the process at once.
            """))

    fileprivate static let results = ReferenceSection(
        "Results",
        .paragraph(
            """
            Without `-o`, `--json` writes a line for each server to standard output; with `-o`, these lines go to the \
            file and standard output gets the summary. Two audits cannot write to one file. A file with anything but \
            results is left as it is. Results of servers that left the list stay in the file and do not count. The \
            system's roots are not compared when an audit is resumed.
            """),
        .paragraph("To ask the servers again that were not reached, take their lines out first:"),
        .verbatim(#"grep -v '"error":{' results.ndjson > again.ndjson"#),
        .paragraph(
            """
            `--from` reports on the newest result of each server. It prints a line for servers that are not trusted, with \
            `--strict` also for those with warnings, 100 at most. Results of different policies or anchors are an error. \
            The page of `--html` works without scripts and loads nothing.
            """),
        .paragraph(
            """
            `--metrics` writes Prometheus's text format for the textfile collector of the node exporter: totals, and series for at \
            most 100 refused servers, 100 that were not reached, and 100 whose certificates or pins end first. The file is \
            replaced as a whole, and only when every server has a result; its name must end in `.prom` for the collector.
            """))

    fileprivate static let auditJSON = ReferenceSection.json(
        "A line has these keys:",
        keys: [
            ("host, port, connectTo", "The server, and the place that was connected to, if it is another"),
            ("at, milliseconds", "The instant of the decision, and the time until the certificates or the error"),
            (
                "decision, reason, pathFailure, raw, detail, matchedPin, depth, isBackup, rule, nearestMiss",
                "As `pintle check` has them"
            ),
            (
                "backup",
                "`unused`, `in-use` (shown beside a pin), `matched` (the server has moved to it) or `none`"
            ),
            ("pinsEnd", "The instant when the rule's pins expire"),
            (
                "certificateEnds, certificateEndsAt",
                "The first end of a certificate that the server has to renew, and its position"
            ),
            (
                "certificates",
                "`position`, `subject`, `issuer`, `spkiPin`, `certificateSHA256`, `notBefore`, `notAfter`, `sent`, `onPath`; at most 16"
            ),
            ("moreCertificates, moreProblems", "The number of certificates and problems that were left out"),
            ("problems, fragility", "As `pintle lint` has them; at most 32 problems"),
            ("tlsVersion, cipherSuite, keyExchangeGroup, address, alert", "As `pintle check` has them"),
            ("error", "Instead of a decision: `code`, `message`, `hint`"),
            ("policy", "The SHA-256 of the policy file in hex"),
            ("anchors", "With `--anchors`, the SHA-256 of its certificates in DER, in hex"),
        ])
}

extension OptionSpecification {
    fileprivate static let policy = OptionSpecification(
        name: "policy", value: .file("FILE"), help: "The policy file that decides; without it, only the path does")
    fileprivate static let hosts = OptionSpecification(
        name: "hosts", value: .file("FILE"), mayRepeat: true,
        help: "Servers to ask, one a line, or `-` for standard input; may be repeated")
    fileprivate static let results = OptionSpecification(
        name: "out", short: "o", value: .output("FILE"), help: "Keep the results in this file, a line of JSON each")
    fileprivate static let resume = OptionSpecification(
        name: "resume", help: "Go on with the file of `-o`: ask only servers that have no result in it")
    fileprivate static let html = OptionSpecification(
        name: "html", value: .output("FILE"), help: "Write a page about the results; needs `-o` or `--from`")
    fileprivate static let metrics = OptionSpecification(
        name: "metrics", value: .output("FILE"),
        help: "Write metrics of the results for Prometheus; needs `-o` or `--from`")
    fileprivate static let from = OptionSpecification(
        name: "from", value: .file("FILE"), mayRepeat: true,
        help: "Ask no server, but report on these results; may be repeated")
    fileprivate static let history = OptionSpecification(
        name: "history", help: "Report how keys and pins changed over the results of `--from`")
    fileprivate static let shard = OptionSpecification(
        name: "shard", value: .text("I/N"), help: "Ask only the hosts of part I of N")
    fileprivate static let parallel = OptionSpecification(
        name: "parallel", value: .text("NUMBER"), help: "Ask this many servers at a time, at most 500",
        defaultText: "100")
    fileprivate static let isStrict = OptionSpecification(
        name: "strict", help: "Exit with 1 for warnings too, and for a rule whose host is in no list")
    fileprivate static let require = OptionSpecification(
        name: "require", value: .choice("PROPERTY", ["hybrid"]),
        help: "Exit with 1 for a server that negotiates no hybrid key exchange; needs OpenSSL 3.5 or later here")
    fileprivate static let timeLimit = OptionSpecification(
        name: "time-limit", value: .text("SECONDS"), help: "Stop after this time; `--resume` goes on")
}

/// `pintle audit POLICY|HOST...`
struct AuditCommand {
    private let invocation: Invocation

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }
    private var requiresHybrid: Bool { arguments.has(.require) }

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        if arguments.has(.history) { return try history() }
        guard arguments.has(.from) else { return try AuditRun(invocation, try request()).run() }
        try refuse(allBut: [.from, .html, .metrics, .isStrict, .require])
        guard arguments.positionals.isEmpty else {
            throw .usage("--from asks no server: leave \"\(arguments.positionals[0])\" out", of: .audit)
        }
        let paths = arguments.values(of: .from)
        try guardFiles(read: paths)
        let results = try AuditSelection(of: paths, warning: console.warn)
        guard results.count > 0 else {
            throw .unusable("no-result", "there is no result to report on", hint: "an audit of no server is no success")
        }
        var tally = AuditTally()
        try results.read { record throws(ToolError) in tally.add(record) }
        if let path = arguments.value(of: .html) {
            try AuditReport(results: results, now: invocation.now, requiresHybrid: requiresHybrid).write(to: path)
        }
        if let path = arguments.value(of: .metrics) {
            try AuditMetrics.write(results, to: path, now: invocation.now)
        }
        if invocation.writesJSON {
            console.print(AuditRun.document(tally))
        } else {
            let text = AuditText(console: console, showsAll: false, requiresHybrid: requiresHybrid)
            try printLines(of: results, text)
            for line in text.summary(tally) { console.print(line) }
        }
        return tally.exitCode(isStrict: arguments.has(.isStrict), requiresHybrid: requiresHybrid)
    }

    private func history() throws(ToolError) -> ExitCode {
        guard arguments.has(.from) else {
            throw .usage("--history needs --from FILE: results of several audits", of: .audit)
        }
        try refuse(allBut: [.from, .history, .html, .policy])
        if let host = arguments.positionals.first(where: { !PinCommand.isFile($0) }) {
            throw .usage("--history asks no server: leave \"\(host)\" out, or name a policy file", of: .audit)
        }
        let policies = arguments.positionals + arguments.values(of: .policy)
        guard policies.count <= 1 else {
            throw .usage("\(policies[0]) and \(policies[1]) cannot both judge", of: .audit)
        }
        let files = arguments.values(of: .from)
        try guardFiles(read: files + policies)
        let input = try policies.first.map { path throws(ToolError) in try PolicyInput(path, invocation) }
        let policy = try input.map { input throws(ToolError) in (name: input.file.name, policy: try input.policy()) }
        return try HistoryCommand(
            invocation: invocation, files: files, policy: policy, page: arguments.value(of: .html)
        ).run()
    }

    /// Refuses every other option of this command beside `--from`.
    private func refuse(allBut allowed: [OptionSpecification]) throws(ToolError) {
        let others = Command.audit.ownOptions.filter { !allowed.map(\.name).contains($0.name) }
        if let other = others.first(where: arguments.has) {
            throw .usage("--from asks no server: leave --\(other.name) out", of: .audit)
        }
    }

    /// Prints the servers that decide the exit code, at most 100 so that the list stays readable.
    private func printLines(of results: AuditSelection, _ text: AuditText) throws(ToolError) {
        var count = 0
        let isStrict = arguments.has(.isStrict)
        try results.read { record throws(ToolError) in
            guard record.outcome != .trusted || isStrict || requiresHybrid && record.lacksHybridGroup,
                let lines = text.lines(record)
            else { return }
            count += 1
            if count <= Self.mostServers { for line in lines { console.print(line) } }
        }
        if count > Self.mostServers { console.print("and \(count - Self.mostServers) more; --html has all") }
        if count > 0 { console.print() }
    }

    private static let mostServers = 100

    /// Refuses an output file that is also an input file or the other output file.
    private func guardFiles(read inputs: [String]) throws(ToolError) {
        var files = GuardedFiles(inputs, of: .audit)
        for option in [OptionSpecification.results, .html, .metrics] {
            if let path = arguments.value(of: option) { try files.reserve(path, for: option) }
        }
    }

    // MARK: The command line

    private func request() throws(ToolError) -> AuditRequest {
        let files = arguments.positionals.filter(PinCommand.isFile) + arguments.values(of: .policy)
        guard files.count <= 1 else {
            throw .usage(
                "\(files[0]) and \(files[1]) cannot both decide; a list of hosts is given with --hosts", of: .audit)
        }
        let lists = arguments.values(of: .hosts)
        guard (files + lists).count(where: { $0 == "-" }) <= 1 else {
            throw .usage("- stands there twice; standard input is read once", of: .audit)
        }
        if arguments.has(.resume), !arguments.has(.results) {
            throw .usage("--resume needs -o FILE: what is there is what it goes on with", of: .audit)
        }
        for option in [OptionSpecification.html, .metrics] where arguments.has(option) && !arguments.has(.results) {
            let made = option.name == "html" ? "the page is" : "the metrics are"
            throw .usage("--\(option.name) needs -o FILE: \(made) made of the results", of: .audit)
        }
        try guardFiles(read: files + lists + arguments.values(of: .anchors))
        var hosts: [ServerEndpoint] = []
        for host in arguments.positionals where !PinCommand.isFile(host) {
            hosts.append(try HostArgument.endpoint(host))
        }
        let shard = try arguments.value(of: .shard).map { text throws(ToolError) in try AuditShard(text) } ?? .all
        let parallel = fitting(try number(.parallel, 1...500) ?? 100)
        let timeLimit = try number(.timeLimit, 1...604_800)
        let input = try files.first.map { path throws(ToolError) in try PolicyInput(path, invocation) }
        if let file = input?.file, Self.looksLikeAList(file.bytes) {
            throw .unusable(
                "no-policy", "this is not a policy", file: file.name,
                hint: "a list of hosts is given with --hosts \(file.name)")
        }
        let policy = try input?.policy()
        var texts: [AuditHostList] = []
        for path in lists { texts.append(AuditHostList(try invocation.file(path, limit: AuditHostList.maximumSize))) }
        if policy == nil, hosts.isEmpty, lists.isEmpty {
            throw .usage("POLICY or HOST is missing", of: .audit, code: "missing-argument")
        }
        let targets = try AuditTargets(
            named: hosts, lists: texts, policy: policy, connectTo: arguments.value(of: .connectTo),
            shard: shard)
        // One shard of a list may be empty. The whole list may not: an audit of no server would look like a success.
        guard targets.total > 0 else {
            throw .unusable(
                "no-host", "there is no server to ask",
                hint: lists.isEmpty ? "name hosts, or add rules to the policy" : "the lists of --hosts name none")
        }
        return AuditRequest(
            policyFile: input?.file, policy: policy, targets: targets, parallel: parallel,
            timeLimit: timeLimit.map { .seconds($0) }, results: arguments.value(of: .results),
            resumes: arguments.has(.resume), html: arguments.value(of: .html),
            metrics: arguments.value(of: .metrics), isStrict: arguments.has(.isStrict),
            requiresHybrid: requiresHybrid)
    }

    /// Returns how many servers to ask at a time within the limit of open files. Each server may need two sockets,
    /// because the connection races two addresses.
    private func fitting(_ parallel: Int) -> Int {
        guard let limit = RunningProgram.descriptorLimit else { return parallel }
        let room = max(1, limit.subtractingReportingOverflow(32).partialValue / 2)
        if room < parallel {
            console.warn("\(room) servers are asked at a time: the limit of open files allows no more")
        }
        return min(room, parallel)
    }

    /// Returns `true` if the file does not begin like a policy, which is a JSON object.
    private static func looksLikeAList(_ bytes: [UInt8]) -> Bool {
        bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { $0 != UInt8(ascii: "{") && $0 < 0x80 } ?? false
    }

    private func number(_ option: OptionSpecification, _ range: ClosedRange<Int>) throws(ToolError) -> Int? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .usage(
                "--\(option.name) takes a whole number from \(range.lowerBound) to \(range.upperBound)", of: .audit)
        }
        return number
    }
}

/// The settings of one audit.
struct AuditRequest {
    let policyFile: InputFile?
    let policy: PinningPolicy?
    let targets: AuditTargets
    let parallel: Int
    let timeLimit: Duration?
    /// The file that results are kept in.
    let results: String?
    let resumes: Bool
    let html: String?
    /// The file of metrics; `nil` for none.
    let metrics: String?
    let isStrict: Bool
    let requiresHybrid: Bool
}
