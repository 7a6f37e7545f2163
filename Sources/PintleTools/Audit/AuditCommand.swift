internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleProcess
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
            Example(line: "pintle audit example.com example.net --json", purpose: "no policy, only the path; NDJSON"),
        ],
        overview: [
            """
            Makes a TLS handshake with each server, many at a time on one thread, decides inside it as `pintle check` \
            does, and looks for the problems that `pintle lint` finds with `--live`. Nothing but the handshake is sent.
            """,
            """
            The servers are those on the command line and in the lists of `--hosts`, one a line: HOST[:PORT], and \
            after a blank, if it is reached elsewhere, HOST[:PORT] to connect to; # begins a comment. If no server is \
            named, they are the hosts of the policy's rules. An argument that is a file is the policy.
            """,
            """
            With `-o`, each result is appended to the file as a line of JSON when it is known. `--resume` skips \
            servers that have a result there; a line that was cut off does not count. The policy and `--anchors` must \
            be the same. `pintle report` makes one report of several such files.
            """,
            """
            `--shard I/N` takes a host if 1 + h mod N is I; h is the first 8 bytes of the SHA-256 of its name, \
            big-endian.
            """,
        ],
        arguments: [
            Argument(
                name: "POLICY|HOST",
                help: "A policy file, without which only the path decides; hosts, host:port or https URLs",
                isOptional: true,
                mayRepeat: true)
        ],
        ownOptions: [
            .hosts, .results, .resume, .auditPage, .metrics, .shard, .parallel, .isStrict, .require,
            .timeLimit, .identity, .connectTo, .anchors, .families, .connectTimeout, .handshakeTimeout,
            .verbose,
        ],
        rules: [
            .needs(.resume, .results, to: "go on with the results in it"),
            .needs(.auditPage, .results, to: "have results to show"),
            .needs(.metrics, .results, to: "have results to count"),
        ],
        environment: EnvironmentVariables.ofServers + [EnvironmentVariables.passphrase],
        exitCodes: [
            (.fine, "every server is trusted"),
            (
                .rejected,
                """
                a server is rejected; with `--strict`, also a warning, or a rule whose host is in no list; with \
                `--require`, also a server without the property
                """
            ),
            (
                .unusable,
                "the command line or an input cannot be used, or a server was not asked, or there is no server"
            ),
            (.unreachable, "the only problem is that servers were not reached"),
        ],
        sections: [.servers, .ending, .results, .auditJSON],
        articles: [.continuousIntegration, .publicAuthorities, .decisions],
        run: { invocation throws(ToolError) in try AuditCommand(invocation: invocation).run() }
    )
}

extension ReferenceSection {
    fileprivate static let servers = ReferenceSection(
        "Servers",
        .paragraph(
            """
            A line of a list that cannot be read is an error with its place, and no server is asked. With `--hosts`, \
            the rules whose host is in no list are named on standard error, because their hosts may have typing \
            errors; in JSON they are `unmetRules`, at most 20.
            """),
        .paragraph(
            """
            Approvals of a store do not count: a server that a person would have to decide about is rejected with \
            `unknown-host`.
            """),
        .paragraph(
            """
            A terminal shows each server that is not trusted, or has a warning, as soon as it answers. At the end, \
            standard output gets a row for all servers with the same reason: up to 10 of their names, or all with \
            `-v`, which also shows trusted servers. Names are resolved, and proxies asked, 32 at a time. If the \
            process may open few files (`ulimit -n`), fewer servers are asked at a time. Without `-v`, memory does not \
            grow with the results; a list of hosts takes about 300 bytes for each.
            """))

