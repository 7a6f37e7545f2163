internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient
internal import PintleText

/// One audit, from the first server to the summary.
final class AuditRun {
    private let invocation: Invocation
    private let request: AuditRequest
    private var rows: AuditRows
    private var results: AuditResults?
    private var tally: AuditTally
    private let start = ContinuousClock.now

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    init(_ invocation: Invocation, _ request: AuditRequest) {
        self.invocation = invocation
        self.request = request
        rows = AuditRows(invocation, showsWarnings: true)
        tally = AuditTally(now: invocation.now, requiresHybrid: invocation.arguments[.require] == .hybrid)
    }

    func run() throws(ToolError) -> ExitCode {
        guard !tally.requiresHybrid || TLSClient.offersHybridGroup else {
            throw .unusable(
                "no-hybrid-group", "\(AuditReport.library) offers no hybrid group, so no server can negotiate one",
                hint: "OpenSSL 3.5 and later offer X25519MLKEM768, unless openssl.cnf sets other groups")
        }
        let anchors = try arguments[.anchors].map { path throws(ToolError) in
            try invocation.certificates(in: path)
        }
        let basis = AuditBasis(policy: request.policyFile?.bytes, anchors: anchors)
        let handshakes = try handshakes(basis, anchors)
        if let path = arguments[.results] {
            results = try AuditResults(path, resumes: arguments.has(.resume), basis: basis)
        }
        let known = results?.known ?? []
        // Results of servers that are no longer on the list do not count.
        let wanted = known.isEmpty ? nil : request.targets.keys
        if let results, let wanted {
            try AuditSelection(of: [results.path], wanted: wanted).read { record throws(ToolError) in
                tally.add(record)
                rows.add(record)
            }
        }
        let before = tally.servers
        warnOfUnmetRules()
        let rest = request.targets.remaining(after: known)
        let left = rest.count
        if !known.isEmpty {
            let others = known.count - before
            console.printMessage(
                "\(ValidityText.counted(before, "result")) from before; "
                    + "\(ValidityText.counted(left, "server")) left to ask"
                    + (others > 0 ? "; results of \(ValidityText.counted(others, "other server")) do not count" : ""))
        }

        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let progress = ProgressLine(console, environment: invocation.environment)
        defer { progress.erase() }
        var isLate = false
        let isDone = try handshakes.run(rest) { (line) throws(ToolError) in
            try self.addResult(line, progress)
        } goesOn: {
            progress.draw { tally.progress(total: before + left, before: before, after: $0) }
            isLate = arguments[.timeLimit].map { start.duration(to: .now) >= .seconds($0) } ?? false
            // The process that reads standard output may have exited.
            return !isLate && !Interrupts.areAsking && !console.outputFailed
        }
        progress.erase()
        try results?.finish()
        // The time may be up when the last result comes.
        let notAsked = isDone ? 0 : left - (tally.servers - before)
        var report = AuditReport(rows: rows, tally: tally, now: invocation.now)
        if let results, arguments.has(.auditPage) || arguments.has(.metrics) {
            let selection = try AuditSelection(of: [results.path], wanted: wanted)
            report.results = selection
            if let path = arguments[.auditPage] {
                try ReportHTML(report.page, date: invocation.now).write(to: path)
            }
            // Metrics of a part would end the alerts about the other servers.
            if notAsked == 0, let path = arguments[.metrics] {
                try AuditMetrics.write(
                    selection, to: path, now: invocation.now, requiresHybrid: tally.requiresHybrid)
            }
        }
        conclude(report, notAsked: notAsked)
        guard notAsked == 0 else {
            console.warn(
                "not asked: \(ValidityText.counted(notAsked, "server")); " + (isLate ? "the time is up" : "interrupted")
            )
            if let path = arguments[.metrics] { console.warn("\(SafeText.escape(path)) is left as it was") }
            if results != nil, !arguments.has(.resume) {
                console.hint("to go on: " + invocation.commandLine(adding: ["--resume"]))
            }
            return .unusable
        }
        let isStrict = arguments.has(.isStrict)
        let code = tally.exitCode(isStrict: isStrict)
        return isStrict && !request.targets.unmetRules.isEmpty ? .rejected : code
    }

    /// Warns of rules that match no server, because their host may have a typo.
    private func warnOfUnmetRules() {
        let rules = request.targets.unmetRules
        guard !rules.isEmpty else { return }
        let named = rules.prefix(Self.mostRules).joined(separator: ", ")
        let more = rules.count > Self.mostRules ? " and \(rules.count - Self.mostRules) more" : ""
        console.warn("no server of the list falls under \(ValidityText.counted(rules.count, "rule")): \(named)\(more)")
    }

    /// The number of rules that a warning names.
    private static let mostRules = 20

    private func handshakes(_ basis: AuditBasis, _ anchors: [Certificate]?) throws(ToolError) -> AuditHandshakes {
        let policy: PinningPolicy
        if let given = request.policy { policy = given } else { policy = try .withoutRules() }
        return AuditHandshakes(
            policy: policy, hasPolicyFile: request.policyFile != nil,
            lint: LiveLint(
                LintedPolicy(
                    policy: policy, json: request.policyFile?.bytes ?? [],
                    authority: invocation.libraries.publicAuthorities(invocation.environment),
                    families: try FamilyFile.read(invocation).families),
                now: invocation.now),
            basis: basis,
            validator: anchors.map { PathValidator(system: SystemAnchors(replacedBy: $0)) } ?? PathValidator(),
            proxies: try invocation.proxies(),
            configuration: LiveHandshake.configuration(arguments), parallel: request.parallel,
            start: invocation.now, identity: try invocation.identity())
    }

    private func addResult(_ line: [UInt8], _ progress: ProgressLine) throws(ToolError) {
        let record: AuditRecord
        do {
            record = try AuditRecord(Array(line.dropLast()))
        } catch {
            throw .unusable(
                "unreadable-result", "a result cannot be read back: \(error.message)", hint: "please report this")
        }
        try results?.append(line)
        tally.add(record)
        if invocation.writesJSON {
            if results == nil { console.write(line) }
        } else if let line = rows.add(record), console.showsMessagesToPerson {
            progress.erase()
            console.printMessage(Report(line))
        }
    }

    private func conclude(_ report: AuditReport, notAsked: Int) {
        if !invocation.writesJSON {
            invocation.print(report.text)
        } else if results == nil {
            console.printMessage(tally.sentence)
        } else {
            console.print(Self.document(tally, notAsked: notAsked, unmetRules: request.targets.unmetRules))
        }
    }

    /// `{servers, trusted, warnings, rejected, unreached, reasons, problems, hybrid?, keyExchangeGroups?, firstEnd?,
    /// notAsked?, unmetRules?}`
    static func document(_ tally: AuditTally, notAsked: Int = 0, unmetRules: [String] = []) -> JSONWriter {
        .document { json in
            tally.write(to: &json)
            json.member("notAsked", notAsked > 0 ? notAsked : nil)
            json.member("unmetRules", unmetRules.isEmpty ? nil : Array(unmetRules.prefix(Self.mostRules)))
        }
    }
}
