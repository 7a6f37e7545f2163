internal import FoundationEssentials
internal import Glibc
internal import Pintle
internal import PintleCrypto
internal import PintleOpenSSL

extension Command {
    static let audit = Command(
        name: "audit",
        summary: "Hold a policy against many live servers at once, and keep the results",
        examples: [
            Example(
                line: "pintle audit policy.json", purpose: "the server of each rule; a line for each that is not fine"),
            Example(
                line: "pintle audit policy.json --hosts hosts.txt -o results.ndjson --html report.html",
                purpose: "a list of hosts, one a line; results to keep, and a page to look at"),
            Example(
                line: "pintle audit policy.json --hosts hosts.txt -o results.ndjson --resume",
                purpose: "the same after an interruption: nobody is asked twice"),
            Example(
                line: "pintle audit policy.json --hosts hosts.txt --shard 2/5 -o 2.ndjson",
                purpose: "the second of five parts, for five machines"),
            Example(
                line: "pintle audit --from 1.ndjson --from 2.ndjson --html report.html",
                purpose: "one report of several parts; no server is asked"),
            Example(line: "pintle audit example.com example.net --json", purpose: "no policy: the path alone; NDJSON"),
        ],
        overview: [
            """
            Makes a TLS handshake with each server, many at a time on one thread, decides inside it as 'pintle check' \
            does, and looks for what 'pintle lint --live' looks for. Nothing but the handshake is sent.
            """,
            """
            The servers are those on the command line and in the lists of --hosts, one a line: HOST[:PORT], and after \
            a blank, where it is reached elsewhere, HOST[:PORT] to connect to; # begins a comment. Where none is named, \
            they are the hosts of the policy's rules. An argument that is a file is the policy.
            """,
            """
            With -o each result is a line of JSON, appended when it is known. --resume passes over servers that have \
            one there, and asks again about a line that was cut off. The policy and --anchors must be the same.
            """,
            """
            --shard I/N takes a host where 1 + h mod N is I; h is the first 8 bytes of the SHA-256 of its name, \
            big-endian.
            """,
        ],
        arguments: [
            Argument(
                name: "POLICY|HOST", help: "A policy file; a host, host:port or https URL", isOptional: true,
                mayRepeat: true)
        ],
        ownOptions: [
            .policy, .hosts, .results, .resume, .html, .from, .shard, .parallel, .isStrict, .timeLimit, .connectTo,
            .anchors,
            .connectTimeout, .handshakeTimeout,
        ],
        environment: LiveEnvironment.variables,
        exitCodes: [
            (.fine, "every server is trusted"),
            (.rejected, "a server is rejected; with --strict, or there is a warning or a rule that no server meets"),
            (.unusable, "the command line or an input cannot be used, or not every server was asked, or none"),
            (.unreachable, "the only problem is that servers were not reached"),
        ],
        run: { invocation throws(ToolError) in try AuditCommand(invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let policy = OptionSpecification(
        name: "policy", value: .file("FILE"), help: "The policy file that decides; without one, the path alone does")
    fileprivate static let hosts = OptionSpecification(
        name: "hosts", value: .file("FILE"), mayRepeat: true,
        help: "Servers to ask, one a line, or - for standard input; may be repeated")
    fileprivate static let results = OptionSpecification(
        name: "out", short: "o", value: .file("FILE"), help: "Keep the results in this file, a line of JSON each")
    fileprivate static let resume = OptionSpecification(
        name: "resume", help: "Go on with the file of -o: ask the servers that it has no result of")
    fileprivate static let html = OptionSpecification(
        name: "html", value: .file("FILE"), help: "Write a page about the results; needs -o or --from")
    fileprivate static let from = OptionSpecification(
        name: "from", value: .file("FILE"), mayRepeat: true,
        help: "Ask no server, but report on these results; may be repeated")
    fileprivate static let shard = OptionSpecification(
        name: "shard", value: .text("I/N"), help: "Ask only the hosts of part I of N")
    fileprivate static let parallel = OptionSpecification(
        name: "parallel", value: .text("NUMBER"), help: "Ask so many servers at a time, at most 500", defaultText: "100"
    )
    fileprivate static let isStrict = OptionSpecification(name: "strict", help: "Exit with 1 for warnings too")
    fileprivate static let timeLimit = OptionSpecification(
        name: "time-limit", value: .text("SECONDS"), help: "End after so long; --resume goes on")
}

/// `pintle audit POLICY|HOST...`
struct AuditCommand {
    private let invocation: Invocation

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        guard arguments.has(.from) else { return try AuditRun(invocation, try request()).run() }
        let others = Command.audit.ownOptions.filter {
            ![OptionSpecification.from, .html, .isStrict].map(\.name).contains($0.name)
        }
        if let other = others.first(where: arguments.has) {
            throw .usage("--from asks no server: leave --\(other.name) out", of: .audit)
        }
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
            try AuditReport(results: results, now: invocation.now).write(to: path)
        }
        if invocation.writesJSON {
            console.print(AuditRun.document(tally))
        } else {
            let text = AuditText(console: console, showsAll: false)
            try printLines(of: results, text)
            for line in text.summary(tally) { console.print(line) }
        }
        return tally.exitCode(isStrict: arguments.has(.isStrict))
    }

    /// The servers that decide about the exit code, so many that a person reads them.
    private func printLines(of results: AuditSelection, _ text: AuditText) throws(ToolError) {
        var count = 0
        let isStrict = arguments.has(.isStrict)
        try results.read { record throws(ToolError) in
            guard record.outcome != .trusted || isStrict, let line = text.line(record) else { return }
            count += 1
            if count <= Self.mostLines { console.print(line) }
        }
        if count > Self.mostLines { console.print("and \(count - Self.mostLines) more; --html has all") }
        if count > 0 { console.print() }
    }

    private static let mostLines = 100

    /// What is written must not take the place of what is read, nor of the other.
    private func guardFiles(read inputs: [String]) throws(ToolError) {
        var files = GuardedFiles(inputs, of: .audit)
        for option in [OptionSpecification.results, .html] {
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
        if arguments.has(.html), !arguments.has(.results) {
            throw .usage("--html needs -o FILE: the page is made of the results", of: .audit)
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
                "no-policy", "this is no policy", file: file.name,
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
        // A part of a list may be empty; a list may not, or nothing would look like success.
        guard targets.total > 0 else {
            throw .unusable(
                "no-host", "there is no server to ask",
                hint: lists.isEmpty ? "name hosts, or add rules to the policy" : "the lists of --hosts name none")
        }
        return AuditRequest(
            policyFile: input?.file, policy: policy, targets: targets, parallel: parallel,
            timeLimit: timeLimit.map { .seconds($0) }, results: arguments.value(of: .results),
            resumes: arguments.has(.resume), html: arguments.value(of: .html), isStrict: arguments.has(.isStrict))
    }

    /// No more servers at a time than there may be sockets: a race between two addresses needs two for each.
    private func fitting(_ parallel: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return parallel }
        let room = max(1, Int(clamping: limit.rlim_cur).subtractingReportingOverflow(32).partialValue / 2)
        if room < parallel {
            console.warn("\(room) servers are asked at a time: the limit of open files allows no more")
        }
        return min(room, parallel)
    }

    /// A policy is an object.
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

/// What the command line asks for.
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
    let isStrict: Bool
}
