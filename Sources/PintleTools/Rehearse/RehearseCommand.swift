internal import Pintle
internal import PintleAttacks
internal import PintleConsole
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
                line: "pintle rehearse --proxy --host api.example.com -- ./client --ca {ca}",
                purpose: "an app with a fixed host name, through a proxy that answers for it"),
            Example(
                line: "pintle rehearse --host api.example.com --resolve-by hosts -- ./client {url} {ca}",
                purpose: "the app's name at a port of this machine, without a proxy"),
            Example(
                line: "pintle rehearse --proxy --survey -- ./client --ca {ca}",
                purpose: "every host that the client asks for: is the connection pinned?"),
            Example(
                line: "pintle rehearse --serve --listen 192.0.2.7 --html report.html",
                purpose: "the servers for a phone in the same network, until Ctrl-C"),
        ],
        overview: [
            """
            Starts a TLS server on loopback for each attack, with new certificates, and runs the client once against \
            each. Judges by the bytes that the server got and by the end of the client: accepted, blocked, LET \
            THROUGH, inconclusive. Attacks of the group `hold` stall or overload the client. Some of them ask only \
            that it ends by itself: ended, or HELD. The right server comes first: if a client does not accept it, its \
            other answers prove nothing.
            """,
            """
            In the client's arguments these are replaced: `{url}` (https://localhost:PORT/), `{host}` and `{port}`. \
            `{ca}` is a PEM file with two roots that the client must trust: the right server's and the interceptor's, \
            as on a device with a company's root. `{pin}` and `{backup}` are the server's pins as curl writes them \
            (sha256//...); `{pins}` is both with a semicolon between. `{issuer}` is the pin of the authority that \
            issues. `{pin-base64}`, `{backup-base64}` and `{issuer-base64}` are the bare hashes. `{other-host}` is \
            another host with a pin of its own, `{other-pin}` or `{other-pin-base64}`. `{policy}` is a policy file \
            with anchors and pins. `{identity}` is a PEM file with a client certificate, its issuer and its key. \
            With it, the right servers and one interceptor ask for that certificate. No shell reads the arguments. \
            The client runs without input, and without proxy variables but those of `--proxy`. When its time is up, it \
            is killed together with the processes of its group.
            """,
            """
            With `--proxy` the client keeps its own URLs. An HTTP and SOCKS5 proxy answers for each `--host` with the \
            servers of the attacks, and for other hosts with 403; it never forwards. The client finds the proxy in \
            `{proxy}` (http://127.0.0.1:PORT), `{proxy-port}`, and in HTTPS_PROXY, https_proxy and ALL_PROXY. With \
            several hosts, one is attacked while the others have the right server. The roots live 24 hours and are \
            constrained to these hosts.
            """,
            """
            With `--proxy --survey` the proxy answers for every host as two interceptors, one below an authority that \
            the client is told to trust (`{ca}`), one below an unknown authority. The client is run until each host \
            has met each authority twice, and the report says which connections are unpinned. With `--host` it meets \
            the right servers first; then it is known to trust `{ca}`, and pins are told from missing trust. Hosts get \
            the files of `--answers`, or else 200 with `{}` where JSON is accepted, or else 503.
            """,
            """
            Nothing leaves this machine, unless `--listen` names an address that other machines reach.
            """,
        ],
        arguments: [
            Argument(
                name: "CLIENT",
                help: "The client and its arguments, with `{url}` or `{port}` in them unless there is a proxy",
                isOptional: true,
                mayRepeat: true, followsOptions: true)
        ],
        ownOptions: [
            .only, .group, .list, .timeout, .httpVersions, .parallelAttacks, .proxy, .rehearsedHost, .resolveBy,
            .rehearsalJUnit,
            .rehearsalPage, .rehearsalSARIF, .evidence, .evidenceContent, .serve, .listen, .survey, .answers,
            .surveyPolicy, .expectedAnswers, .recordAnswers, .strictAnswers, .surveyRules, .surveyedPeer, .verbose,
        ],
        rules: [.belongs(.listen, to: .serve, .proxy), .belongs(.evidenceContent, to: .evidence)] + SurveyOptions.rules,
        environment: [
            ("TMPDIR", "The folder for the files of `{ca}`, `{identity}` and `{policy}` while the client runs")
        ],
        exitCodes: [
            (.fine, "everything ended as it must"),
            (
                .rejected,
                "something was let through or held the client, a server that must be accepted was blocked, or a server "
                    + "has no verdict; with `--survey`, a finding about a host: `isFinding` in JSON"
            ),
            (
                .unusable,
                "it proves nothing: the client cannot be run, does not accept the right server, or does not use the "
                    + "proxy"
            ),
        ],
        sections: [
            .json(
                "A list of these objects, the right server first. Attacks that cannot be run have only `id`, `outcome` "
                    + "and `remark`. With `--list` an object has \(Scenario.facts.codes()).",
                keys: Outcome.facts.rows() + [
                    ("notChosen", "In the first object: the attacks that `--only` and `--group` leave out")
                ]),
            SurveyOptions.json,
        ],
        articles: [.rehearsing, .unpinned, .testingOnADevice],
        run: { invocation throws(ToolError) in try RehearseCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    static let only = Option(repeated: "only", .text("ID,..."), help: "Only these attacks; may be repeated")
    static let group = Option(
        repeated: "group", .text("NAME,...", suggestions: Scenario.Group.allCases.map(\.rawValue)),
        help: "Only these groups, and the attacks of `--only`: path, pins, names, transport, redirect, hold")
    static let list = OptionSpecification("list", help: "List the attacks, and run nothing")
    static let timeout = Option(
        "timeout", .seconds("SECONDS", atMost: 3_600).taking("seconds, more than 0 and at most 3600"),
        defaultText: "5, or more for a slow client",
        help: "Kill the client and the processes of its group after this time, at each server")
    static let parallelAttacks = Option(
        "parallel", .number("NUMBER", in: 1...64).taking("a number from 1 to 64"), default: 4,
        help: "Run this many attacks at a time, at most 64")
    static let proxy = OptionSpecification(
        "proxy", help: "Answer for each `--host` as a proxy, so that the client keeps its own URLs")
    static let rehearsedHost = Option(
        repeated: "host", .text("NAME[:PORT]"), defaultText: "localhost, or the address of `--listen`",
        help: "The host in the client's URLs; with `--proxy` several, on port 443 by default")
    static let resolveBy = Option(
        "resolve-by", .choice("MEANS", ResolveMeans.allCases).taking("client or hosts"), default: .client,
        help: "With `--host`: `client` if the client finds 127.0.0.1 by its own means, `hosts` to run it with its own "
            + "/etc/hosts, which needs root or user namespaces")
    static let httpVersions = Option(
        "http", .choice("VERSION", OfferedProtocols.allCases), default: .both,
        help: "The versions of HTTP that the servers offer")
    static let rehearsalJUnit = Option(
        "junit", .output("FILE"), help: "Write the results as JUnit XML, for continuous integration")
    static let rehearsalPage = Option("html", .output("FILE"), help: "Write a page about the results")
    static let rehearsalSARIF = Option(
        "sarif", .output("FILE"), help: "Write the findings as SARIF 2.1.0, for code scanning")
    static let evidence = Option(
        "evidence", .output("DIR"),
        help:
            "Write the certificates, alerts and requests of each attack into a new or empty folder, which gets mode "
            + "0700; the requests' content, queries and most header values are replaced by length and SHA-256")
    static let evidenceContent = OptionSpecification(
        "evidence-content",
        help: "With `--evidence`: write requests with their content as they came, with passwords and cookies")
    static let serve = OptionSpecification(
        "serve", help: "Keep all servers up for clients elsewhere, such as a phone, until Ctrl-C")
    static let listen = Option(
        "listen", .text("ADDRESS[:PORT]"), defaultText: "127.0.0.1",
        help:
            "With `--serve` or `--proxy`: the address of this machine to listen at, which other machines may reach; "
            + "only a proxy has a port")
}

