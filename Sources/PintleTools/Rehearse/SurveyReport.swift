internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleTestKit
internal import PintleText

/// The report of a finished survey.
struct SurveyReport {
    let client: ClientPlace
    let hosts: [SurveyedHost]
    /// The number of hosts that were asked for and not surveyed, because there were too many.
    let unsurveyedCount: Int
    /// The number of requests to the proxy itself that name no host it understands.
    let unreadableCount: Int
    /// The number of runs of the client; 0 for a client that the user starts.
    let runs: Int
    /// A Boolean value that indicates whether the client was run as often as the tool runs it at most.
    let hasReachedRunLimit: Bool
    let judge: SurveyJudge
    let rootName: String
    /// A Boolean value that indicates whether a device may have been made to trust the authority: it can reach the
    /// proxy.
    let reachesDevices: Bool
    let now: Date
    let duration: Duration

    /// An unsurveyed host cannot pass a gate.
    var exitCode: ExitCode {
        let isGate = judge.policy != nil || judge.expectation != nil
        let hasFinding =
            hosts.contains { host in judge.remarks(about: host).contains(where: \.isFinding) }
            || judge.missing(in: hosts).contains(where: \.isFinding)
        return hasFinding || isGate && unsurveyedCount + unreadableCount > 0 ? .rejected : .fine
    }

    // MARK: Text and page

    /// The limit of what a proxy can see.
    private static let caveat =
        "only connections through the proxy were seen; to find stacks that ignore it: --host NAME --resolve-by hosts "
        + "for each name, or a firewall that blocks and logs the client's other connections"

    var page: ReportPage {
        func capital(_ text: String) -> Line { "\(text.prefix(1).uppercased() + text.dropFirst())." }
        var facts = [capital(Self.caveat)]
        if let line = client.line { facts.append("Client: \(line, .code)") }
        return ReportPage(
            kind: "Survey of connections", result: "\(result)", verdict: exitCode == .fine ? nil : .bad,
            facts: facts + ["\(sentence)"] + (removal.map { [capital($0)] } ?? []), isWide: true,
            report: report(files: []))
    }

    /// `2 of 6 hosts are unpinned`
    private var result: String {
        let count = hosts.count { $0.answer.isExposed }
        return "\(count) of \(ValidityText.counted(hosts.count, "host")) \(count == 1 ? "is" : "are") unpinned"
    }

    /// `6 hosts in 4 runs, 3.1 s: 2 unpinned, 3 pinned, 1 refused`
    private var sentence: String {
        let answers = SurveyedHost.Answer.allCases.compactMap { answer in
            let count = hosts.count { $0.answer == answer }
            return count > 0 ? "\(count) \(answer.word)" : nil
        }
        let time = (runs > 0 ? "\(ValidityText.counted(runs, "run")), " : "") + ValidityText.seconds(duration)
        return "\(ValidityText.counted(hosts.count, "host")) in \(time): \(answers.joined(separator: ", "))"
    }

    private var removal: String? {
        reachesDevices ? TrustMaterial.removal(of: [rootName], hours: SurveyAuthorities.hours) : nil
    }

    /// Returns the text, which is also the content of the page.
    func report(files: [String]) -> Report {
        var report = Report()
        report.prose("\(Self.caveat)", indent: 0)
        report.gap()
        report.row(Self.columns("host", "answer", "bytes"), last: "seen", .heading)
        for host in hosts {
            report.row(
                Self.columns(host.authority, "\(host.answer.word, host.answer.mark)", "\(host.requestByteCount)"),
                last: Line(words(about: host).joined(separator: "; ")), .table)
        }
        report.table(table)
        report.gap()
        report.prose("\(sentence)", indent: 0)
        report.layout = Report.FactLayout(indent: 0, labelColumns: 6)
        let steps = self.steps
        report.list("What to do", steps.map { ("\($0)", nil) }, label: "next:", isSteps: true)
        let next: Line = steps.isEmpty ? "next: " : "      "
        if !files.isEmpty { report.line(next + Line(files.joined(separator: "   "))) }
        if let removal { report.prose("\(removal)", indent: 0) }
        return report
    }

    private static func columns(_ host: String, _ answer: Line, _ bytes: String) -> Line {
        "  \(TextLayout.padded(SafeText.escape(host), to: 34)) \(answer.padded(to: 17))"
            + "\(String(repeating: " ", count: max(0, 7 - bytes.count)))\(bytes)"
    }

