internal import Pintle
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintleSystem

/// One audit, from the first server to the summary.
final class AuditRun {
    private let invocation: Invocation
    private let request: AuditRequest
    private var text: AuditText
    private var results: AuditResults?
    private var tally = AuditTally()
    private let start = ContinuousClock.now

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }
    private var requiresHybrid: Bool { arguments[.require] == .hybrid }

    init(_ invocation: Invocation, _ request: AuditRequest) {
        self.invocation = invocation
        self.request = request
        text = AuditText(invocation, showsWarnings: true)
    }

    func run() throws(ToolError) -> ExitCode {
        guard !requiresHybrid || TLSClient.offersHybridGroup else {
            throw .unusable(
                "no-hybrid-group", "\(AuditText.library) offers no hybrid group, so no server can negotiate one",
                hint: "OpenSSL 3.5 and later offer X25519MLKEM768, unless openssl.cnf sets other groups")
        }
        let anchors = try arguments[.anchors].map { path throws(ToolError) in
            try invocation.certificates(in: path)
        }
        let basis = AuditBasis(policy: request.policyFile?.bytes, anchors: anchors)
        let survey = try survey(basis, anchors)
        if let path = arguments[.results] {
            results = try AuditResults(path, resumes: arguments.has(.resume), basis: basis)
        }
        let known = results?.known ?? []
        // Results of servers that are no longer on the list do not count.
        let wanted = known.isEmpty ? nil : request.targets.keys
        if let results, let wanted {
            try AuditSelection(of: [results.path], wanted: wanted).read { record throws(ToolError) in
                tally.add(record)
                text.add(record)
            }
        }
        let before = tally.servers
        warnOfUnmetRules()
        var left = request.targets.count
        if !known.isEmpty {
            var rest = request.targets.remaining(after: known)
            left = 0
            while rest.next() != nil { left += 1 }
            let others = known.count - before
            console.printMessage(
                "\(ValidityText.counted(before, "result")) from before; \(ValidityText.counted(left, "server")) left to ask"
                    + (others > 0 ? "; results of \(ValidityText.counted(others, "other server")) do not count" : ""))
        }

        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let progress = AuditProgress(
            console, environment: invocation.environment, total: before + left, before: before)
        defer { progress.erase() }
        var isLate = false
        let isDone = try survey.run(request.targets.remaining(after: known)) { (line) throws(ToolError) in
            try self.addResult(line, progress)
        } goesOn: {
            progress.draw(tally)
            isLate = arguments[.timeLimit].map { start.duration(to: .now) >= .seconds($0) } ?? false
            // The process that reads standard output may have exited.
            return !isLate && !Interrupts.areAsking && !console.outputFailed
        }
        progress.erase()
        try results?.finish()
        // The time may be up when the last result comes.
        let notAsked = isDone ? 0 : left - (tally.servers - before)
        if let results, arguments.has(.auditPage) || arguments.has(.metrics) {
            let selection = try AuditSelection(of: [results.path], wanted: wanted)
            if let path = arguments[.auditPage] {
                try AuditReport(results: selection, now: invocation.now, requiresHybrid: requiresHybrid)
                    .write(to: path)
            }
            // Metrics of a part would end the alerts about the other servers.
            if notAsked == 0, let path = arguments[.metrics] {
                try AuditMetrics.write(selection, to: path, now: invocation.now)
            }
        }
        conclude(notAsked: notAsked)
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
        let code = tally.exitCode(isStrict: isStrict, requiresHybrid: requiresHybrid)
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

    private func survey(_ basis: AuditBasis, _ anchors: [Certificate]?) throws(ToolError) -> AuditSurvey {
        let policy: PinningPolicy
        if let given = request.policy { policy = given } else { policy = try .withoutRules() }
        let proxies: ProxyEnvironment
        do {
            proxies = try ProxyEnvironment(invocation.environment)
        } catch {
            throw ToolError(error)
        }
        return AuditSurvey(
            policy: policy, hasPolicyFile: request.policyFile != nil,
            lint: LiveLint(
                policy, of: request.policyFile?.bytes ?? [],
                authorities: PublicAuthorities(environment: invocation.environment),
                families: try FamilyFile.read(invocation).families, now: invocation.now),
            writer: AuditRecordWriter(basis: basis),
            validator: anchors.map { PathValidator(system: SystemAnchors(replacedBy: $0)) } ?? PathValidator(),
            proxies: proxies,
            timeouts: LiveHandshake.timeouts(arguments), parallel: request.parallel,
            start: invocation.now)
    }

    private func addResult(_ line: [UInt8], _ progress: AuditProgress) throws(ToolError) {
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
        } else if let line = text.add(record), console.showsMessagesToPerson {
            progress.erase()
            console.printMessage(line)
        }
    }

    private func conclude(notAsked: Int) {
        if invocation.writesJSON {
            if results == nil {
                console.printMessage(tally.sentence)
            } else {
                console.print(Self.document(tally, notAsked: notAsked, unmetRules: request.targets.unmetRules))
            }
            return
        }
        text.print(tally, offersHybrid: TLSClient.offersHybridGroup)
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

/// The progress line of an audit on a terminal. It appears after half a second, is redrawn at most ten times a second,
/// and is erased before other output.
final class AuditProgress {
    private let console: Console
    private let total: Int
    private let before: Int
    private let begin = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant
    private let isWanted: Bool
    private var isShown = false

    /// - Parameters:
    ///   - total: servers in all.
    ///   - before: the number of servers that an earlier run asked.
    init(_ console: Console, environment: [String: String], total: Int, before: Int) {
        self.console = console
        self.total = total
        self.before = before
        lastDrawn = begin
        isWanted = console.showsMessagesToPerson && environment["TERM"] != "dumb" && total > 0
    }

    func draw(_ tally: AuditTally) {
        let now = ContinuousClock.now
        guard isWanted, begin.duration(to: now) >= .milliseconds(500),
            lastDrawn.duration(to: now) >= .milliseconds(100)
        else { return }
        lastDrawn = now
        isShown = true
        console.prompt("\r\u{1B}[K" + Self.line(tally, total: total, before: before, after: begin.duration(to: now)))
    }

    /// Clears the line, so that the next line begins at its left.
    func erase() {
        guard isShown else { return }
        isShown = false
        console.prompt("\r\u{1B}[K")
    }

    /// `[#########...........]  912/2000   3 rejected, 12 not reached   41 a second, 26 s left`
    static func line(_ tally: AuditTally, total: Int, before: Int, after duration: Duration) -> String {
        let done = min(tally.servers, total)
        let width = 20
        let filled = total > 0 ? done * width / total : width
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        var line = "[\(bar)]  \(done)/\(total)   \(tally.rejected) rejected, \(tally.unreached) not reached"
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let asked = tally.servers - before
        if asked > 0, seconds > 0 {
            let rate = Double(asked) / seconds
            let left = Double(total - done) / rate
            line += "   \(Int(rate.rounded())) a second, \(Int(min(left, 1e6).rounded(.up))) s left"
        }
        return line
    }
}