/// The means by which a client finds the servers of a named host.
enum ResolveMeans: String, CaseIterable {
    /// Its own.
    case client
    /// An /etc/hosts that only the client sees.
    case hosts
}

/// `pintle rehearse -- CLIENT...`
struct RehearseCommand {
    let invocation: Invocation

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    func run() throws(ToolError) -> ExitCode {
        if arguments.has(.list) {
            guard arguments.positionals.isEmpty else {
                throw .usage("--list runs nothing: leave the client out", of: .rehearse)
            }
            ScenarioList(try host("localhost", secondHost: "127.0.0.1")).write(
                to: console, asJSON: invocation.writesJSON)
            return .fine
        }
        try guardFiles()
        if arguments.has(.survey) { return try survey() }
        let request = try RehearsalRequest(arguments)
        if arguments.has(.serve) { return try serve(request) }
        guard !arguments.positionals.isEmpty else {
            throw .usage(
                "CLIENT is missing: pintle rehearse -- CLIENT {url}", of: .rehearse, code: "missing-argument")
        }
        var client = Client(arguments.positionals)
        // A client that does not connect to the server would count as blocked and prove nothing.
        guard request.proxyAddress != nil || client.isToldServer else {
            throw .unusable(
                "no-placeholder", "the client is not told where the server is",
                hint: "put {url}, or {host} and {port}, where it takes an address: pintle rehearse -- curl {url}")
        }
        if request.resolvesByHosts { client = client.withOwnHosts }
        let (hosts, authorities) = try self.hosts(request)
        warnOfAddress(request.proxyAddress)
        return try ClientRehearsal(
            invocation, hosts: hosts, client: client, request: request,
            roots: request.proxyAddress?.isReachable == true ? authorities.names : []
        ).run()
    }