    /// The table of a page.
    private var table: Report.Table {
        Report.Table(
            title: "Hosts", id: "hosts",
            columns: [
                .init(title: "Host", isWhole: true), .init(title: "Answer", isWhole: true), .number("Request bytes"),
                .number("Handshakes"), .init(title: "Seen", minimum: 16),
            ], narrow: 48,
            rows: .ofPage { write throws(ToolError) in
                for host in hosts {
                    try write([
                        .init(lines: ["\(host.authority, .code)"]),
                        .init(lines: ["\(host.answer.word)"], mark: host.answer.mark),
                        .init(lines: ["\(host.requestByteCount)"]),
                        .init(lines: ["\(host.known.count + host.unknown.count)"]),
                        .init(lines: words(about: host).map { Line($0) }),
                    ])
                }
            })
    }

    /// Returns what was seen of a host, and what is wrong about it.
    func words(about host: SurveyedHost) -> [String] {
        judge.remarks(about: host).map(\.words) + host.observations
    }

    private var steps: [String] {
        var steps = judge.missing(in: hosts).map(\.words)
        if unsurveyedCount > 0 {
            steps.append(
                "\(ValidityText.counted(unsurveyedCount, "more host")) not surveyed: answered 403; "
                    + "survey parts of the app"
            )
        }
        if unreadableCount > 0 {
            steps.append(
                "\(ValidityText.counted(unreadableCount, "request")) to the proxy itself cannot be read as HTTP for a "
                    + "host: find out what sends this without TLS")
        }
        let exposed = hosts.filter { $0.answer.isExposed }
        if !exposed.isEmpty {
            let count = exposed.count == 1 ? "1 host is" : "\(exposed.count) hosts are"
            steps.append(
                "\(count) unpinned: --as policy prints rules for a pinned session; outside of it, pintle export --to "
                    + "ats and --to nsc reach what uses the system's TLS")
        }
        if hosts.contains(where: { $0.answer == .refused }) {
            steps.append(
                "refused: pinned, or the client does not trust \"\(rootName)\"; give the client {ca}, "
                    + "and see whether the answer stays"
            )
        }
        let unjudged = hosts.filter(\.isUnjudged)
        if !unjudged.isEmpty {
            let names = unjudged.prefix(5).map(\.authority) + (unjudged.count > 5 ? ["..."] : [])
            steps.append(
                "not judged: \(names.joined(separator: ", ")): find out what the client speaks there, "
                    + "and whether others can read it")
        }
        if hosts.contains(where: \.wasNotAskedAgain) {
            steps.append(
                hasReachedRunLimit
                    ? "\(runs) runs were not enough to meet each authority twice at every host: "
                        + "survey parts of the client"
                    : "some hosts were not asked again: repeat the client's steps to meet each authority twice")
        }
        return steps.isEmpty ? ["nothing; run it again when the client or its libraries change"] : steps
    }

    // MARK: JSON

    var document: JSONWriter {
        .document { json in
            json.objects("hosts", hosts) { json, host in write(host, to: &json) }
            json.member("otherHosts", unsurveyedCount)
            json.member("unreadableRequests", unreadableCount)
            if runs > 0 { json.member("runs", runs) }
            json.member("notes", judge.missing(in: hosts).map(\.words))
        }
    }

    private func write(_ host: SurveyedHost, to json: inout JSONWriter) {
        let remarks = judge.remarks(about: host)
        json.member("host", host.name)
        json.member("port", host.port)
        json.member("answer", host.answer.rawValue)
        json.member("isFinding", remarks.contains(where: \.isFinding))
        json.member("rule", judge.rule(for: host))
        json.member("expected", judge.expectation?.line(for: host)?.answer.rawValue)
        json.member("requestBytes", host.requestByteCount)
        json.member("requests", host.requests)
        json.object("knownAuthority") { host.known.write(to: &$0) }
        json.object("unknownAuthority") { host.unknown.write(to: &$0) }
        json.objects("stacks", host.sortedStacks) { json, entry in
            json.member("alpn", entry.hello.applicationProtocols)
            json.member("versions", entry.hello.versionNames)
            entry.stack.meetings.write(to: &json)
        }
        json.member("alerts", host.alerts.map { "\($0)" })
        json.member("plainConnections", host.plainCount)
        json.member("otherProtocols", host.otherProtocols)
        json.member("withoutTLS", host.emptyCount)
        json.member("unfinished", host.unfinishedCount)
        json.member("notAskedAgain", host.wasNotAskedAgain)
        json.member("remarks", words(about: host))
    }
}

