internal import Pintle
package import PintleConsole
internal import PintleText

extension Command {
    package static let pin = Command(
        name: "pin",
        summary: "Show the pins of live servers, certificates, signing requests and keys",
        examples: [
            Example(
                line: "pintle pin example.com",
                purpose: "the certificates of the server, and whether this machine trusts them"),
            Example(line: "pintle pin cert.pem", purpose: "the same from a file; nothing is validated"),
            Example(
                line: "openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out backup.key",
                purpose: "a backup key; keep it offline"),
            Example(
                line: "pintle pin example.com backup.key --as policy -o policy.json",
                purpose: "a policy with the server's key and the backup"),
            Example(
                line: "pintle pin example.com --durable",
                purpose: "every root from which the next certificate may come"),
            Example(
                line: "pintle pin --authority cloudflare --host example.com --as policy",
                purpose: "the same for all authorities of a CDN; asks no server"),
            Example(line: "pintle pin - < bundle.pem --json", purpose: "every certificate of a bundle, for a script"),
        ],
        overview: [
            """
            Prints the public-key pin (SHA-256 of the SubjectPublicKeyInfo) and the fingerprint of every source. A \
            source is a live server (host, host:port or https URL), standard input (`-`), or a file, PEM or DER. Files \
            hold certificates, bundles, certificate requests, and public or unencrypted private keys.
            """,
            """
            A source is a file if a file of that name exists or the name has a slash; otherwise it is a host. If a \
            source cannot be read, every error is printed and no pins are.
            """,
            """
            With `--durable` and `--authority` the pins are the roots of an authority family: all roots from which the \
            authority issues. The families come from a dated file in the tool, with the certificate or page that each \
            hash was taken from; `--families` replaces it by a newer one.
            """,
        ],
        arguments: [
            Argument(
                name: "SOURCE", help: "A host, host:port, https URL, file, or `-` for standard input", isOptional: true,
                mayRepeat: true)
        ],
        ownOptions: [
            .form, .snippetFile, .host, .durable, .authority, .families, .connectTo, .anchors, .connectTimeout,
            .handshakeTimeout, .verbose,
        ],
        rules: [
            .needs(.snippetFile, .form, to: "have something to write"),
            .needs(.families, .durable, .authority, to: "look up an authority"),
            .excludes(
                .authority, .durable, .connectTo, .anchors, .connectTimeout, .handshakeTimeout,
                because: "it asks no server"),
            .excludes(.durable, .host, because: "the servers are the hosts"),
        ],
        environment: EnvironmentVariables.ofServers,
        exitCodes: [
            (.fine, "pins were printed, also of a server that is not trusted"),
            (
                .rejected,
                "`--as policy` has no backup pin; the authority of a server is in no family; a root's hash is not known"
            ),
            (.unusable, "a source cannot be read, or the file at `-o` is not the tool's"),
            (.unreachable, "a server showed no certificate"),
        ],
        sections: [
            .json(
                "A list with an object for each source: `source`, and `certificates` with these keys:",
                keys: PinEntry.facts.rows()),
            ReferenceSection(
                "JSON of families",
                .paragraph(
                    """
                    With `--durable` or `--authority`: `families` (\(DurableReport.facts.codes())), `rules` and \
                    `unknown`. A rule has \(DurableRule.facts.codes()), a family \(DurableRule.family.codes()), a \
                    root \(DurableRule.Root.facts.codes()): `missing` stands in place of a hash. An `unknown` server \
                    has \(UnknownAuthority.facts.codes()).
                    """)),
            ReferenceSection(
                "Positions",
                .table(
                    "Position", "Meaning",
                    [
                        ("`leaf`", "The certificate of the server"), ("`1`, `2`, ...", "The authorities above it"),
                        ("`root`", "The end of the path"),
                        ("`extra`", "Sent, but not on the path; a note says whether a pin matches"),
                        ("`key`, `csr`", "A bare key, or a certificate request"),
                    ])),
        ],
        articles: [.choosingPins, .publicAuthorities, .exports],
        run: { invocation throws(ToolError) in try PinCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    static let form = Option(
        "as", .choice("FORM", Snippet.allCases),
        help:
            "Print something to paste instead: a policy, Swift, a format of `pintle export`, or the certificates as "
            + "PEM. Servers and certificates give pins, each for the host that it names; keys and requests give "
            + "backup pins")
    static let snippetFile = Option(
        "out", short: "o", .output("FILE", orStandardOutput: true), defaultText: "stdout",
        help:
            "Write what `--as` prints to this file, which stays as it is if a source fails. A policy, Swift or PEM "
            + "replaces any file, another form only one that the tool wrote")
    static let host = Option(
        "host", .server("HOST"), help: "The host for `--as` of keys and certificates that name none")
}

/// `pintle pin SOURCE...`
package struct PinCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        if invocation.arguments.has(.durable) || invocation.arguments.has(.authority) {
            return try DurableCommand(invocation: invocation).run()
        }
        guard !invocation.arguments.positionals.isEmpty else {
            throw .usage("SOURCE is missing", of: .pin, code: "missing-argument")
        }
        var listings: [PinListing] = []
        var errors: [ToolError] = []
        let sources = invocation.arguments.positionals
        guard sources.count(where: { $0 == "-" }) <= 1 else {
            throw .usage("- is given twice; standard input is read only once", of: .pin)
        }
        for source in sources {
            do {
                listings.append(try listing(source))
            } catch {
                errors.append(error)
            }
        }
        if let error = ToolError.joining(errors) { throw error }
        for listing in listings {
            for (index, entry) in listing.entries.enumerated() {
                guard let defect = entry.item.defect else { continue }
                invocation.console.warn("\(listing.source): item \(index + 1): \(defect)")
            }
        }
        if let form = invocation.arguments[.form] { return try printSnippet(form, listings) }
        for listing in listings {
            for problem in listing.entries.compactMap(\.problem) {
                invocation.console.warn("\(listing.source): \(problem)")
            }
        }
        if invocation.writesJSON {
            invocation.console.print(PinReport.document(listings))
        } else {
            for (index, listing) in listings.enumerated() {
                if index > 0 { invocation.console.print() }
                let report = PinReport(
                    listing: listing, now: invocation.now, anchors: invocation.arguments[.anchors],
                    serverOptions: invocation.serverOptions)
                invocation.print(report.report)
                invocation.console.printMessage(report.advice)
            }
        }
        return .fine
    }