    fileprivate static let ending = ReferenceSection(
        "Interruptions",
        .paragraph(
            """
            After SIGINT, SIGTERM or `--time-limit` the results so far are whole, and the exit code is 2. Another \
            signal, at least half a second later, ends the process at once.
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
        .paragraph("`pintle report` describes the page of `--html` and the file of `--metrics`."))

    fileprivate static let auditJSON = ReferenceSection.json(
        "A line has these keys:",
        keys: AuditResult.rows)
}

extension OptionSpecification {
    fileprivate static let hosts = Option(
        repeated: "hosts", .file("FILE"),
        help: "Servers to ask, one a line, or `-` for standard input; may be repeated")
    static let results = Option(
        "out", short: "o", .output("FILE"), help: "Keep the results in this file, a line of JSON each")
    static let resume = OptionSpecification(
        "resume", help: "Go on with the file of `-o`: ask only servers that have no result in it")
    static let auditPage = Option("html", .output("FILE"), help: "Write a page about the results")
    static let metrics = Option("metrics", .output("FILE"), help: "Write metrics of the results for Prometheus")
    fileprivate static let shard = Option(
        "shard",
        ValueFormat(shape: .text("I/N"), range: "I/N, such as 2/5 for the second of five parts") { AuditShard($0) },
        help: "Ask only the hosts of part I of N")
    fileprivate static let parallel = Option(
        "parallel", .number("NUMBER", in: 1...500), default: 100, help: "Ask this many servers at a time")
    static let isStrict = OptionSpecification(
        "strict", help: "Exit with 1 for warnings too, and for a rule whose host is in no list")
    static let require = Option(
        "require", .choice("PROPERTY", RequiredProperty.allCases),
        help: "Exit with 1 for a server that negotiates no hybrid key exchange; needs OpenSSL 3.5 or later here")
    static let timeLimit = Option(
        "time-limit", .number("SECONDS", in: 1...604_800), help: "Stop after this time; `--resume` goes on")
}

/// A property that every server must have.
enum RequiredProperty: String, CaseIterable {
    case hybrid
}

/// `pintle audit POLICY|HOST...`
struct AuditCommand {
    let invocation: Invocation

    private var arguments: ParsedArguments { invocation.arguments }

    func run() throws(ToolError) -> ExitCode { try AuditRun(invocation, try request()).run() }

    private func request() throws(ToolError) -> AuditRequest {
        let files = arguments.positionals.filter(PinCommand.isFile)
        guard files.count <= 1 else {
            throw .usage(
                "\(files[0]) and \(files[1]) cannot both decide; a list of hosts is given with --hosts", of: .audit)
        }
        let lists = arguments[.hosts]
        guard (files + lists).count(where: { $0 == "-" }) <= 1 else {
            throw .usage("- is given twice; standard input is read only once", of: .audit)
        }
        try GuardedFiles.check(
            .results, .auditPage, .metrics, of: arguments,
            reading: files + lists + arguments.files(of: .anchors, .identity))
        var hosts: [ServerEndpoint] = []
        for host in arguments.positionals where !PinCommand.isFile(host) {
            hosts.append(try HostArgument.endpoint(host))
        }
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
            named: hosts, lists: texts, policy: policy, connectTo: arguments[.connectTo],
            shard: arguments[.shard] ?? .all)
        // One shard of a list may be empty. The whole list may not: an audit of no server would look like a success.
        guard targets.total > 0 else {
            throw .unusable(
                "no-host", "there is no server to ask",
                hint: lists.isEmpty ? "name hosts, or add rules to the policy" : "the lists of --hosts name none")
        }
        return AuditRequest(
            policyFile: input?.file, policy: policy, targets: targets, parallel: fitting(arguments[.parallel]))
    }

    /// Returns how many servers to ask at a time within the limit of open files. Each server may need two sockets,
    /// because the connection races two addresses.
    private func fitting(_ parallel: Int) -> Int {
        guard let limit = RunningProgram.descriptorLimit else { return parallel }
        let room = max(1, limit.subtractingReportingOverflow(32).partialValue / 2)
        if room < parallel {
            invocation.console.warn("\(room) servers are asked at a time: the limit of open files allows no more")
        }
        return min(room, parallel)
    }

    /// Returns `true` if the file does not begin like a policy, which is a JSON object.
    private static func looksLikeAList(_ bytes: [UInt8]) -> Bool {
        bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { $0 != UInt8(ascii: "{") && $0 < 0x80 } ?? false
    }
}

/// The servers of an audit, and what decides about them.
struct AuditRequest {
    let policyFile: InputFile?
    let policy: PinningPolicy?
    let targets: AuditTargets
    let parallel: Int
}