extension SurveyedHost.Meetings {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("letThrough", letThrough)
        json.member("refused", refused)
        json.member("givenUp", givenUp)
        json.member("silent", silent)
    }
}

extension ClientHello {
    fileprivate var versionNames: [String] {
        versions.map { LoopbackTLSServer.Version(rawValue: $0)?.name ?? "0x" + String($0, radix: 16) }
    }

    /// `ALPN h2, http/1.1; TLS 1.3, TLS 1.2`
    fileprivate var words: String {
        let names = applicationProtocols.isEmpty ? "no ALPN" : "ALPN \(applicationProtocols.joined(separator: ", "))"
        return "\(names); \(versionNames.joined(separator: ", "))"
    }
}

extension SurveyedHost {
    /// The stacks in an order that does not change from run to run.
    fileprivate var sortedStacks: [(hello: ClientHello, stack: Stack)] {
        stacks.map { (hello: $0.key, stack: $0.value) }.sorted { $0.hello.words < $1.hello.words }
    }

    /// The observations in words.
    fileprivate var observations: [String] {
        var words: [String] = []
        switch answer {
        case .anyCertificate: words.append("accepted an authority that no machine trusts")
        case .plainHTTP: words.append("\(ValidityText.counted(plainCount, "request")) without TLS")
        case .both:
            words.append(
                "\(known.letThrough) let through, \(known.refused) refused: two stacks, or two sessions of one stack")
        case .unpinned: words.append("\(known.letThrough) of \(known.count) let through")
        case .pinned:
            words += [refusals, trustProof.map(\.words)].compactMap(\.self)
        case .refused: words += [refusals, "pinned, or this client does not trust the survey's authority"]
        case .handshakeOnly:
            words.append("finished the handshake and sent no request, as at the right server")
        case .inconclusive:
            words.append("\(known.givenUp + unknown.givenUp) of \(known.count + unknown.count) ended without an alert")
        case .silent where known.count + unknown.count > 0: words.append("finished the handshake and sent nothing")
        case .silent: break
        case .otherProtocol:
            if known.refused > 0 { words.append(refusals) }
        case .noTLS: words.append("asked and gave up before TLS")
        }
        words += otherProtocols + requests
        if answer == .both { words += sortedStacks.map { "\($0.stack.words): \($0.hello.words)" } }
        if unfinishedCount > 0 {
            words.append("\(ValidityText.counted(unfinishedCount, "connection")) open at the end, without a request")
        }
        if !alerts.isEmpty { words.append("alert \(alerts.map { "\($0)" }.joined(separator: ", "))") }
        if wasNotAskedAgain {
            words.append(
                "not asked again: met the known authority \(known.count) and the unknown one \(unknown.count) times")
        }
        return words
    }

    /// `2 of 2 refused, 1 of them after the handshake`
    private var refusals: String {
        let (count, late) = (known.refused, lateRefusalCount)
        return "\(count) of \(known.count) refused" + (late > 0 ? ", \(late) of them after the handshake" : "")
    }
}

extension SurveyedHost.TrustProof {
    fileprivate var words: String {
        switch self {
        case .otherHost: "the same ClientHello accepted the authority at another host"
        case .rightServer: "the client accepted the right server"
        }
    }
}

extension SurveyedHost.Stack {
    fileprivate var words: String { "\(meetings.letThrough) let through, \(meetings.refused) refused" }
}

extension SurveyedHost.Answer {
    /// The word in a table. Upper case marks an unpinned host without colours.
    var word: String {
        let word = rawValue.replacing("-", with: " ")
        return isExposed ? word.uppercased() : word
    }

    var mark: Line.Mark? {
        switch self {
        case .anyCertificate, .plainHTTP: .bad
        case .unpinned, .both: .warning
        case .pinned: .good
        case .inconclusive: .warning
        case .refused, .handshakeOnly, .silent, .otherProtocol, .noTLS: nil
        }
    }
}
