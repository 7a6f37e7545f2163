internal import Pintle
internal import PintleTestKit

extension Command {
    static let rehearse = Command(
        name: "rehearse",
        summary: "Attack a client of any kind with real servers, and see what it lets through",
        examples: [
            Example(
                line: "pintle rehearse -- curl -sS -m 3 --cacert {ca} {url}",
                purpose: "a client that validates and does not pin: see which interceptors it lets through"),
            Example(
                line: "pintle rehearse -- curl -sS -m 3 --cacert {ca} --pinnedpubkey '{pins}' {url}",
                purpose: "the same with pins: nothing gets through"),
            Example(
                line: "pintle rehearse --junit rehearsal.xml -- python3 client.py {url} {ca}",
                purpose: "your own client, in continuous integration; exit code 1 if anything gets through"),
            Example(
                line: "pintle rehearse --only trusted-interceptor,expired -v -- ./client --ca {ca} {url}",
                purpose: "two of the attacks, with every detail"),
            Example(line: "pintle rehearse --list", purpose: "the attacks, the standard behind each, why it matters"),
            Example(
                line: "pintle rehearse --serve --listen 192.0.2.7 --html report.html",
                purpose: "the servers for a phone in the same network, until Ctrl-C"),
        ],
        overview: [
            """
            Starts a TLS server on loopback for each attack, with new certificates, and runs the client once against \
            each. Judges by the bytes that the server got and by the end of the client: accepted, blocked, LET THROUGH, \
            inconclusive. Attacks of the group `hold` ask only that the client ends by itself: ended, or HELD. The right server \
            comes first: if a client refuses it, its other answers prove nothing.
            """,
            """
            In the client's words these are replaced: `{url}` (https://localhost:PORT/), `{host}` and `{port}`. `{ca}` \
            is a file of the two roots to trust, PEM. `{pin}` and `{backup}` are the server's pins as curl writes them \
            (sha256//...); `{pins}` is both with a semicolon between. `{issuer}` is the pin of the authority that issues. \
            `{pin-base64}`, `{backup-base64}` and `{issuer-base64}` are the bare hashes. `{policy}` is a policy file with \
            anchors and pins. No shell reads the words. The client runs without proxy variables and without input. When its time \
            is up, it is ended together with all its child processes.
            """,
            """
            Nothing leaves this machine, unless `--listen` names an address that other machines reach.
            """,
        ],
        arguments: [
            Argument(
                name: "CLIENT", help: "The client and its arguments, with `{url}` or `{port}` in them",
                isOptional: true,
                mayRepeat: true, followsOptions: true)
        ],
        ownOptions: [
            .only, .group, .list, .timeout, .rehearsalJUnit, .rehearsalPage, .rehearsalSARIF, .serve, .listen,
            .servedHost,
        ],
        environment: [("TMPDIR", "The folder for the files of `{ca}` and `{policy}` while the client runs")],
        exitCodes: [
            (.fine, "everything ended as it must"),
            (
                .rejected,
                "something was let through or held the client, a server that must be accepted was blocked, or a server "
                    + "has no verdict"
            ),
            (.unusable, "it proves nothing: the client cannot be run, or refuses the right server too"),
        ],
        sections: [
            .json(
                "A list of these objects, the right server first. Attacks that cannot be run have only `id`, `outcome` and "
                    + "`remark`. With `--list` an object has `id`, `expected`, `reference`, `summary`, `why`, `group`, `cwe` and "
                    + "`owasp`.",
                keys: [
                    ("id", "The attack; `control` for the right server"),
                    ("expected", "`refused`, `accepted` or `ended`"),
                    ("outcome", "`accepted`, `blocked`, `ended`, `let-through`, `held`, `inconclusive` or `not-run`"),
                    ("requestBytes", "The number of bytes that the server got and decrypted"),
                    ("milliseconds", "The time that the client took; absent with `--serve`"),
                    ("clientExit", "The client's exit code, or 128 plus the signal that ended it"),
                    ("reference", "The standard and section"),
                    ("summary", "The behaviour of the server"),
                    ("alert", "The last fatal alert of the client"),
                    ("remark", "The reason why there is no verdict, or why the attack was not run"),
                    ("group", "The group, as in `--group`; absent for the control"),
                    ("cwe", "The ids of weaknesses in CWE 4.9"),
                    ("owasp", "The ids of OWASP's MASVS, MASWE and MASTG"),
                    ("isAsItMustBe", "True for the expected outcome, and for an attack that was not run"),
                ])
        ],
        articles: [.rehearsing, .testingOnADevice],
        run: { invocation throws(ToolError) in try RehearseCommand(invocation).run() }
    )
}