    private func survey() throws(ToolError) -> ExitCode {
        let serves = arguments.has(.serve)
        guard serves == arguments.positionals.isEmpty else {
            throw .usage(
                serves
                    ? "--serve runs no client: leave it out"
                    : "CLIENT is missing: pintle rehearse --proxy --survey -- CLIENT",
                of: .rehearse, code: "missing-argument")
        }
        guard arguments.has(.rehearsedHost) else { return try SurveyCommand(invocation, hosts: []).run() }
        guard !serves else {
            throw .usage("--host goes with CLIENT, which meets its right server first", of: .rehearse)
        }
        let (hosts, _) = try hosts(RehearsalRequest(arguments))
        return try SurveyCommand(invocation, hosts: hosts).run()
    }

    private func serve(_ request: RehearsalRequest) throws(ToolError) -> ExitCode {
        guard arguments.positionals.isEmpty, request.timeout == nil, !arguments.has(.parallelAttacks) else {
            throw .usage("--serve runs no client: leave it, --timeout and --parallel out", of: .rehearse)
        }
        guard request.evidence == nil else { throw .usage("--evidence goes with CLIENT", of: .rehearse) }
        if let address = request.proxyAddress {
            let (hosts, authorities) = try self.hosts(request)
            warnOfAddress(address)
            return try DeviceRehearsal(invocation, hosts: hosts)
                .serve(throughProxyAt: address, roots: authorities.names)
        }
        let address = request.listenLiteral
        let standard = address.flatMap { $0 == "127.0.0.1" ? nil : $0 } ?? "localhost"
        let bound = address ?? "127.0.0.1"
        let name = request.hosts.first?.host.description ?? standard
        let host = try host(name, secondHost: name == bound ? nil : bound)
        return try DeviceRehearsal(invocation, hosts: [host]).serve(at: address)
    }

    /// Returns the hosts with their attacks, and the authorities that all hosts share.
    private func hosts(_ request: RehearsalRequest) throws(ToolError) -> ([AttackedHost], Authorities) {
        let names = request.hosts.map(\.host.description)
        var authorities: Authorities
        do throws(MintingError) {
            authorities = request.proxyAddress == nil ? try Authorities() : try Authorities(constrainedTo: names)
            if Client(arguments.positionals).isTold.identity { try authorities.mintClient() }
        } catch {
            throw unminted(error)
        }
        guard request.proxyAddress != nil else {
            let name = names.first ?? "localhost"
            let other = request.resolvesByHosts ? Client.secondHost : "127.0.0.1"
            return ([try host(name, secondHost: name == other ? nil : other, authorities)], authorities)
        }
        var hosts: [AttackedHost] = []
        for (number, endpoint) in request.hosts.enumerated() {
            hosts.append(
                try host(
                    names[number], secondHost: authorities.unpinnedName(number), authorities,
                    clientPort: endpoint.port))
        }
        return (hosts, authorities)
    }

    /// Mints the certificates of one host, and returns it with the attacks that the user has chosen.
    private func host(
        _ name: String, secondHost: String?, _ authorities: Authorities? = nil, clientPort: UInt16? = nil
    ) throws(ToolError) -> AttackedHost {
        let catalogue: Catalogue
        do {
            catalogue = try Catalogue(
                host: name, secondHost: secondHost, authorities: authorities, offering: arguments[.httpVersions])
        } catch {
            throw unminted(error)
        }
        let scenarios = try ScenarioChoice(arguments).scenarios(of: catalogue)
        return AttackedHost(catalogue: catalogue, scenarios: scenarios, clientPort: clientPort)
    }

    private func unminted(_ error: any Error) -> ToolError {
        .unusable("no-certificates", "the certificates of the attacks cannot be made: \(error)")
    }

    private func warnOfAddress(_ proxyAddress: Proxy.Address?) {
        guard let proxyAddress, proxyAddress.isReachable, let address = proxyAddress.literal else { return }
        console.warn(
            "everyone who reaches \(address) reaches this proxy; a device that trusts its authorities trusts whatever "
                + "this process signs for the named hosts: install them on devices for tests, "
                + "and remove them afterwards")
    }

    private func guardFiles() throws(ToolError) {
        if let path = arguments[.evidence] { try EvidenceFolder.check(path) }
        let expected: [Option<String?>] = [.expectedAnswers]
        let isRecording = arguments.has(.recordAnswers)
        let inputs = arguments.files(of: .surveyPolicy) + (isRecording ? [] : arguments.files(of: .expectedAnswers))
        var guarded = GuardedFiles(inputs, of: .rehearse)
        let outputs: [Option<String?>] = [.rehearsalJUnit, .rehearsalPage, .rehearsalSARIF]
        for option in outputs + (isRecording ? expected : []) {
            guard let path = arguments[option] else { continue }
            // Check this before the run, which can take minutes.
            try OutputFile.checkFolder(of: path)
            try guarded.reserve(path, for: option, calling: "the file of --\(option.name)")
        }
    }
}
