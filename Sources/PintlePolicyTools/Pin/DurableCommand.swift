internal import Pintle
internal import PintleConsole
internal import PintlePolicyLint

/// `pintle pin HOST --durable` and `pintle pin --authority NAME`
struct DurableCommand {
    let invocation: Invocation
    private var arguments: ParsedArguments { invocation.arguments }

    func run() throws(ToolError) -> ExitCode {
        let file = try FamilyFile.read(invocation)
        var servers: [ServerEndpoint] = []
        var keys: [PinListing] = []
        for source in arguments.positionals {
            guard PinCommand.isFile(source) else {
                let endpoint = try HostArgument.endpoint(source)
                if !servers.contains(endpoint) { servers.append(endpoint) }
                continue
            }
            var input = try invocation.file(source)
            let listing = PinListing(
                source: source, entries: PinEntry.list(try invocation.items(in: &input)))
            guard listing.entries.allSatisfy({ !$0.item.isCertificate }) else {
                throw .usage("\(source) holds a certificate; beside --durable only keys and requests", of: .pin)
            }
            keys.append(listing)
        }
        guard keys.isEmpty || arguments.has(.form) else {
            throw .usage("keys and requests become backup pins of a rule: add --as", of: .pin)
        }
        var rules: [DurableRule] = []
        var unknown: [UnknownAuthority] = []
        if let word = arguments[.authority] {
            guard servers.isEmpty else {
                throw .usage("--authority asks no server: leave the servers out; --host names one", of: .pin)
            }
            let authority = try file.selection(named: word, of: .pin)
            rules.append(DurableRule(endpoint: arguments[.host], authority: authority, seen: [], isNamed: true))
        } else {
            guard !servers.isEmpty else {
                throw .usage("--durable asks the servers themselves: name them", of: .pin, code: "missing-argument")
            }
            try ask(servers, file, &rules, &unknown)
        }
        try answer(rules, unknown, keys, file)
        // A pasted rule would refuse certificates from a root whose hash is not known.
        let isIncomplete = arguments.has(.form) && rules.contains { $0.families.contains { !$0.missing.isEmpty } }
        if isIncomplete {
            invocation.console.hint(
                "the rule lacks roots: add their pins from the authority's certificates (pintle pin ROOT.pem), or give "
                    + "a newer list: --families FILE")
        }
        return unknown.isEmpty && !isIncomplete ? .fine : .rejected
    }

    /// Looks for the family of each server's validated path.
    private func ask(
        _ servers: [ServerEndpoint], _ file: FamilyFile, _ rules: inout [DurableRule],
        _ unknown: inout [UnknownAuthority]
    ) throws(ToolError) {
        let pins = try invocation.servers().pins(invocation)
        var errors: [ToolError] = []
        for endpoint in servers {
            do throws(ToolError) {
                let listing = try pins(endpoint, "\(endpoint)")
                if let failure = listing.server?.failure {
                    throw .unusable(
                        TrustDecision.Reason.invalidPath.rawValue,
                        "\(endpoint): the path is not valid here (\(failure.code.rawValue)), "
                            + "so its authority is not known",
                        hint: "look at it: "
                            + Invocation.line(["pintle", "pin", "\(endpoint)"] + invocation.serverOptions))
                }
                let path = listing.entries.filter { $0.isOnPath == true }.compactMap(\.item.certificate)
                let keys = path.map(\.publicKeyPin)
                if let family = file.families.family(ofPath: keys) {
                    let seen = keys.dropFirst().filter { file.families.family(ofRoot: $0)?.id == family.id }
                    rules.append(DurableRule(endpoint: endpoint, authority: .init(family), seen: seen))
                } else if let root = path.last {
                    unknown.append(UnknownAuthority(endpoint: endpoint, root: root))
                }
            } catch {
                errors.append(error)
            }
        }
        if let error = ToolError.joining(errors) { throw error }
    }

    private func answer(
        _ rules: [DurableRule], _ unknown: [UnknownAuthority], _ keys: [PinListing], _ file: FamilyFile
    ) throws(ToolError) {
        let report = DurableReport(file: file, now: invocation.now)
        guard let form = arguments[.form] else {
            if invocation.writesJSON {
                invocation.console.print(report.document(rules, unknown))
            } else {
                print(report, rules, unknown)
            }
            return
        }
        guard form != .pem else {
            throw .usage("the file of families has hashes, not certificates; name the server alone: --as pem", of: .pin)
        }
        guard form != .curl else {
            throw .usage("curl compares only the server's own key, so it cannot pin an authority", of: .pin)
        }
        guard form != .ats || keys.isEmpty else {
            throw .usage(
                "App Transport Security would demand a backup key and a root at once: leave the keys out", of: .pin)
        }
        for listing in keys { try listing.requireStrongKeys() }
        var snippets: [SnippetRule] = []
        for rule in rules {
            guard let endpoint = rule.endpoint else {
                throw .usage("a rule needs a host: --host HOST", of: .pin, code: "missing-host")
            }
            snippets.append(rule.snippet(for: endpoint))
        }
        snippets = try RuleSorter.adding(keys, to: snippets, host: arguments[.host])
        if unknown.isEmpty {
            try invocation.deliver(snippet: try form.text(of: snippets, invocation.libraries))
            for advice in form.advice(on: snippets, invocation.libraries) { invocation.console.warn(advice) }
        }
        report.warn(rules, unknown, invocation.console)
    }

    private func print(_ report: DurableReport, _ rules: [DurableRule], _ unknown: [UnknownAuthority]) {
        let console = invocation.console
        for (index, rule) in rules.enumerated() {
            if index > 0 { console.print() }
            invocation.print(report.report(on: rule))
            for omission in report.omissions(from: rule) { console.warn(omission) }
            console.printMessage(report.advice(on: rule))
        }
        for (index, server) in unknown.enumerated() {
            if index > 0 || !rules.isEmpty { console.print() }
            invocation.print(report.report(on: server))
        }
        if report.file.families.isOld(at: report.now) { console.warn(report.file.age) }
    }
}

extension OptionSpecification {
    static let durable = OptionSpecification(
        "durable", help: "Pin every root of the server's authority, not what it shows today")
    static let authority = Option(
        "authority", .text("NAME"),
        help: "The roots of an authority, or of all authorities of a CDN; asks no server")
}
