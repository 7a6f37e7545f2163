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
            inconclusive. The right server comes first: if a client refuses it, its other answers prove nothing.
            """,
            """
            In the client's words these are replaced: `{url}` (https://localhost:PORT/), `{host}` and `{port}`. `{ca}` \
            is a file of the two roots to trust, PEM. `{pin}` and `{backup}` are the server's pins as curl writes them \
            (sha256//...); `{pins}` is both with a semicolon between. `{issuer}` is the pin of the authority that issues. \
            `{pin-base64}`, `{backup-base64}` and `{issuer-base64}` are the bare hashes. `{other-host}` is another host with a pin of \
            its own, `{other-pin}` or `{other-pin-base64}`. `{policy}` is a policy file with \
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
            .only, .list, .timeout, .httpVersions, .rehearsalJUnit, .rehearsalPage, .serve, .listen, .servedHost,
        ],
        environment: [("TMPDIR", "The folder for the files of `{ca}` and `{policy}` while the client runs")],
        exitCodes: [
            (.fine, "everything ended as it must"),
            (
                .rejected,
                "something was let through, a server that must be accepted was blocked, or a server has no verdict"
            ),
            (.unusable, "it proves nothing: the client cannot be run, or refuses the right server too"),
        ],
        sections: [
            .json(
                "A list of these objects, the right server first. Attacks that cannot be run have only `id`, `outcome` and "
                    + "`remark`. With `--list` an object has `id`, `expected`, `reference`, `summary` and `why`.",
                keys: [
                    ("id", "The attack; `control` for the right server"),
                    ("expected", "`refused` or `accepted`"),
                    ("outcome", "`accepted`, `blocked`, `let-through`, `inconclusive` or `not-run`"),
                    ("requestBytes", "The number of bytes that the server got and decrypted"),
                    ("milliseconds", "The time that the client took; absent with `--serve`"),
                    ("clientExit", "The client's exit code, or 128 plus the signal that ended it"),
                    ("reference", "The standard and section"),
                    ("summary", "The behaviour of the server"),
                    ("protocol", "The protocol that ALPN selected: `h2` or `http/1.1`; absent without ALPN"),
                    ("alert", "The last fatal alert of the client"),
                    ("remark", "The reason why there is no verdict, or why the attack was not run"),
                    ("isAsItMustBe", "True for the expected outcome, and for an attack that was not run"),
                ])
        ],
        articles: [.rehearsing, .testingOnADevice],
        run: { invocation throws(ToolError) in try RehearseCommand(invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let only = OptionSpecification(
        name: "only", value: .text("ID,..."), mayRepeat: true, help: "Only these attacks; may be repeated")
    fileprivate static let list = OptionSpecification(name: "list", help: "List the attacks, and run nothing")
    fileprivate static let timeout = OptionSpecification(
        name: "timeout", value: .text("SECONDS"), help: "End the client after this time, at each server",
        defaultText: "5")
    fileprivate static let httpVersions = OptionSpecification(
        name: "http", value: .choice("VERSION", OfferedProtocols.allCases.map(\.rawValue)),
        help: "The versions of HTTP that the servers offer", defaultText: "both")
    static let rehearsalJUnit = OptionSpecification(
        name: "junit", value: .file("FILE"), help: "Write the results as JUnit XML, for continuous integration")
    static let rehearsalPage = OptionSpecification(
        name: "html", value: .file("FILE"), help: "Write a page about the results")
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
            AttackList(try Self.catalogue()).write(to: console, asJSON: invocation.writesJSON)
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
        let catalogue = try Self.catalogue().offering(offeredProtocols)
        let attacks = try chosen(from: catalogue)
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
            .offering(offeredProtocols)
        return try RehearsalServe(
            invocation, catalogue: catalogue, attacks: try chosen(from: catalogue), address: address
        ).run()
    }

    /// The versions of HTTP of `--http`.
    private var offeredProtocols: OfferedProtocols {
        arguments.value(of: .httpVersions).flatMap(OfferedProtocols.init(rawValue:)) ?? .both
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

    /// Returns the attacks of `--only`, or all attacks without it.
    private func chosen(from catalogue: AttackCatalogue) throws(ToolError) -> [Attack] {
        guard arguments.has(.only) else { return catalogue.attacks }
        var ids: Set<String> = []
        for text in arguments.values(of: .only) {
            for word in text.split(separator: ",") {
                let id = String(word.filter { $0 != " " })
                guard id == catalogue.control.id || catalogue[id] != nil else {
                    let nearest = Spelling.nearest(to: id, among: catalogue.attacks.map(\.id))
                    let meant = nearest.map { "; did you mean \($0)?" } ?? ""
                    throw .unusable(
                        "unknown-attack", "no attack is called \"\(id)\"\(meant)", hint: "see 'pintle rehearse --list'")
                }
                ids.insert(id)
            }
        }
        guard !ids.isEmpty else { throw .usage("--only names no attack", of: .rehearse) }
        return catalogue.attacks.filter { ids.contains($0.id) }
    }

    private static func timeout(_ arguments: ParsedArguments) throws(ToolError) -> Double {
        guard let text = arguments.value(of: .timeout) else { return 5 }
        guard let seconds = Double(text), seconds > 0, seconds <= 3_600 else {
            throw .usage("--timeout takes seconds, more than 0 and at most 3600", of: .rehearse)
        }
        return seconds
    }

    private func guardFiles() throws(ToolError) {
        let (junit, html) = (arguments.value(of: .rehearsalJUnit), arguments.value(of: .rehearsalPage))
        // Check this before the run, which can take minutes.
        for path in [junit, html].compactMap(\.self) { try OutputFile.checkFolder(of: path) }
        guard let junit, let html else { return }
        let isOne = junit == html || FileIdentity(junit).map { $0 == FileIdentity(html) } ?? false
        guard !isOne else { throw .usage("--html \(html) would replace the file of --junit", of: .rehearse) }
    }
}

/// The catalogue of attacks, as text for people and as JSON for scripts.
struct AttackList {
    private let catalogue: AttackCatalogue

    init(_ catalogue: AttackCatalogue) {
        self.catalogue = catalogue
    }

    func write(to console: Console, asJSON: Bool) {
        if asJSON { console.print(document) } else { for line in lines(console.width) { console.print(line) } }
    }

    private func lines(_ width: Int) -> [String] {
        var lines: [String] = []
        for attack in [catalogue.control] + catalogue.attacks {
            lines.append(
                TextLayout.padded(attack.id, to: 30) + "must be \(attack.expectation.rawValue)   \(attack.reference)")
            lines += TextLayout.wrapped("\(attack.summary): \(attack.stake)", width: width - 4).map { "    " + $0 }
        }
        for omission in AttackCatalogue.omissions {
            lines.append(TextLayout.padded(omission.id, to: 37) + "never run here")
            lines.append("    \(omission.reason)")
        }
        return lines
    }

    /// An array of `{id, expected, reference, summary, why}`.
    private var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for attack in [catalogue.control] + catalogue.attacks {
                json.object { json in
                    json.member("id", attack.id)
                    json.member("expected", attack.expectation.rawValue)
                    json.member("reference", attack.reference)
                    json.member("summary", attack.summary)
                    json.member("why", attack.stake)
                }
            }
        }
        return json
    }
}