    private func listing(_ source: String) throws(ToolError) -> PinListing {
        if Self.isFile(source) {
            var file = try invocation.file(source)
            return PinListing(
                source: source, entries: PinEntry.list(try invocation.items(in: &file)))
        }
        let endpoint: ServerEndpoint
        do {
            endpoint = try HostArgument.endpoint(source)
        } catch {
            guard !source.contains("://"), !source.isEmpty else { throw error }
            var failure = error
            failure.hint = [error.hint, "for a file write ./\(source)"].compactMap(\.self).joined(separator: "; ")
            throw failure
        }
        return try invocation.servers().pins(invocation)(endpoint, source)
    }

    /// Returns whether a source is a file. A URL is not. A name with a slash is, and so is a name that exists. A usual
    /// ending of files with certificates and keys also means a file: such endings are not top-level domains, so no
    /// resolver needs to be asked.
    package static func isFile(_ source: String) -> Bool {
        if source == "-" { return true }
        if source.contains("://") { return false }
        return source.contains("/") || InputFile.exists(source) || fileEndings.contains { source.hasSuffix($0) }
    }

    private static let fileEndings = [".pem", ".crt", ".cer", ".der", ".key", ".csr", ".p10", ".p12", ".pfx", ".json"]

    private func printSnippet(_ form: Snippet, _ listings: [PinListing]) throws(ToolError) -> ExitCode {
        if form == .pem {
            let certificates = listings.flatMap(\.entries).filter { $0.position != "extra" }.compactMap(
                \.item.certificatePEM)
            guard !certificates.isEmpty else { throw .usage("--as pem needs a server or a certificate", of: .pin) }
            let text = certificates.joined()
            try invocation.deliver(snippet: String(text.dropLast()))
            return .fine
        }
        let rules = try SnippetRule.rules(for: listings, host: invocation.arguments[.host])
        try invocation.deliver(snippet: try form.text(of: rules, invocation.libraries))
        for advice in form.advice(on: rules, invocation.libraries) { invocation.console.warn(advice) }
        if form != .policy, rules.contains(where: { !$0.anchors.isEmpty }) {
            invocation.console.warn(
                "the root of --anchors is no part of this form: --as policy writes it into the rule")
        }
        for listing in listings {
            guard let server = listing.server, let failure = server.failure else { continue }
            invocation.console.warn("\(server.endpoint): " + PinReport.obstacle(failure).joined(separator: " "))
        }
        for listing in listings where listing.isNameless {
            invocation.console.warn("\(listing.source) has no subject alternative name, so no client accepts it")
        }
        // A server or --host says which of the names is meant.
        if invocation.arguments[.host] == nil, listings.allSatisfy({ $0.server == nil }) {
            var seen: Set<String> = []
            for listing in listings where seen.insert(listing.source).inserted {
                let names = listing.names(besides: rules)
                guard !names.isEmpty else { continue }
                let source = listing.source == "-" ? "stdin" : listing.source
                let remedies = [
                    names.allSatisfy(\.isWildcard) ? nil : "--host chooses the name",
                    names.contains(where: \.isWildcard) ? "a rule with includeSubdomains covers a wildcard" : nil,
                ]
                invocation.console.warn(
                    "\(source) also names \(GeneralName.list(names)) (not pinned): "
                        + remedies.compactMap(\.self).joined(separator: "; "))
            }
        }
        return form == .policy && rules.contains(where: \.backupPins.isEmpty) ? .rejected : .fine
    }
}

extension Invocation {
    /// Writes the text of `--as` to standard output, or to the file of `-o`.
    func deliver(snippet text: String) throws(ToolError) {
        guard let path = arguments[.snippetFile] else { return console.print(text) }
        let inputs = arguments.positionals + arguments.files(of: .families, .anchors)
        try GuardedFiles.check(.snippetFile, of: arguments, reading: inputs)
        // By the remark a later run knows the file as its own. The other formats have it in their text.
        let head = arguments[.form] == .curl ? "# \(ExportRemark.text)\n" : ""
        if let form = arguments[.form], let format = ForeignFormat(rawValue: form.rawValue) {
            try format.checkPlace(path, hint: "without -o it is printed, to paste into the file; or name another file")
        }
        try write((head + text + "\n").utf8, to: path)
    }
}