extension OptionSpecification {
    static let only = OptionSpecification(
        name: "only", value: .text("ID,..."), mayRepeat: true, help: "Only these attacks; may be repeated")
    static let group = OptionSpecification(
        name: "group", value: .text("NAME,..."), mayRepeat: true,
        help: "Only these groups, and the attacks of `--only`: path, pins, names, transport, redirect, hold")
    fileprivate static let list = OptionSpecification(name: "list", help: "List the attacks, and run nothing")
    fileprivate static let timeout = OptionSpecification(
        name: "timeout", value: .text("SECONDS"), help: "End the client after this time, at each server",
        defaultText: "5")
    static let rehearsalJUnit = OptionSpecification(
        name: "junit", value: .file("FILE"), help: "Write the results as JUnit XML, for continuous integration")
    static let rehearsalPage = OptionSpecification(
        name: "html", value: .file("FILE"), help: "Write a page about the results")
    static let rehearsalSARIF = OptionSpecification(
        name: "sarif", value: .file("FILE"), help: "Write the findings as SARIF 2.1.0, for code scanning")
    fileprivate static let serve = OptionSpecification(
        name: "serve", help: "Keep all servers up for clients elsewhere, such as a phone, until Ctrl-C")
    fileprivate static let listen = OptionSpecification(
        name: "listen", value: .text("ADDRESS"),
        help: "With `--serve`: the address of this machine to listen at, which other machines may reach",
        defaultText: "127.0.0.1")
    fileprivate static let servedHost = OptionSpecification(
        name: "host", value: .text("NAME"),
        help: "With `--serve`: the name that clients use, if it leads to that address",
        defaultText: "localhost, or the address")
}

/// `pintle rehearse -- CLIENT...`
struct RehearseCommand {
    private let invocation: Invocation

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        if arguments.has(.list) {
            guard arguments.positionals.isEmpty else {
                throw .usage("--list runs nothing: leave the client out", of: .rehearse)
            }
            let catalogue = try Self.catalogue()
            AttackList(catalogue, try AttackChoice(arguments).attacks(of: catalogue)).write(
                to: console, asJSON: invocation.writesJSON)
            return .fine
        }
        try guardFiles()
        if arguments.has(.serve) { return try serve() }
        for option in [OptionSpecification.listen, .servedHost] where arguments.has(option) {
            throw .usage("--\(option.name) goes with --serve", of: .rehearse)
        }
        let timeout = try Self.timeout(arguments)
        guard !arguments.positionals.isEmpty else {
            throw .usage(
                "CLIENT is missing: pintle rehearse -- CLIENT {url}", of: .rehearse, code: "missing-argument")
        }
        let client = try ClientCommand(arguments.positionals)
        let catalogue = try Self.catalogue()
        let attacks = try AttackChoice(arguments).attacks(of: catalogue)
        return try RehearsalRun(
            invocation, catalogue: catalogue, attacks: attacks, client: client, timeout: timeout
        ).run()
    }

    private func serve() throws(ToolError) -> ExitCode {
        guard arguments.positionals.isEmpty, !arguments.has(.timeout) else {
            throw .usage("--serve runs no client: leave it and --timeout out", of: .rehearse)
        }
        let address = try arguments.value(of: .listen).map { text throws(ToolError) in
            guard let name = try? ServerName(text), let address = name.ipAddress?.description,
                name.ipAddress?.isMappedIPv4 == false, !["0.0.0.0", "::", "255.255.255.255"].contains(address)
            else { throw .usage("--listen takes one address of this machine, such as 192.0.2.7", of: .rehearse) }
            return address
        }
        let standard = address.flatMap { $0 == "127.0.0.1" ? nil : $0 } ?? "localhost"
        let host = try arguments.value(of: .servedHost).map { text throws(ToolError) in
            guard let name = try? ServerName(text) else {
                throw .usage("--host takes a name or an address alone, such as app.example.com", of: .rehearse)
            }
            return name.description
        }
        let bound = address ?? "127.0.0.1"
        let name = host ?? standard
        let catalogue = try Self.catalogue(host: name, otherHost: name == bound ? nil : bound)
        return try RehearsalServe(
            invocation, catalogue: catalogue, attacks: try AttackChoice(arguments).attacks(of: catalogue),
            address: address
        ).run()
    }

    private static func catalogue(
        host: String = "localhost", otherHost: String? = "127.0.0.1"
    ) throws(ToolError) -> AttackCatalogue {
        do {
            return try AttackCatalogue(host: host, otherHost: otherHost)
        } catch {
            throw .unusable("no-certificates", "the certificates of the attacks cannot be made: \(error)")
        }
    }

    private static func timeout(_ arguments: ParsedArguments) throws(ToolError) -> Double {
        guard let text = arguments.value(of: .timeout) else { return 5 }
        guard let seconds = Double(text), seconds > 0, seconds <= 3_600 else {
            throw .usage("--timeout takes seconds, more than 0 and at most 3600", of: .rehearse)
        }
        return seconds
    }

    private func guardFiles() throws(ToolError) {
        let options = [OptionSpecification.rehearsalJUnit, .rehearsalPage, .rehearsalSARIF]
        var earlier: [(option: String, path: String)] = []
        for option in options {
            guard let path = arguments.value(of: option) else { continue }
            // Check this before the run, which can take minutes.
            try OutputFile.checkFolder(of: path)
            if let other = earlier.first(where: { Self.isSameFile($0.path, path) }) {
                throw .usage("--\(option.name) \(path) would replace the file of --\(other.option)", of: .rehearse)
            }
            earlier.append((option.name, path))
        }
    }

    private static func isSameFile(_ path: String, _ other: String) -> Bool {
        path == other || FileIdentity(path).map { $0 == FileIdentity(other) } ?? false
    }
}
